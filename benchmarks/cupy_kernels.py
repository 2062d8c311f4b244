"""CuPy's custom kernels by pycu2c and by CuPy: times of kernels and of calls.

usage: python benchmarks/cupy_kernels.py [--cpu] [--small] [--rounds N]

On CUDA device 0 beside CuPy, if it is installed; on this CPU beside numpy. All take turns; a time
is the median over the rounds. Kernels are timed by CUDA events around a batch of calls, with the
same texts and sizes; calls by the host's clock, on ten elements. The table of ratios comes last.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from figures import Figures, keep
from pycu2c import cuda
from pycu2c import cupy as own
from pycu2c.cuda_driver import driver

ROUNDS = 15
BATCH_MS = 20.0  # a round calls as often as fits
IN_A_ROW = 200  # calls whose host time is measured
LARGE, SIDE, ON_CPU = 1 << 26, 8192, 10_000_000
Call = Callable[[], object]

SAXPY = ("T x, T y, T a", "T z", "z = a * x + y", "saxpy")
CHAIN = ("T x, T y", "T z", "z = sqrt((x * y + T(2)) * (x - y) * (x - y) + T(1))", "chain")
FIVE = ("T x, T y, T a, int32 n", "T z", "z = a * x + y + n", "five_arguments")
NORM = ("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
MATMUL = r"""
extern "C" __global__
void matrix_multiply(const float* A, const float* B, float* C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++) {
            sum += A[row * K + k] * B[k * N + col];
        }
        C[row * N + col] = sum;
    }
}
"""


def calls(package: Any, array: Callable[[Any], Any]) -> dict[str, Call]:
    """The rows, by a package and with arrays of its own."""
    rng = np.random.default_rng(0)
    x, y = (array(rng.random(LARGE, dtype=np.float32)) for _ in range(2))
    out, one = array(np.zeros(LARGE, np.float32)), array(np.zeros((), np.float32))
    square, row = x.reshape(SIDE, SIDE), array(np.zeros(SIDE, np.float32))
    saxpy, chain = (package.ElementwiseKernel(*words) for words in (SAXPY, CHAIN))
    norm = package.ReductionKernel(*NORM)
    matmul = package.RawKernel(MATMUL, "matrix_multiply")
    a, b = (array(rng.random(shape, dtype=np.float32)) for shape in ((1024, 512), (512, 1024)))
    c = array(np.zeros((1024, 1024), np.float32))
    sizes = tuple(np.int32(n) for n in (1024, 1024, 512))
    return {
        "saxpy 2^26": lambda: saxpy(x, y, 2.0, out),
        "six operations 2^26": lambda: chain(x, y, out),
        "L2 norm of all 2^26": lambda: norm(x, out=one),
        "L2 norm, last axis 8192²": lambda: norm(square, axis=1, out=row),
        "L2 norm, first axis 8192²": lambda: norm(square, axis=0, out=row),
        "matrix product 1024²": lambda: matmul((64, 64), (16, 16), (a, b, c, *sizes)),
    }


def small_calls(package: Any, array: Callable[[Any], Any]) -> dict[str, Call]:
    """What a call costs the host."""
    x, y, z = (array(np.ones(10, np.float32)) for _ in range(3))
    one = array(np.zeros((), np.float32))
    five, norm = package.ElementwiseKernel(*FIVE), package.ReductionKernel(*NORM)
    matmul = package.RawKernel(MATMUL, "matrix_multiply")
    sizes = tuple(np.int32(1) for _ in range(3))
    return {
        "elementwise, 5 arguments": lambda: five(x, y, 2.0, 3, z),
        "elementwise, 5 arguments, new output": lambda: five(x, y, 2.0, 3),
        "reduction": lambda: norm(x, out=one),
        "raw kernel, 6 arguments": lambda: matmul((1, 1), (1, 1), (x, y, z, *sizes)),
    }


class Clock:
    """CUDA events around calls."""

    def __init__(self) -> None:
        driver.make_current()
        api = driver.api()
        self.start, self.stop = (
            driver.check(api.cuEventCreate(0), "make an event") for _ in range(2)
        )

    def milliseconds(self, call: Call, count: int) -> float:
        api = driver.api()
        driver.check(api.cuEventRecord(self.start, 0), "record an event")
        for _ in range(count):
            call()
        driver.check(api.cuEventRecord(self.stop, 0), "record an event")
        driver.check(api.cuEventSynchronize(self.stop), "wait for an event")
        return float(driver.check(api.cuEventElapsedTime(self.start, self.stop), "read") / count)


def host_time(call: Call, count: int) -> float:
    """Milliseconds of the host for one call."""
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count * 1e3


def in_turns(
    by: dict[str, dict[str, Call]], timed: Callable[[Call, int], float], rounds: int, count: int
) -> Figures:
    """The time of each row by each name; ``count`` calls a round, 0: as many as fit."""
    found: Figures = {}
    for row in next(iter(by.values())):
        each = {name: rows[row] for name, rows in by.items()}
        for call in each.values():
            for _ in range(8):  # it learns of calls like those before
                call()
        often = {n: count or max(1, round(BATCH_MS / timed(call, 3))) for n, call in each.items()}
        times: dict[str, list[float]] = {name: [] for name in each}
        for _ in range(rounds):
            for name, call in each.items():
                times[name].append(timed(call, often[name]))
                if driver.available():
                    driver.synchronize(0, "wait for a round")
        found[row] = {name: statistics.median(row_times) for name, row_times in times.items()}
        print(f"measured {row}", flush=True)
    return found


def on_gpu(rounds: int) -> Figures:
    by = {"pycu2c": calls(own, cuda.to_device)}
    small = {"pycu2c": small_calls(own, cuda.to_device)}
    try:
        cupy = importlib.import_module("cupy")
    except ImportError as error:
        print(f"left out: {error}")
    else:
        by["CuPy"] = calls(cupy, cupy.asarray)
        small["CuPy"] = small_calls(cupy, cupy.asarray)
        small["pycu2c, CuPy's arrays"] = small_calls(own, cupy.asarray)
    kernels = in_turns(by, Clock().milliseconds, rounds, 0)
    launches = in_turns(small, host_time, rounds, IN_A_ROW)
    return kernels | {
        f"{row}, µs": {name: 1e3 * ms for name, ms in times.items()}
        for row, times in launches.items()
    }


def on_cpu(rounds: int, size: int) -> Figures:
    """Beside numpy, whose results are new arrays, as ours are."""
    rng = np.random.default_rng(0)
    x, y = (rng.random(size, dtype=np.float32) for _ in range(2))
    side = int((0.9 * size) ** 0.5)
    square = x[: side * side].reshape(side, side)
    out = np.empty_like(x)
    chain, norm = own.ElementwiseKernel(*CHAIN), own.ReductionKernel(*NORM)
    one, two = np.float32(1), np.float32(2)

    def numpys() -> Any:
        return np.sqrt((x * y + two) * (x - y) * (x - y) + one)

    ours: dict[str, Call] = {
        "six operations": lambda: chain(x, y),
        "six operations, into an array": lambda: chain(x, y, out),
        "L2 norm of all": lambda: norm(x),
        "L2 norm, last axis": lambda: norm(square, axis=1),
        "L2 norm, first axis": lambda: norm(square, axis=0),
    }
    theirs: dict[str, Call] = {
        "six operations": numpys,
        "six operations, into an array": numpys,
        "L2 norm of all": lambda: np.sqrt((x * x).sum()),
        "L2 norm, last axis": lambda: np.sqrt((square * square).sum(axis=1)),
        "L2 norm, first axis": lambda: np.sqrt((square * square).sum(axis=0)),
    }
    return in_turns({"pycu2c": ours, "numpy": theirs}, host_time, rounds, 3)


def table(figures: Figures) -> str:
    names = list(dict.fromkeys(name for times in figures.values() for name in times))
    other = next((name for name in names if name != "pycu2c"), None)
    head = "".join(f" | {name:>21}" for name in names)
    lines = [f"{'ms, but where µs stand':<42}{head} | pycu2c ÷ {other}"]
    for row, times in figures.items():
        cells = "".join(f" | {times[n]:>21.4f}" if n in times else " " * 24 for n in names)
        ratio = f"{times['pycu2c'] / times[other]:.3f}" if other in times else ""
        lines.append(f"{row:<42}{cells} | {ratio}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cpu", action="store_true", help="on the CPU, whatever else there is")
    parser.add_argument("--small", action="store_true", help="sizes of a test, on the CPU")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    size = ON_CPU // 1000 if options.small else ON_CPU
    use_gpu = driver.available() and not options.cpu
    figures = on_gpu(options.rounds) if use_gpu else on_cpu(options.rounds, size)
    print(f"\nCuPy's custom kernels on {driver.device().name if use_gpu else 'the CPU'}")
    print(table(figures))
    if use_gpu:
        keep("cupy_kernels", figures)


if __name__ == "__main__":
    main()
