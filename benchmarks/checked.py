"""Time launches with checks against launches without, and against compute-sanitizer.

usage: python benchmarks/checked.py [--backend cpu|cuda] [--scale N] [--rounds N]
                                    [--checks none,memory,all] [--json FILE] [--add NAME=FILE]…
                                    [CASE…]

The cases are those of cpu.py and of irregular_kernels.py. Each time is the best of the rounds, from
the launch to its end. The table has the times with ``memory`` and ``all`` checks relative to those
without. For compute-sanitizer, time launches without checks under it, and add them to the table:

    compute-sanitizer --tool memcheck python benchmarks/checked.py --backend cuda --checks none \\
        --rounds 2 --json memcheck.json
    python benchmarks/checked.py --backend cuda --add memcheck=memcheck.json
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import irregular
import kernels
from cpu_cases import CASES
from pycu2c import CheckError, cuda, kernel

# of the cases of cpu.py at scale 1: enough work for one core and a few milliseconds
SIZES = {
    "saxpy": 2**20,
    "heat": 1024,
    "mandelbrot": 512,
    "nbody": 2048,
    "matmul": 256,
    "tree": 2**20,
    "shuffle": 2**20,
    "histogram": 2**20,
    "shared-histogram": 2**20,
    "black-scholes": 2**20,
    "scan": 2**20,
}
GROUPS: dict[str, Any] = {"none": False, "memory": "memory", "all": True}
WITHOUT = "none"


@dataclass(frozen=True)
class Work:
    """A launch to time."""

    name: str
    python: Any
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[Any, ...]
    options: dict[str, Any]

    def seconds(self, backend: str, checks: str, rounds: int) -> tuple[float, str]:
        """Return the best time, and the first finding, if there is one."""
        checked = kernel(self.python, backend=backend, check=GROUPS[checks], **self.options)
        configured = checked[self.grid, self.block]
        times, finding = [], ""
        for _ in range(rounds + 1):
            arguments = [_given(a, backend) for a in self.arguments]
            start = time.perf_counter()
            try:
                configured(*arguments)
                if backend == "cuda":
                    cuda.synchronize()
            except CheckError as error:
                finding = error.findings[0].kind
            times.append(time.perf_counter() - start)
        return min(times[1:]), finding


def _given(argument: Any, backend: str) -> Any:
    if not isinstance(argument, np.ndarray):
        return argument
    if backend == "cpu":
        return argument.copy()
    array = cuda.to_device(argument)
    cuda.synchronize()
    return array


def work(scale: int) -> Iterator[Work]:
    for case in CASES:
        if case.name in SIZES:
            size = _scaled(case.name, scale)
            problem = case.problem(size)
            python = getattr(kernels, case.kernel).python
            arguments = *problem.arrays, *problem.numbers
            yield Work(case.name, python, *case.launch(size), arguments, {})
    for irregular_case in irregular.cases():
        problem = irregular_case.problem(scale)
        shape = problem.grid, problem.block
        python = irregular_case.kernel.python
        yield Work(irregular_case.name, python, *shape, problem.arguments, {})


def _scaled(name: str, scale: int) -> int:
    """Return the size of a case; a square has two axes."""
    by = 2 ** (scale.bit_length() // 2) if SIZES[name] < 2**16 else scale
    return SIZES[name] * by


Times = dict[str, dict[str, float]]  # by the checks, and then by the case


def measured(args: argparse.Namespace) -> Times:
    checks = args.checks.split(",")
    times: Times = {name: {} for name in checks}
    for item in work(args.scale):
        if args.cases and item.name not in args.cases:
            continue
        for name in checks:
            seconds, finding = item.seconds(args.backend, name, args.rounds)
            times[name][item.name] = seconds
            note = f", finds {finding}" if finding else ""
            print(f"{item.name}, {name}: {seconds * 1e3:.3f} ms{note}", flush=True)
    return times


def print_table(times: Times) -> None:
    others = [name for name in times if name != WITHOUT]
    base = times.get(WITHOUT, {})
    print("|".join(["", " kernel ", " ms ", *(f" {name} " for name in others), ""]))
    print("|---" * (2 + len(others)) + "|")
    for case, seconds in base.items():
        cells = (f"{times[n][case] / seconds:.2f}" if case in times[n] else "–" for n in others)
        print(f"| {case} | {seconds * 1e3:.3f} |", " | ".join(cells), "|")
    means = (
        _mean([times[n][case] / base[case] for case in base if case in times[n]]) for n in others
    )
    print("| geometric mean | |", " | ".join(means), "|")


def _mean(ratios: Sequence[float]) -> str:
    return f"{statistics.geometric_mean(ratios):.2f}" if ratios else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--checks", default="none,memory,all")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--add", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    args = parser.parse_args()
    times = measured(args)
    if args.json:
        args.json.write_text(json.dumps(times))
    for added in args.add:
        name, _, file = added.partition("=")
        times[name] = json.loads(Path(file).read_text())[WITHOUT]
    print_table(times)


if __name__ == "__main__":
    main()
