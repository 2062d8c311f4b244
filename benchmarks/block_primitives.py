"""Time block primitives beside CUB's in CUDA C, which nvcc compiles, on CUDA device 0.

usage: python benchmarks/block_primitives.py

Both kernels load, process and store tiles of the same arrays. The script prints the milliseconds,
their ratio, and the time that NVRTC takes to compile the kernel in Python: the median of some
compilations, beside that of an empty kernel.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gpu_timer import Timer
from pycu2c import cuda, kernel
from pycu2c.cuda import block
from pycu2c.cuda_driver import driver
from pycu2c.cupy import RawModule
from pycu2c.toolchain.nvrtc import nvrtc

THREADS, ITEMS, BLOCKS = 256, 8, 1 << 14
TILE = THREADS * ITEMS
SOURCE = Path(__file__).parent / "hand_written/cub_block.cu"
REPEATS, COMPILATIONS = 11, 5
EMPTY = 'extern "C" __global__ void empty() {}'


@kernel(launch_bounds=THREADS)
def reduce_blocks(out, x):
    items = cuda.local.array(ITEMS, x.dtype)
    block.load_striped(items, x, cuda.blockIdx.x * TILE)
    total = block.reduce(items)
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = total


@kernel(launch_bounds=THREADS)
def scan_blocks(out, x):
    items = cuda.local.array(ITEMS, x.dtype)
    block.load_transposed(items, x, THREADS, cuda.blockIdx.x * TILE)
    block.inclusive_scan(items)
    block.store_transposed(out, items, THREADS, cuda.blockIdx.x * TILE)


@kernel(launch_bounds=THREADS)
def radix_sort_blocks(out, x):
    items = cuda.local.array(ITEMS, x.dtype)
    block.load_transposed(items, x, THREADS, cuda.blockIdx.x * TILE)
    block.radix_sort(items, THREADS)
    block.store_transposed(out, items, THREADS, cuda.blockIdx.x * TILE)


@kernel(launch_bounds=THREADS)
def merge_sort_blocks(out, x):
    items = cuda.local.array(ITEMS, x.dtype)
    block.load_transposed(items, x, THREADS, cuda.blockIdx.x * TILE)
    block.merge_sort(items, THREADS)
    block.store_transposed(out, items, THREADS, cuda.blockIdx.x * TILE)


CASES: tuple[tuple[Any, Any], ...] = (
    (reduce_blocks, np.float32),
    (scan_blocks, np.float32),
    (radix_sort_blocks, np.uint32),
    (merge_sort_blocks, np.float32),
)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder, "cub_block.cubin")
        command = "nvcc", "-cubin", f"-arch={driver.arch()}", "-o", cubin, SOURCE
        subprocess.run(command, check=True)
        library = RawModule(path=str(cubin))
        print(f"{'kernel':20} {'CUB':>8} {'pycu2c':>8} {'ratio':>6} {'compile':>8}")
        for python, dtype in CASES:
            measure(python, library.get_function(python.name), np.dtype(dtype))
        print(f"{'empty':38} {compile_milliseconds(EMPTY, 'empty'):12.1f} ms")


def measure(python: Any, cub: Any, dtype: np.dtype[Any]) -> None:
    """Check that both kernels agree, time them in turns, and print the row."""
    data = np.random.default_rng(0).integers(0, 2**24, BLOCKS * TILE).astype(dtype)
    x, out = cuda.to_device(data), cuda.to_device(np.zeros_like(data))
    launches: tuple[Callable[[], object], ...] = (
        lambda: cub((BLOCKS,), (THREADS,), (out, x)),
        lambda: python[BLOCKS, THREADS](out, x),
    )
    results = []
    for launch in launches:
        launch()
        results.append(out.copy_to_host())
    np.testing.assert_allclose(results[0], results[1], 1e-4)
    timer = Timer()
    samples: list[list[float]] = [[], []]
    for _ in range(REPEATS):
        for launch, times in zip(launches, samples, strict=True):
            times.append(timer.milliseconds(launch, 20))
    first, second = map(statistics.median, samples)
    text = python.inspect("cuda", f"void({dtype}[::1], {dtype}[::1])")
    compiled = compile_milliseconds(text, python.name)
    print(f"{python.name:20} {first:8.4f} {second:8.4f} {second / first:6.3f} {compiled:5.1f} ms")


def compile_milliseconds(text: str, name: str) -> float:
    """Return the time of NVRTC, without the cache."""
    times = []
    for _ in range(COMPILATIONS):
        start = time.perf_counter()
        nvrtc.compile(text, name, driver.arch(), cache=False)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


if __name__ == "__main__":
    main()
