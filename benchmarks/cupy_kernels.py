"""Time CuPy's custom kernels in pycu2c and in CuPy: kernels and calls.

usage: python benchmarks/cupy_kernels.py [--cpu] [--small] [--rounds N]

On CUDA device 0 in comparison with CuPy, if it is installed; on the CPU in comparison with numpy.
Each round times all packages; a time is the median over the rounds. CUDA events around a batch of
calls time kernels, with the same texts and sizes. The host's clock times calls on ten elements. The
script prints the table of ratios last.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_timer import Timer
from pycu2c import cuda
from pycu2c import cupy as pycu2c_cupy
from pycu2c.cuda_driver import driver
from results import Results, save

ROUNDS = 15
BATCH_MS = 20.0  # duration of a round
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
    """Return the calls of large kernels by name, with a package and its arrays."""
    rng = np.random.default_rng(0)
    x, y = (array(rng.random(LARGE, dtype=np.float32)) for _ in range(2))
    out, one = array(np.zeros(LARGE, np.float32)), array(np.zeros((), np.float32))
    square, row = x.reshape(SIDE, SIDE), array(np.zeros(SIDE, np.float32))
    saxpy, chain = (package.ElementwiseKernel(*texts) for texts in (SAXPY, CHAIN))
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
    """Return calls on small arrays, whose time is that of the host."""
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


def host_time(call: Call, count: int) -> float:
    """Return the milliseconds of the host for one call."""
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count * 1e3


def measure(
    by: dict[str, dict[str, Call]], timed: Callable[[Call, int], float], rounds: int, count: int
) -> Results:
    """Return the time of each call by package. A round has ``count`` calls; 0: as many as fit."""
    results: Results = {}
    for row in next(iter(by.values())):
        each = {name: rows[row] for name, rows in by.items()}
        for call in each.values():
            for _ in range(8):  # warm up the fast paths of calls
                call()
        often = {n: count or max(1, round(BATCH_MS / timed(call, 3))) for n, call in each.items()}
        times: dict[str, list[float]] = {name: [] for name in each}
        for _ in range(rounds):
            for name, call in each.items():
                times[name].append(timed(call, often[name]))
                if driver.available():
                    driver.synchronize(0, "wait for a round")
        results[row] = {name: statistics.median(row_times) for name, row_times in times.items()}
        print(f"measured {row}", flush=True)
    return results


def on_gpu(rounds: int) -> Results:
    by = {"pycu2c": calls(pycu2c_cupy, cuda.to_device)}
    small = {"pycu2c": small_calls(pycu2c_cupy, cuda.to_device)}
    try:
        cupy = importlib.import_module("cupy")
    except ImportError as error:
        print(f"left out: {error}")
    else:
        by["CuPy"] = calls(cupy, cupy.asarray)
        small["CuPy"] = small_calls(cupy, cupy.asarray)
        small["pycu2c, CuPy's arrays"] = small_calls(pycu2c_cupy, cupy.asarray)
    kernels = measure(by, Timer().milliseconds, rounds, 0)
    launches = measure(small, host_time, rounds, IN_A_ROW)
    return kernels | {
        f"{row}, µs": {name: 1e3 * ms for name, ms in times.items()}
        for row, times in launches.items()
    }


def on_cpu(rounds: int, size: int) -> Results:
    """Compare with numpy; results are new arrays in both."""
    rng = np.random.default_rng(0)
    x, y = (rng.random(size, dtype=np.float32) for _ in range(2))
    side = int((0.9 * size) ** 0.5)
    square = x[: side * side].reshape(side, side)
    out = np.empty_like(x)
    chain, norm = pycu2c_cupy.ElementwiseKernel(*CHAIN), pycu2c_cupy.ReductionKernel(*NORM)
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
    return measure({"pycu2c": ours, "numpy": theirs}, host_time, rounds, 3)


def table(results: Results) -> str:
    names = list(dict.fromkeys(name for times in results.values() for name in times))
    other = next((name for name in names if name != "pycu2c"), None)
    head = "".join(f" | {name:>21}" for name in names)
    lines = [f"{'ms, or µs where noted':<42}{head} | pycu2c ÷ {other}"]
    for row, times in results.items():
        cells = "".join(f" | {times[n]:>21.4f}" if n in times else " " * 24 for n in names)
        ratio = f"{times['pycu2c'] / times[other]:.3f}" if other in times else ""
        lines.append(f"{row:<42}{cells} | {ratio}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cpu", action="store_true", help="use the CPU even if there is a GPU")
    parser.add_argument("--small", action="store_true", help="small sizes for tests, on the CPU")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    size = ON_CPU // 1000 if options.small else ON_CPU
    use_gpu = driver.available() and not options.cpu
    results = on_gpu(options.rounds) if use_gpu else on_cpu(options.rounds, size)
    print(f"\nCuPy's custom kernels on {driver.device().name if use_gpu else 'the CPU'}")
    print(table(results))
    if use_gpu:
        save("cupy_kernels", results)


if __name__ == "__main__":
    main()
