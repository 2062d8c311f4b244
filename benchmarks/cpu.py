"""Time kernels on the CPU: pycu2c, hand-written C, and the other packages that are installed.

usage: python benchmarks/cpu.py [--cases NAME,…] [--only NAME,…] [--rounds N]
                                [--threads N] [--small]

Each implementation runs in a process of its own and computes the same cases from the same arrays.
Its results are compared with numpy's in double precision before it is timed. Each round times every
implementation once; a time is the median of the rounds. The script prints the table last.

``pip install 'pycu2c[bench]'`` installs the other packages. Those that are missing are omitted.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from cpu_cases import CASES, Case
from implementations import IMPLEMENTATIONS
from pycu2c.runtime.cpu.cpu_kernel import thread_count
from pycu2c.toolchain.cc import cc
from results import save
from workers import Worker

ROUNDS = 15
ENOUGH_SECONDS = 3.0  # an implementation that takes longer in total is timed in fewer rounds
BASE, OURS = "hand-written", "pycu2c"
UNITS = {"ms": 1e3, "µs": 1e6}
THREAD_VARIABLES = (
    "PYCU2C_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "TI_CPU_MAX_NUM_THREADS",
    "POCL_MAX_PTHREAD_COUNT",
    "DPCPP_CPU_NUM_CUS",  # Intel's OpenCL
)


@dataclass
class Measurement:
    """The seconds of each implementation in each round, and the names of those that failed."""

    case: Case
    seconds: dict[str, list[float]] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)

    def medians(self) -> dict[str, float]:
        """Return the median time of each implementation that worked, in the unit of the case."""
        scale = UNITS[self.case.unit]
        valid = {name: times for name, times in self.seconds.items() if name not in self.failed}
        return {name: statistics.median(times) * scale for name, times in valid.items() if times}

    def cell(self, name: str) -> str:
        if name in self.failed:
            return "failed"
        times = self.seconds.get(name)
        return f"{statistics.median(times) * UNITS[self.case.unit]:.3g}" if times else "–"

    def ratio(self) -> str:
        """Return pycu2c's time by that of hand-written C: the median of the rounds' ratios, and the
        ratio of the best times."""
        ours, base = self.seconds.get(OURS), self.seconds.get(BASE)
        if not ours or not base or {OURS, BASE} & self.failed:
            return "–"
        middle = statistics.median(a / b for a, b in zip(ours, base, strict=False))
        return f"{middle:.2f} ({min(ours) / min(base):.2f})"


class Comparison:
    """Measures cases with one worker per implementation."""

    def __init__(self, names: Sequence[str], rounds: int, *, small: bool) -> None:
        self.workers = [Worker(name) for name in names]
        self.rounds, self.small = rounds, small

    def measure(self, case: Case) -> Measurement:
        measured = Measurement(case)
        ready = [worker for worker in tuple(self.workers) if self._prepared(worker, measured)]
        for _ in range(self.rounds):
            for worker in ready:
                _time(worker, measured)
        print(f"measured {case.name}", flush=True)
        return measured

    def _prepared(self, worker: Worker, measured: Measurement) -> bool:
        """Return whether a worker can run the case and its results are correct."""
        state, why = worker.ask("prepare", measured.case.name, self.small)
        if state == "missing":
            print(f"{worker.name}: not installed: pip install {why}", flush=True)
            self.workers.remove(worker)
        elif state == "failed":
            _fail(worker, measured, why)
        return state == "ready"

    def stop(self) -> None:
        for worker in self.workers:
            worker.stop()


def _time(worker: Worker, measured: Measurement) -> None:
    times = measured.seconds.setdefault(worker.name, [])
    if sum(times) > ENOUGH_SECONDS or worker.name in measured.failed:
        return
    state, answer = worker.ask("measure")
    if state == "time":
        times.append(answer)
    else:
        _fail(worker, measured, answer)


def _fail(worker: Worker, measured: Measurement, why: str) -> None:
    measured.failed.add(worker.name)
    print(f"{measured.case.name}: {worker.name}: {why}", flush=True)


def table(names: Sequence[str], measurements: Sequence[Measurement]) -> str:
    lines = [["", *names, f"{OURS}/{BASE} (best)"]]
    for measurement in measurements:
        title = f"{measurement.case.title}, {measurement.case.unit}"
        lines.append([title, *map(measurement.cell, names), measurement.ratio()])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_line(line, widths) for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    return " | ".join([first, *(c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True))])


def chosen(text: str | None, known: Sequence[str], what: str) -> list[str]:
    names = text.split(",") if text else list(known)
    if unknown := set(names) - set(known):
        raise SystemExit(f"no {what} {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return [name for name in known if name in names]


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    result.add_argument("--cases", help=", ".join(case.name for case in CASES))
    result.add_argument("--only", help="implementations: " + ", ".join(IMPLEMENTATIONS))
    result.add_argument("--rounds", type=int, default=ROUNDS)
    result.add_argument(
        "--threads", type=int, default=thread_count(), help="of each implementation"
    )
    result.add_argument("--small", action="store_true", help="small sizes, as a test")
    return result


def set_threads(count: int) -> None:
    """Set the environment variables that the workers read when they start."""
    for variable in THREAD_VARIABLES:
        os.environ[variable] = str(count)
    # active waiting would slow down the other implementations
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def main() -> None:
    options = parser().parse_args()
    cases = chosen(options.cases, [case.name for case in CASES], "cases")
    names = chosen(options.only, list(IMPLEMENTATIONS), "implementations")
    set_threads(options.threads)
    comparison = Comparison(names, options.rounds, small=options.small)
    try:
        results = [comparison.measure(case) for case in CASES if case.name in cases]
        names = [worker.name for worker in comparison.workers]
    finally:
        comparison.stop()
    compiler = cc.find_compiler().version.partition("\n")[0]
    sizes = "small sizes" if options.small else "full sizes"
    print(f"\n{options.threads} threads, {compiler}, {sizes}; medians of {options.rounds} rounds")
    print(table(names, results))
    save("cpu", {f"{m.case.title}, {m.case.unit}": m.medians() for m in results})


if __name__ == "__main__":
    main()
