"""Time pycu2c.algorithms, softmax and layer norm beside CUB, cuSPARSE and PyTorch, or NumPy.

usage: python benchmarks/algorithms.py [--cpu] [--small] [--rounds N] [NAME …]

On CUDA device 0, nvcc compiles CUB's algorithms, and CUDA events time batches of calls. Two copies
of the arrays are used in turns; each is larger than the L2 cache. With --cpu, the host's clock
times single calls on a quarter of the elements, beside NumPy, its BLAS and libstdc++'s parallel
sort, which g++ compiles. The results are compared before they are timed. Each round times
both; a time is the median of the rounds. A case that fails is printed, and the others run.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import importlib
import itertools
import re
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tiled_product
from gpu_timer import Timer
from pycu2c import algorithms, cuda
from pycu2c.cuda_driver import driver
from results import save

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "examples"))

ROUNDS, BATCH_MS = 11, 20.0
SPIN_SECONDS = 0.12  # the threads of OpenBLAS occupy their cores after a call
Launch = Callable[[], Any]  # returns the arrays of the results
Launches = tuple[Launch, Launch]  # ours and theirs


class Inputs:
    """Random arrays, on the GPU or on the CPU."""

    def __init__(self, on_gpu: bool) -> None:
        self.on_gpu = on_gpu
        self.random = np.random.default_rng(0)
        self.array: Callable[[Any], Any] = cuda.to_device if on_gpu else np.asarray

    def floats(self, *shape: int) -> Any:
        return self.array(self.random.random(shape, np.float32))

    def integers(self, size: int, dtype: Any) -> Any:
        return self.array(self.random.integers(0, 2**31, size).astype(dtype))

    def zeros(self, shape: Any, dtype: Any = np.float32) -> Any:
        return self.array(np.zeros(shape, dtype))


# ---- others -----------------------------------------------------------------------------------


@functools.cache
def cub_library() -> ctypes.CDLL:
    """Compile CUB's algorithms."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        library, source = Path(folder, "cub.so"), HERE / "hand_written/cub_device.cu"
        flags = "-O3", "-std=c++17", f"-arch={driver.arch()}", "-shared", "-Xcompiler", "-fPIC"
        subprocess.run(("nvcc", *flags, "-o", library, source), check=True)
        print(f"nvcc compiled CUB in {time.perf_counter() - start:.0f} s", flush=True)
        return ctypes.CDLL(str(library))


def cub(name: str, size: int, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> Launch:
    """Return a call of one of CUB's algorithms, with its temporary memory."""
    function, count = getattr(cub_library(), name), ctypes.c_size_t()
    arrays = [ctypes.c_void_p(a.address) for a in (*inputs, *outputs)]
    function(None, ctypes.byref(count), size, *arrays)
    memory = cuda.to_device(np.zeros(count.value, np.uint8))
    temporary = ctypes.c_void_p(memory.address)

    def launch(memory: Any = memory) -> Any:  # the default keeps the memory
        if status := function(temporary, ctypes.byref(count), size, *arrays):
            raise RuntimeError(f"CUB's {name} returned CUDA's error {status}")
        return outputs

    return launch


def compiled_sort() -> Any:
    """Compile libstdc++'s parallel sort."""
    with tempfile.TemporaryDirectory() as folder:
        library, source = Path(folder, "sort.so"), HERE / "hand_written/parallel_sort.cpp"
        flags = "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"
        subprocess.run(("g++", *flags, "-o", library, source), check=True)
        return ctypes.CDLL(str(library)).sort_keys


def of_torch(*arrays: Any) -> list[Any]:
    """Return arrays as PyTorch's tensors in the same memory."""
    torch = importlib.import_module("torch")
    return [torch.as_tensor(a, device="cuda") for a in arrays]


# ---- cases: each returns the launches for new arrays ------------------------------------------


def reduce(inputs: Inputs, size: int) -> Launches:
    x, out = inputs.floats(size), inputs.zeros(1)
    theirs = cub("reduce", size, (x,), (inputs.zeros(1),)) if inputs.on_gpu else x.sum
    return lambda: algorithms.reduce(x, out=out), theirs


def scan(inputs: Inputs, size: int, dtype: str) -> Launches:
    x = inputs.floats(size) if dtype == "float32" else inputs.integers(size, dtype)
    out, other = inputs.zeros(size, dtype), inputs.zeros(size, dtype)
    theirs = lambda: np.cumsum(x, dtype=dtype, out=other)  # noqa: E731
    if inputs.on_gpu:
        theirs = cub(f"scan_{dtype}", size, (x,), (other,))
    return lambda: algorithms.inclusive_scan(x, out=out), theirs


def is_small(x: Any) -> Any:
    return x < np.float32(0.5)


def select(inputs: Inputs, size: int) -> Launches:
    x = inputs.floats(size)
    if not inputs.on_gpu:
        return lambda: algorithms.select(x, is_small), lambda: x[is_small(x)]
    (out, count), other = ((inputs.zeros(size), inputs.zeros(1, np.int32)) for _ in range(2))

    def ours() -> Any:
        return algorithms.select(x, is_small, out, count), count

    return ours, cub("select_small", size, (x,), other)


def sort(inputs: Inputs, size: int) -> Launches:
    x = inputs.integers(size, np.uint32)
    out, other = (inputs.zeros(size, np.uint32) for _ in range(2))
    theirs = cub("sort_keys", size, (x,), (other,)) if inputs.on_gpu else lambda: np.sort(x)
    return lambda: algorithms.sort(x, out=out), theirs


def sort_in_parallel(inputs: Inputs, size: int) -> Launches:
    x = inputs.integers(size, np.uint32)
    out, other, sort_keys = np.empty_like(x), np.empty_like(x), compiled_sort()

    def by_libstdcxx() -> Any:
        other[:] = x
        sort_keys(ctypes.c_void_p(other.ctypes.data), ctypes.c_size_t(size))
        return other

    return lambda: algorithms.sort(x, out=out), by_libstdcxx


def product(inputs: Inputs, size: int) -> Launches:
    side = max(int(size**0.5) // tiled_product.SIDE, 1) * tiled_product.SIDE
    a, b = inputs.floats(side, side), inputs.floats(side, side)
    c, other = inputs.zeros((side, side)), inputs.zeros((side, side))
    return lambda: tiled_product.multiply(a, b, c, "cpu"), lambda: np.matmul(a, b, out=other)


def sort_pairs(inputs: Inputs, size: int) -> Launches:
    keys, values = (inputs.integers(size, np.uint32) for _ in range(2))
    out, other = (tuple(inputs.zeros(size, np.uint32) for _ in range(2)) for _ in range(2))

    def by_numpy() -> Any:
        order = np.argsort(keys, kind="stable")
        return keys[order], values[order]

    theirs = cub("sort_pairs", size, (keys, values), other) if inputs.on_gpu else by_numpy
    return lambda: algorithms.sort_by_key(keys, values, out=out), theirs


def transpose(inputs: Inputs, size: int) -> Launches:
    side = int(size**0.5)
    x, out = inputs.floats(side, side), inputs.zeros((side, side))
    theirs = lambda: np.ascontiguousarray(x.T)  # noqa: E731
    if inputs.on_gpu:
        tensor, result = of_torch(x, inputs.zeros((side, side)))
        theirs = lambda: result.copy_(tensor.T)  # noqa: E731
    return lambda: algorithms.transpose(x, out), theirs


def softmax(inputs: Inputs, size: int, columns: int) -> Launches:
    rows = importlib.import_module("rows")
    shape = size // columns, columns
    x, out = inputs.floats(*shape), inputs.zeros(shape)
    theirs = lambda: rows.softmax_by_numpy(x)  # noqa: E731
    if inputs.on_gpu:
        (tensor,) = of_torch(x)
        theirs = lambda: tensor.softmax(-1)  # noqa: E731
    return lambda: rows.softmax(x, out), theirs


def layer_norm(inputs: Inputs, size: int, columns: int) -> Launches:
    rows = importlib.import_module("rows")
    shape = size // columns, columns
    x, out = inputs.floats(*shape), inputs.zeros(shape)
    weight, bias = (inputs.floats(columns) for _ in range(2))
    theirs = lambda: rows.layer_norm_by_numpy(x, weight, bias)  # noqa: E731
    if inputs.on_gpu:
        tensors = of_torch(x, weight, bias)
        function = importlib.import_module("torch").nn.functional.layer_norm
        theirs = lambda: function(tensors[0], (columns,), *tensors[1:])  # noqa: E731
    return lambda: rows.layer_norm(x, weight, bias, out), theirs


def histogram(inputs: Inputs, size: int) -> Launches:
    x = inputs.array(inputs.random.integers(0, 256, size, np.uint8))
    out = inputs.zeros(256, np.int32)
    theirs = lambda: np.bincount(x, minlength=256)  # noqa: E731
    if inputs.on_gpu:
        theirs = cub("histogram", size, (x,), (inputs.zeros(256, np.int32),))
    return lambda: algorithms.histogram(x, 256, out), theirs


def segmented_reduce(inputs: Inputs, size: int, length: int) -> Launches:
    ends = np.unique(inputs.random.integers(1, size, size // length))
    host_offsets = np.concatenate([[0], ends, [size]]).astype(np.int32)
    x, offsets, segments = inputs.floats(size), inputs.array(host_offsets), len(ends) + 1
    out = inputs.zeros(segments)
    theirs = lambda: np.add.reduceat(x, host_offsets[:-1])  # noqa: E731
    if inputs.on_gpu:
        theirs = cub("segmented_reduce", segments, (x, offsets), (inputs.zeros(segments),))
    return lambda: algorithms.segmented_reduce(x, offsets, out=out), theirs


def lengths_of_rows(shape: str, size: int, random: Any) -> Any:
    """Return the number of elements of each row; the sum is about ``size``."""
    if shape == "power law":  # a few rows have 1000 times the mean
        lengths = random.pareto(1.2, size // 16).clip(max=1e4)
        return np.int64(lengths * (size / lengths.sum()))
    mean = {"short": 3, "random": 16, "banded": 16, "long": 4096}[shape]
    return np.full(size // mean, mean) if shape == "banded" else random.poisson(mean, size // mean)


def spmv(inputs: Inputs, size: int, shape: str) -> Launches:
    lengths = np.maximum(lengths_of_rows(shape, size, inputs.random), 1)
    starts = np.concatenate([[0], lengths.cumsum()]).astype(np.int32)
    count, rows = int(starts[-1]), len(lengths)
    columns = inputs.random.integers(0, rows, count, np.int32)
    if shape == "banded":
        columns = np.arange(rows, dtype=np.int32)[:, None] + np.arange(16, dtype=np.int32) - 8
        columns = np.clip(columns, 0, rows - 1).ravel()
    matrix = [inputs.floats(count), inputs.array(columns), inputs.array(starts)]
    x, out, other = inputs.floats(rows), inputs.zeros(rows), inputs.zeros(rows)
    theirs = lambda: np.add.reduceat(matrix[0] * x[columns], starts[:-1])  # noqa: E731
    if inputs.on_gpu:
        cupy, cusparse = map(importlib.import_module, ("cupy", "cupyx.cusparse"))
        sparse = importlib.import_module("cupyx.scipy.sparse")
        a = sparse.csr_matrix(tuple(map(cupy.asarray, matrix)), shape=(rows, rows))
        a.has_canonical_format = True  # CuPy asks for it; cuSPARSE takes columns in any order
        vector, result = map(cupy.asarray, (x, other))
        theirs = lambda: cusparse.spmv(a, vector, result)  # noqa: E731
    return lambda: algorithms.spmv(*matrix, x, out), theirs


SPMV_SHAPES = "short", "random", "banded", "power law", "long"
CASES: dict[str, tuple[str, Callable[[Inputs, int], Launches], int]] = {
    "reduce float32 2^28": ("CUB", reduce, 1 << 28),
    **{
        f"scan {dtype} 2^26": ("CUB", functools.partial(scan, dtype=dtype), 1 << 26)
        for dtype in ("float32", "int32")
    },
    "select float32 2^26, half": ("CUB", select, 1 << 26),
    "sort uint32 2^26": ("CUB", sort, 1 << 26),
    "sort pairs of uint32 2^26": ("CUB", sort_pairs, 1 << 26),
    "histogram uint8 2^28": ("CUB", histogram, 1 << 28),
    **{
        f"segmented reduce 2^26, mean {length}": (
            "CUB",
            functools.partial(segmented_reduce, length=length),
            1 << 26,
        )
        for length in (16, 4096)
    },
    **{
        f"spmv, {shape} rows, 2^26": ("cuSPARSE", functools.partial(spmv, shape=shape), 1 << 26)
        for shape in SPMV_SHAPES
    },
    "transpose 8192²": ("PyTorch", transpose, 1 << 26),
    **{
        f"{function.__name__} of {n} columns, 2^26": (
            "PyTorch",
            functools.partial(function, columns=n),
            1 << 26,
        )
        for function in (softmax, layer_norm)
        for n in (1024, 8192)
    },
}


def quarter_of(title: str) -> str:
    """Return the title of a case for a quarter of its elements."""
    match = re.search(r"2\^(\d+)|(\d+)²", title)
    assert match is not None
    exponent, side = match.groups()
    quarter = f"2^{int(exponent) - 2}" if exponent else f"{int(side) // 2}²"
    return title.replace(match[0], quarter)


CPU_CASES: dict[str, tuple[str, Callable[[Inputs, int], Launches], int]] = {
    **{quarter_of(title): ("NumPy", case, size >> 2) for title, (_, case, size) in CASES.items()},
    "sort uint32 2^24, parallel": ("libstdc++", sort_in_parallel, 1 << 24),
    **{f"float32 product {n}²": ("NumPy's BLAS", product, n**2) for n in (1536, 4032)},
}


# ---- measurements -----------------------------------------------------------------------------


def on_host(result: Any) -> list[Any]:
    """Return the arrays of a result as NumPy arrays."""
    if isinstance(result, tuple):
        return [array for item in result for array in on_host(item)]
    for method in "copy_to_host", "get", "cpu":
        if hasattr(result, method):
            return [np.asarray(getattr(result, method)())]
    return [np.asarray(result)]


def host_milliseconds(launch: Launch, count: int) -> float:
    time.sleep(SPIN_SECONDS)
    start = time.perf_counter()
    for _ in range(count):
        launch()
    return (time.perf_counter() - start) * 1e3 / count


def measure(case: Callable[[Inputs, int], Launches], size: int, on_gpu: bool, rounds: int) -> Any:
    """Return the milliseconds of a call of ours and of theirs, whose results agree."""
    copies = [case(Inputs(on_gpu), size) for _ in range(1 + on_gpu)]
    for got, expected in zip(*(on_host(launch()) for launch in copies[0]), strict=True):
        np.testing.assert_allclose(
            got.reshape(-1), expected.reshape(-1), 1e-4 if on_gpu else 1e-3, 1e-5
        )
    turns = [itertools.cycle(launches) for launches in zip(*copies, strict=True)]
    calls: list[Launch] = [lambda turn=turn: next(turn)() for turn in turns]  # type: ignore[misc]
    timed = Timer().milliseconds if on_gpu else host_milliseconds
    counts = [2 * max(1, round(BATCH_MS / 2 / timed(c, 4))) if on_gpu else 1 for c in calls]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for call, count, samples in zip(calls, counts, times, strict=True):
            samples.append(timed(call, count))
    return tuple(map(statistics.median, times))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cpu", action="store_true", help="use the CPU even if there is a GPU")
    parser.add_argument("--small", action="store_true", help="small sizes, for tests")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of the names of cases")
    options = parser.parse_args()
    on_gpu = driver.available() and not options.cpu
    results, failed = {}, []
    for title, (other, case, size) in (CASES if on_gpu else CPU_CASES).items():
        if options.names and not any(name in title for name in options.names):
            continue
        size = size >> (12 if on_gpu else 10) if options.small else size
        try:
            ours, theirs = measure(case, size, on_gpu, options.rounds)
        except Exception:
            print(f"{title}: {traceback.format_exc(limit=-3)}", flush=True)
            failed.append(title)
            continue
        results[title] = {"pycu2c": ours, other: theirs}
        print(f"measured {title}: {ours:.3f} ms, {other} {theirs:.3f} ms", flush=True)
    print(f"\nalgorithms on {driver.device().name if on_gpu else 'the CPU'}")
    print(f"{'case':<36} | {'pycu2c ms':>9} | {'other ms':>9} | {'other':<12} | other ÷ pycu2c")
    for title, row in results.items():
        (_, ours), (other, theirs) = row.items()
        print(f"{title:<36} | {ours:>9.4f} | {theirs:>9.4f} | {other:<12} | {theirs / ours:.3f}")
    save("algorithms" if on_gpu else "algorithms_cpu", results)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
