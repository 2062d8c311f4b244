"""Time irregular kernels beside C with OpenMP and numba, or beside CUDA C and numba-cuda on a GPU.

usage: python benchmarks/irregular_kernels.py [--gpu] [--rounds N] [--scale N] [--threads N]
                                              [NAME …]

The results are compared before they are timed. Each round times every implementation once, with
fresh copies of the arrays that the kernel writes; a time is the median of the rounds. The table
ends with the geometric mean of the ratios.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import statistics
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from cpu import set_threads
from implementations.with_c import FLAGS
from irregular import Case, Problem, cases
from pycu2c.runtime.cpu.thread_count import thread_count
from pycu2c.toolchain.cc import cc
from results import save

BY_HAND, OURS, NUMBA = "by hand", "pycu2c", "numba"
MAX_SECONDS = 3.0  # an implementation that takes longer in total is timed in fewer rounds
GPU_BATCH_MS = 5.0
# hand-written code may leave out lengths that a kernel has
C_FLAGS = tuple(flag for flag in FLAGS if flag != "-Wextra")
Launch = Callable[[], object]


def lengths_and_numbers(problem: Problem) -> list[tuple[Any, tuple[int, ...]]]:
    """Return each argument with its lengths."""
    return [(a, a.shape if isinstance(a, np.ndarray) else ()) for a in problem.arguments]


class OnCpu:
    """The implementations of a case on the CPU."""

    def __init__(self, case: Case, problem: Problem) -> None:
        self.problem = problem
        self.arrays = problem.arguments
        self.initial = [self.arrays[i].copy() for i in problem.results]
        configured = case.kernel[problem.grid, problem.block]
        self.launches: dict[str, Launch] = {
            BY_HAND: self._by_hand(case),
            OURS: lambda: configured(*self.arrays),
        }
        numba_loop = case.numba_loop
        if numba_loop is not None:
            self.launches[NUMBA] = lambda: numba_loop(*self.arrays)

    def _by_hand(self, case: Case) -> Launch:
        with tempfile.TemporaryDirectory(prefix="pycu2c-bench-") as folder:
            Path(folder, "kernel.c").write_text(case.text(".c"))
            arguments = ("-o", "kernel.so", "kernel.c", "-lm")
            command = (*cc.find_compiler().command, *C_FLAGS, *arguments)
            subprocess.run(command, cwd=folder, check=True)
            function = getattr(ctypes.CDLL(f"{folder}/kernel.so"), case.name)
        values: list[Any] = []
        for argument, lengths in lengths_and_numbers(self.problem):
            if lengths:
                values += [ctypes.c_void_p(argument.ctypes.data), *map(ctypes.c_int, lengths)]
            else:
                is_int = isinstance(argument, int | np.integer)
                values.append(ctypes.c_int(argument) if is_int else ctypes.c_float(argument))
        return lambda: function(*values)

    def reset(self) -> None:
        for i, initial in zip(self.problem.results, self.initial, strict=True):
            self.arrays[i][...] = initial

    def results(self) -> list[np.ndarray]:
        return [self.arrays[i].copy() for i in self.problem.results]

    def seconds(self, launch: Launch) -> float:
        self.reset()
        start = time.perf_counter()
        launch()
        return time.perf_counter() - start


class OnGpu:
    """The implementations of a case on the GPU."""

    def __init__(self, case: Case, problem: Problem) -> None:
        from gpu_timer import Timer
        from pycu2c.cuda import to_device

        self.problem, self.timer = problem, Timer()
        self.arrays = [to_device(a) if n else a for a, n in lengths_and_numbers(problem)]
        self.initial = [to_device(problem.arguments[i]) for i in problem.results]
        configured = case.kernel[problem.grid, problem.block]
        self.launches: dict[str, Launch] = {
            BY_HAND: self._by_hand(case),
            OURS: lambda: configured(*self.arrays),
        }
        numba_launch = self._by_numba(case)
        if numba_launch is not None:
            self.launches[NUMBA] = numba_launch

    def _by_hand(self, case: Case) -> Launch:
        from pycu2c.cuda_driver import driver
        from pycu2c.runtime.cuda.cuda_kernel import CudaKernel
        from pycu2c.runtime.launch_configuration import extent
        from pycu2c.toolchain.nvrtc import nvrtc

        kernel = CudaKernel(nvrtc.compile(case.text(".cu"), case.name, driver.arch(), cache=False))
        layout, values = "@", []
        for array, (argument, lengths) in zip(
            self.arrays, lengths_and_numbers(self.problem), strict=True
        ):
            is_int = isinstance(argument, int | np.integer)
            layout += "P" + "i" * len(lengths) if lengths else "i" if is_int else "f"
            values += [array.address, *lengths] if lengths else [argument]
        packed = struct.pack(layout, *values)
        grid = extent(self.problem.grid, "grid", case.name)
        block = extent(self.problem.block, "block", case.name)
        return lambda: kernel.launch(grid, block, 0, None, packed)

    def _by_numba(self, case: Case) -> Launch | None:
        """Return a launch of the same function, compiled by numba-cuda if it is installed."""
        try:
            import numba
            from numba import cuda
        except ImportError:
            return None
        python = case.kernel.python
        names = {
            name: getattr(numba, name) if _is_of_pycu2c(value) else value
            for name, value in python.__globals__.items()
            if not _is_of_pycu2c(value) or hasattr(numba, name)
        }
        function = FunctionType(python.__code__, names | {"cuda": cuda}, python.__name__)
        compiled = cuda.jit(function)
        arrays = [cuda.as_cuda_array(a) if n else a for a, n in self._with_lengths()]
        configured = compiled[self.problem.grid, self.problem.block]
        return lambda: configured(*arrays)

    def _with_lengths(self) -> list[tuple[Any, tuple[int, ...]]]:
        lengths = [n for _, n in lengths_and_numbers(self.problem)]
        return list(zip(self.arrays, lengths, strict=True))

    def reset(self) -> None:
        for i, initial in zip(self.problem.results, self.initial, strict=True):
            self.arrays[i].copy_to_device(initial)

    def results(self) -> list[np.ndarray]:
        return [self.arrays[i].copy_to_host() for i in self.problem.results]

    def seconds(self, launch: Launch) -> float:
        """Return the least of some launches, each with the arrays as they were."""
        times = []
        while not times or (sum(times) < GPU_BATCH_MS and len(times) < 20):
            self.reset()
            times.append(self.timer.milliseconds(launch, 1))
        return min(times) / 1e3


def _is_of_pycu2c(value: object) -> bool:
    return type(value).__module__.startswith("pycu2c")


def measure(case: Case, target: OnCpu | OnGpu, rounds: int) -> dict[str, float]:
    """Return the seconds of each implementation whose results agree with those by hand."""
    expected: list[np.ndarray] = []
    for name, launch in list(target.launches.items()):
        target.reset()
        try:
            launch()
            results = target.problem.canonical(target.results())
        except Exception as error:
            if name != NUMBA:
                raise
            print(f"{case.name}: {name}: {str(error).splitlines()[0]}", flush=True)
            del target.launches[name]
            continue
        expected = expected or list(results)
        check_agreement(case, name, target.problem, expected, results)
    samples: dict[str, list[float]] = {name: [] for name in target.launches}
    for _ in range(rounds):
        for name, launch in target.launches.items():
            if sum(samples[name]) < MAX_SECONDS:
                samples[name].append(target.seconds(launch))
    return {name: statistics.median(times) for name, times in samples.items()}


def check_agreement(
    case: Case,
    name: str,
    problem: Problem,
    expected: Sequence[np.ndarray],
    results: Sequence[np.ndarray],
) -> None:
    for a, b in zip(expected, results, strict=True):
        if not np.any(a):
            raise SystemExit(f"{case.name}: the hand-written code wrote nothing")
        a, b = a.astype(np.float64), b.astype(np.float64)
        limit = problem.tolerance * np.abs(a).max()
        if not np.allclose(a, b, rtol=0, atol=limit, equal_nan=True):
            wrong = np.flatnonzero(~np.isclose(a, b, rtol=0, atol=limit, equal_nan=True))
            raise SystemExit(f"{case.name}: {name} differs at {len(wrong)} of {a.size} elements")


def table(measured: dict[str, dict[str, float]]) -> str:
    """Return the milliseconds, and the time of pycu2c divided by that of each other."""
    names = list(dict.fromkeys(chain.from_iterable(measured.values())))
    others = [name for name in names if name != OURS]
    lines = [_line("ms", names + [f"÷ {name}" for name in others])]
    for case, seconds in sorted(measured.items(), key=lambda item: -ratio(item[1], BY_HAND)):
        times = [seconds.get(name, math.nan) * 1e3 for name in names]
        ratios = [ratio(seconds, name) for name in others]
        lines.append(_line(case, map(_cell, times + ratios)))
    means = [_cell(geometric_mean(measured, name)) for name in others]
    lines.append(_line("geometric mean", [""] * len(names) + means))
    return "\n".join(lines)


def _line(first: str, cells: Iterable[str]) -> str:
    return f"{first:<22}" + "".join(f"{cell:>11}" for cell in cells)


def _cell(number: float) -> str:
    return "–" if math.isnan(number) else f"{number:.3f}"


def geometric_mean(measured: dict[str, dict[str, float]], other: str) -> float:
    """Return the mean of the ratios of the cases that the other implementation has."""
    return statistics.geometric_mean(
        ratio(seconds, other) for seconds in measured.values() if other in seconds
    )


def ratio(seconds: dict[str, float], other: str) -> float:
    return seconds[OURS] / seconds.get(other, math.nan)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="of cases; without names, all")
    parser.add_argument("--gpu", action="store_true", help="on CUDA device 0")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--scale", type=int, help="of the arrays: 1 on the CPU, 8 on a GPU")
    parser.add_argument("--threads", type=int, default=thread_count(), help="on the CPU")
    options = parser.parse_args()
    set_threads(options.threads)
    os.environ["PYCU2C_BACKEND"] = "cuda" if options.gpu else "cpu"  # read when a case is imported
    make = OnGpu if options.gpu else OnCpu
    measured = {}
    for case in cases(options.names):
        problem = case.problem(options.scale or (8 if options.gpu else 1))
        measured[case.name] = measure(case, make(case, problem), options.rounds)
        print(f"measured {case.name}: {ratio(measured[case.name], BY_HAND):.3f}", flush=True)
    print(table(measured))
    save("irregular_kernels_gpu" if options.gpu else "irregular_kernels", measured)


if __name__ == "__main__":
    main()
