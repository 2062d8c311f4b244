"""A matrix product with tiles in shared memory and 6 x 16 sums per thread, as written for GPUs."""

from __future__ import annotations

import functools
from typing import Any

from pycu2c import cuda, float32, kernel

M, N, K = 96, 64, 64  # of the tiles of a block
ROWS, COLUMNS = 6, 16  # of the sums of a thread
BLOCK = N // COLUMNS, M // ROWS
THREADS = BLOCK[0] * BLOCK[1]
SIDE = 192  # the product is for multiples of it


@functools.cache
def make_kernel(backend: str) -> Any:
    """Return the kernel for a back end."""

    @kernel(backend=backend, launch_bounds=THREADS, wraparound=False)
    def multiply(c: Any, a: Any, b: Any) -> None:
        # the threads of a warp load from several rows of a_tile, which start in different banks
        a_tile = cuda.shared.array((M, K + 1), float32)
        b_tile = cuda.shared.array((K, N), float32)
        total = cuda.local.array((ROWS, COLUMNS), float32)
        row, column = cuda.blockIdx.y * M, cuda.blockIdx.x * N
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        rank = ty * BLOCK[0] + tx
        for m in range(ROWS):
            for n in range(COLUMNS):
                total[m, n] = 0
        for first in range(0, a.shape[1], K):
            for i in range(rank, M * K, THREADS):
                a_tile[i // K, i % K] = a[row + i // K, first + i % K]
            for i in range(rank, K * N, THREADS):
                b_tile[i // N, i % N] = b[first + i // N, column + i % N]
            cuda.syncthreads()
            for k in range(K):
                for m in range(ROWS):
                    for n in range(COLUMNS):
                        total[m, n] += a_tile[ty * ROWS + m, k] * b_tile[k, tx * COLUMNS + n]
            cuda.syncthreads()
        for m in range(ROWS):
            for n in range(COLUMNS):
                c[row + ty * ROWS + m, column + tx * COLUMNS + n] = total[m, n]

    return multiply


def multiply(a: Any, b: Any, c: Any, backend: str) -> Any:
    """Compute ``c = a @ b`` of arrays whose sides are multiples of ``SIDE``."""
    make_kernel(backend)[(c.shape[1] // N, c.shape[0] // M), BLOCK](c, a, b)
    return c
