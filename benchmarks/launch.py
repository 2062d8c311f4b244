"""What a launch costs the host: of kernels that do nothing much, with 3, 5 and 12 arguments.

usage: python benchmarks/launch.py [--cpu] [--rounds N]

On CUDA device 0, or on this CPU. All ways of launching take turns; a time is the median over the
rounds of 200 launches in a row, the device waited for in between. ``×`` is the time as a multiple
of the first row's. Packages that are not installed are left out. The table comes last.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import statistics
from collections.abc import Sequence

from figures import keep, table_of
from launchers import COUNTS, Way
from pycu2c.cuda_driver import driver

ROUNDS = 30
IN_A_ROW = 200


def ways(machine: str) -> list[Way]:
    """All that work here."""
    found: list[Way] = []
    for makers in importlib.import_module(f"launchers.{machine}").MAKERS:
        try:
            found += makers()
        except ImportError as error:
            print(f"left out: {error}")
    return found


def measure(found: Sequence[Way], rounds: int) -> dict[tuple[str, int], float]:
    """Microseconds of one launch, by name of the way and count of arguments."""
    times: dict[tuple[str, int], list[float]] = {(way.name, way.count): [] for way in found}
    for way in found:
        way.seconds(IN_A_ROW)
        way.check()
    gc.disable()
    for _ in range(rounds):
        for way in found:
            times[way.name, way.count].append(way.seconds(IN_A_ROW) / IN_A_ROW * 1e6)
            way.wait()
    gc.enable()
    return {key: statistics.median(row) for key, row in times.items()}


def table(times: dict[tuple[str, int], float]) -> str:
    names = list(dict.fromkeys(name for name, _ in times))
    head = " | ".join(f"{n} arguments" for n in COUNTS)
    lines = [f"{'µs of a launch':<34} | {head}"]
    for name in names:
        cells = [_cell(times, name, names[0], n).rjust(len(f"{n} arguments")) for n in COUNTS]
        lines.append(f"{name:<34} | {' | '.join(cells)}")
    return "\n".join(lines)


def _cell(times: dict[tuple[str, int], float], name: str, first: str, count: int) -> str:
    time = times.get((name, count))
    return "" if time is None else f"{time:.2f} {time / times[first, count]:.2f}×"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cpu", action="store_true", help="on the CPU, whatever else there is")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    on_gpu = driver.available() and not options.cpu
    times = measure(ways("on_gpu" if on_gpu else "on_cpu"), options.rounds)
    print(f"\nlaunches on {driver.device().name if on_gpu else 'the CPU'}")
    print(table(times))
    keep("launch", table_of(times))


if __name__ == "__main__":
    main()
