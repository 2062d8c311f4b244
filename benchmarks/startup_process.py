"""The process that benchmarks/startup.py times.

``startup_process.py MODULE KERNEL`` imports the module, decorates the kernel, calls it twice, and
prints the four times in milliseconds.

No "from __future__ import annotations": Taichi and Warp read the types of parameters as objects.
"""

import itertools
import sys
import time
from collections.abc import Callable

import numpy as np

N = 1000
OUT, X = np.zeros(N, np.float32), np.ones(N, np.float32)
Call = Callable[[], object]


def now() -> float:
    return time.perf_counter() * 1e3


def with_pycu2c(name: str) -> Call:
    from pycu2c import cuda, kernel

    @kernel(backend="cpu")
    def add(out, x):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i] + 1

    @kernel(backend="cpu")
    def scale(out, x):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i] * 3

    chosen = {"add": add, "scale": scale}[name]
    return lambda: chosen[4, 256](OUT, X)


def with_numba(name: str) -> Call:
    from numba import njit, prange

    @njit(parallel=True, cache=True)
    def add(out, x):
        for i in prange(out.size):
            out[i] = x[i] + np.float32(1)

    @njit(parallel=True, cache=True)
    def scale(out, x):
        for i in prange(out.size):
            out[i] = x[i] * np.float32(3)

    chosen = {"add": add, "scale": scale}[name]
    return lambda: chosen(OUT, X)


def with_taichi(name: str) -> Call:
    import taichi as ti

    ti.init(arch=ti.cpu, offline_cache=True)
    line = ti.types.ndarray(dtype=ti.f32, ndim=1)

    @ti.kernel
    def add(out: line, x: line):
        for i in range(out.shape[0]):
            out[i] = x[i] + 1

    @ti.kernel
    def scale(out: line, x: line):
        for i in range(out.shape[0]):
            out[i] = x[i] * 3

    chosen = {"add": add, "scale": scale}[name]
    return lambda: chosen(OUT, X)


def with_warp(name: str) -> Call:
    import warp as wp

    wp.init()
    line = wp.array(dtype=wp.float32)

    @wp.kernel(module="unique")
    def add(out: line, x: line):
        i = wp.tid()
        out[i] = x[i] + 1.0

    @wp.kernel(module="unique")
    def scale(out: line, x: line):
        i = wp.tid()
        out[i] = x[i] * 3.0

    chosen = {"add": add, "scale": scale}[name]
    arrays = [wp.array(a, device="cpu", copy=False) for a in (OUT, X)]
    return lambda: wp.launch(chosen, dim=N, inputs=arrays, device="cpu")


def main(module: str, name: str) -> None:
    at = [now()]
    __import__(module)
    at.append(now())
    call = globals()[f"with_{module}"](name)
    at.append(now())
    for _ in range(2):
        call()
        at.append(now())
    if OUT[0] != {"add": 2, "scale": 3}[name]:
        raise SystemExit(f"{module} computed {OUT[0]}")
    print(*(b - a for a, b in itertools.pairwise(at)))


if __name__ == "__main__":
    main(*sys.argv[1:])
