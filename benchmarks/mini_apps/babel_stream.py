"""BabelStream, which measures the bandwidth of memory by five operations on arrays.

The University of Bristol wrote it: https://github.com/UoB-HPC/BabelStream, under its own permissive
licence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mini_apps import Case
from pycu2c import cuda, kernel

FLAGS = ("-O3", "-DNDEBUG")
THREADS = 1024
SCALAR = 0.4
DOT_BLOCKS = 4 * 132  # 4 for each multiprocessor of an H100 or H200


@kernel
def copy(c: Any, a: Any) -> None:
    i = cuda.grid(1)
    c[i] = a[i]


@kernel
def mul(b: Any, c: Any) -> None:
    i = cuda.grid(1)
    b[i] = SCALAR * c[i]


@kernel
def add(c: Any, a: Any, b: Any) -> None:
    i = cuda.grid(1)
    c[i] = a[i] + b[i]


@kernel
def triad(a: Any, b: Any, c: Any) -> None:
    i = cuda.grid(1)
    a[i] = b[i] + SCALAR * c[i]


@kernel
def dot(sums: Any, a: Any, b: Any) -> None:
    partial = cuda.shared.array(THREADS, a.dtype)
    thread = cuda.threadIdx.x
    partial[thread] = 0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        partial[thread] += a[i] * b[i]
    offset = cuda.blockDim.x // 2
    while offset > 0:
        cuda.syncthreads()
        if thread < offset:
            partial[thread] += partial[thread + offset]
        offset //= 2
    if thread == 0:
        sums[cuda.blockIdx.x] = partial[thread]


def cases(sources: Path | None, small: bool) -> list[Case]:
    n, blocks = (4 * THREADS, 3) if small else (2**25, DOT_BLOCKS)
    return [case for dtype in (np.float32, np.float64) for case in cases_of(n, blocks, dtype)]


def cases_of(n: int, blocks: int, dtype: Any) -> list[Case]:
    rng = np.random.default_rng(1)
    x, y = (rng.random(n, dtype) for _ in range(2))
    out, sums = np.zeros_like(x), np.zeros(blocks, dtype)
    a, b = x.astype(np.float64), y.astype(np.float64)

    def case(kernel: Any, arrays: tuple[np.ndarray, ...], result: Any) -> Case:
        is_dot = arrays[0] is sums
        return Case(
            f"BabelStream {kernel.name} {x.dtype}",
            kernel,
            arrays,
            (),
            (blocks if is_dot else n // THREADS,),
            (THREADS,),
            f"{kernel.name}_{x.dtype}",
            (n, *((blocks,) if is_dot else ())),
            (0,),
            lambda: [result()],
            1e-5 if dtype is np.float32 else 1e-12,
        )

    def products() -> np.ndarray:
        """Return the sums of blocks, which take THREADS products in turn."""
        padded = np.resize(a * b, -(-n // (blocks * THREADS)) * blocks * THREADS)
        padded[n:] = 0
        return padded.reshape(-1, blocks, THREADS).sum((0, 2))

    return [
        case(copy, (out, x), lambda: a),
        case(mul, (out, x), lambda: SCALAR * a),
        case(add, (out, x, y), lambda: a + b),
        case(triad, (out, x, y), lambda: a + SCALAR * b),
        case(dot, (sums, x, y), products),
    ]
