"""Time the launch overhead on the host, for small kernels with 3, 5 and 12 arguments.

usage: python benchmarks/launch.py [--cpu] [--rounds N]

On CUDA device 0, or on the CPU. Each round times all launch methods: 200 launches, then a
synchronization that is not timed. A time is the median over the rounds. ``×`` is the ratio to the
first row. Packages that are not installed are omitted. The script prints the table last.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import statistics
from collections.abc import Sequence

from launchers import COUNTS, LaunchMethod
from pycu2c.cuda_driver import driver
from results import save, table_of

ROUNDS = 30
IN_A_ROW = 200


def launch_methods(target: str) -> list[LaunchMethod]:
    """Return all launch methods that are available."""
    methods: list[LaunchMethod] = []
    for makers in importlib.import_module(f"launchers.{target}").MAKERS:
        try:
            methods += makers()
        except ImportError as error:
            print(f"left out: {error}")
    return methods


def measure(methods: Sequence[LaunchMethod], rounds: int) -> dict[tuple[str, int], float]:
    """Return microseconds per launch, by method and number of arguments."""
    times: dict[tuple[str, int], list[float]] = {
        (method.name, method.count): [] for method in methods
    }
    for method in methods:
        method.seconds(IN_A_ROW)
        method.check()
    gc.disable()
    for _ in range(rounds):
        for method in methods:
            times[method.name, method.count].append(method.seconds(IN_A_ROW) / IN_A_ROW * 1e6)
            method.wait()
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
    parser.add_argument("--cpu", action="store_true", help="use the CPU even if there is a GPU")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    on_gpu = driver.available() and not options.cpu
    times = measure(launch_methods("on_gpu" if on_gpu else "on_cpu"), options.rounds)
    print(f"\nlaunches on {driver.device().name if on_gpu else 'the CPU'}")
    print(table(times))
    save("launch", table_of(times))


if __name__ == "__main__":
    main()
