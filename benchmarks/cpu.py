"""Times of kernels on the CPU: pycu2c, hand-written C, and whatever else is installed.

usage: python benchmarks/cpu.py [--rows NAME,…] [--only NAME,…] [--rounds N] [--small]

Every contender has a process of its own and computes the same rows from the same arrays. Its
results are checked against numpy in double precision before it is timed. In each round every
contender is timed once, in turns; a time is the median of the rounds. The table comes last.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from contenders import CONTENDERS
from cpu_rows import ROWS, Row
from workers import Worker

from pycu2c.runtime.cpu import thread_count
from pycu2c.toolchain import cc

ROUNDS = 15
ENOUGH_SECONDS = 3.0  # a contender that takes longer in all is timed in fewer rounds
BASE = "hand"
THREAD_VARIABLES = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "PYCU2C_THREADS")


@dataclass
class Measured:
    """The seconds of each contender in each round, and why others have none."""

    row: Row
    seconds: dict[str, list[float]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def cell(self, name: str) -> str:
        if name in self.failures:
            return "failed"
        times = self.seconds.get(name)
        if not times:
            return "–"
        scale = 1e3 if self.row.unit == "ms" else 1e6
        return f"{statistics.median(times) * scale:.3g}"

    def ratio(self, name: str) -> str:
        """To hand-written C: the median of the rounds' ratios, and that of the best times."""
        ours, base = self.seconds.get(name), self.seconds.get(BASE)
        if not ours or not base:
            return "–"
        middle = statistics.median(a / b for a, b in zip(ours, base, strict=False))
        return f"{middle:.2f} ({min(ours) / min(base):.2f})"


def measure(row: Row, workers: Sequence[Worker], rounds: int, small: bool) -> Measured:
    measured = Measured(row)
    ready = []
    for worker in workers:
        state, why = worker.ask("prepare", row.name, small)
        if state == "ready":
            ready.append(worker)
        elif state == "failed":
            measured.failures[worker.name] = why
            print(f"{row.name}: {worker.name}: {why}", flush=True)
    for _ in range(rounds):
        for worker in ready:
            times = measured.seconds.setdefault(worker.name, [])
            if sum(times) > ENOUGH_SECONDS:
                continue
            state, answer = worker.ask("measure")
            if state == "time":
                times.append(answer)
            else:
                measured.failures[worker.name] = answer
    return measured


def table(names: Sequence[str], results: Sequence[Measured]) -> str:
    head = ["", *(f"{name}" for name in names), f"pycu2c / {BASE} (best)"]
    lines = [head]
    for found in results:
        title = f"{found.row.title}, {found.row.unit}"
        lines.append([title, *(found.cell(name) for name in names), found.ratio("pycu2c")])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        " | ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


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
    made.add_argument("--small", action="store_true", help="sizes of a test, to see that it runs")
    return made


def main() -> None:
    options = parser().parse_args()
    rows = chosen(options.rows, [row.name for row in ROWS], "rows")
    names = chosen(options.only, list(CONTENDERS), "contenders")
    threads = str(thread_count())
    for variable in THREAD_VARIABLES:
        os.environ.setdefault(variable, threads)
    # OpenMP's threads would spin between calls, and wait for the spinning ones of others
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    workers = [Worker(name) for name in names]
    results = []
    try:
        for row in ROWS:
            if row.name in rows:
                results.append(measure(row, workers, options.rounds, options.small))
                print(f"measured {row.name}", flush=True)
    finally:
        for worker in workers:
            worker.stop()
    compiler = cc.find_compiler().version.partition("\n")[0]
    print(f"\n{threads} threads, {compiler}; medians of {options.rounds} rounds")
    print(table(names, results))


if __name__ == "__main__":
    main()
