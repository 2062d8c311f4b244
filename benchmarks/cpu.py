"""Times of kernels on the CPU: pycu2c, hand-written C, and whatever else is installed.

usage: python benchmarks/cpu.py [--rows NAME,…] [--only NAME,…] [--rounds N]
                                [--threads N] [--small]

Every contender has a process of its own and computes the same rows from the same arrays. Its
results are checked against numpy in double precision before it is timed. In each round every
contender is timed once, in turns; a time is the median of the rounds. The table comes last.

The others: pip install 'pycu2c[bench]'. A contender that is not installed is left out.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from contenders import CONTENDERS
from cpu_rows import ROWS, Row
from pycu2c.runtime.cpu.cpu_kernel import thread_count
from pycu2c.toolchain.cc import cc
from workers import Worker

ROUNDS = 15
ENOUGH_SECONDS = 3.0  # a contender that takes longer in all is timed in fewer rounds
BASE, OURS = "hand", "pycu2c"
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
class Measured:
    """The seconds of each contender in each round, and who has failed."""

    row: Row
    seconds: dict[str, list[float]] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)

    def cell(self, name: str) -> str:
        if name in self.failed:
            return "failed"
        times = self.seconds.get(name)
        return f"{statistics.median(times) * UNITS[self.row.unit]:.3g}" if times else "–"

    def ratio(self) -> str:
        """Ours to hand-written C: the median of the rounds' ratios, and that of the best times."""
        ours, base = self.seconds.get(OURS), self.seconds.get(BASE)
        if not ours or not base or {OURS, BASE} & self.failed:
            return "–"
        middle = statistics.median(a / b for a, b in zip(ours, base, strict=False))
        return f"{middle:.2f} ({min(ours) / min(base):.2f})"


class Contest:
    """The workers that are left, and how each row is measured."""

    def __init__(self, names: Sequence[str], rounds: int, *, small: bool) -> None:
        self.workers = [Worker(name) for name in names]
        self.rounds, self.small = rounds, small

    def measure(self, row: Row) -> Measured:
        measured = Measured(row)
        ready = [worker for worker in tuple(self.workers) if self._prepared(worker, measured)]
        for _ in range(self.rounds):
            for worker in ready:
                _time(worker, measured)
        print(f"measured {row.name}", flush=True)
        return measured

    def _prepared(self, worker: Worker, measured: Measured) -> bool:
        """Whether a worker can run the row, and its results are right."""
        state, why = worker.ask("prepare", measured.row.name, self.small)
        if state == "missing":
            print(f"{worker.name}: not installed: pip install {why}", flush=True)
            self.workers.remove(worker)
        elif state == "failed":
            _fail(worker, measured, why)
        return state == "ready"

    def stop(self) -> None:
        for worker in self.workers:
            worker.stop()


def _time(worker: Worker, measured: Measured) -> None:
    times = measured.seconds.setdefault(worker.name, [])
    if sum(times) > ENOUGH_SECONDS or worker.name in measured.failed:
        return
    state, answer = worker.ask("measure")
    if state == "time":
        times.append(answer)
    else:
        _fail(worker, measured, answer)


def _fail(worker: Worker, measured: Measured, why: str) -> None:
    measured.failed.add(worker.name)
    print(f"{measured.row.name}: {worker.name}: {why}", flush=True)


def table(names: Sequence[str], results: Sequence[Measured]) -> str:
    lines = [["", *names, f"{OURS}/{BASE} (best)"]]
    for found in results:
        title = f"{found.row.title}, {found.row.unit}"
        lines.append([title, *map(found.cell, names), found.ratio()])
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
    made = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--rows", help=", ".join(row.name for row in ROWS))
    made.add_argument("--only", help="contenders: " + ", ".join(CONTENDERS))
    made.add_argument("--rounds", type=int, default=ROUNDS)
    made.add_argument("--threads", type=int, default=thread_count(), help="of each contender")
    made.add_argument("--small", action="store_true", help="small sizes: does everything run?")
    return made


def set_threads(count: int) -> None:
    """For the workers, which are started later."""
    for variable in THREAD_VARIABLES:
        os.environ[variable] = str(count)
    # OpenMP's threads would spin between calls, and on a busy machine wait for spinning ones
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def main() -> None:
    options = parser().parse_args()
    rows = chosen(options.rows, [row.name for row in ROWS], "rows")
    names = chosen(options.only, list(CONTENDERS), "contenders")
    set_threads(options.threads)
    contest = Contest(names, options.rounds, small=options.small)
    try:
        results = [contest.measure(row) for row in ROWS if row.name in rows]
        names = [worker.name for worker in contest.workers]
    finally:
        contest.stop()
    compiler = cc.find_compiler().version.partition("\n")[0]
    sizes = "small sizes" if options.small else "full sizes"
    print(f"\n{options.threads} threads, {compiler}, {sizes}; medians of {options.rounds} rounds")
    print(table(names, results))


if __name__ == "__main__":
    main()
