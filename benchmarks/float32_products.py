"""Matrix products of float32 beside cuBLAS, which PyTorch calls without TF32.

Each block computes a tile of ``c = a @ b``, and each thread 8 x 16 elements of it. Thread 0 loads
tiles of the factors by TMA, a step ahead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from products import Case
from pycu2c import cuda, float4, float32, kernel, uint64
from pycu2c.cuda import barrier, tma

M, N, K, STAGES = 128, 256, 32, 3  # of the tiles, and how many are in shared memory
BYTES = 4 * (M + N) * K
SHARED_BYTES = STAGES * BYTES
THREADS = 256
ROWS, QUADS = 8, 4  # of a thread: rows, and groups of four columns
BAND = 8  # rows of tiles that are computed together, for the L2 cache
SIZES = 4096, 8192


def make_kernel(backend: str) -> Any:
    """Return the kernel for a back end."""

    @kernel(launch_bounds=(THREADS, 1), wraparound=False, backend=backend)
    def multiply(c: Any, a: Any, b: Any, rows: Any, columns: Any, steps: Any) -> None:
        """Compute ``rows`` by ``columns`` tiles of ``c``, an array of float4."""
        memory = cuda.shared.array(0, float4, alignment=1024)
        a_tiles = memory[: STAGES * M * K // 4].reshape(STAGES, M, K // 4)
        b_tiles = memory[STAGES * M * K // 4 : STAGES * (M + N) * K // 4].reshape(STAGES, K, N // 4)
        loaded, free = cuda.shared.array(STAGES, uint64), cuda.shared.array(STAGES, uint64)
        band, place = cuda.blockIdx.x // (BAND * columns), cuda.blockIdx.x % (BAND * columns)
        height = min(BAND, rows - band * BAND)
        row, column = (band * BAND + place % height) * M, place // height * N // 4
        if cuda.threadIdx.x == 0:
            for stage in range(STAGES):
                barrier.init(loaded, stage, 1)
                barrier.init(free, stage, THREADS // 32)
            barrier.arrive_expect_tx(loaded, 0, BYTES)
            tma.load(a_tiles[0], a, (row, 0), loaded, 0)
            tma.load(b_tiles[0], b, (0, column), loaded, 0)
        cuda.syncthreads()
        warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
        i = warp // 4 * 64 + lane // 4  # and each 8th row after it
        j = warp % 4 * 16 + lane % 4  # and each 4th group of columns after it
        total = cuda.local.array((ROWS, QUADS, 4), float32)
        left = cuda.local.array(ROWS, float4)  # four elements of each row
        right = cuda.local.array((2, QUADS), float4)  # one is loaded while the other is multiplied
        for m in range(ROWS):
            for q in range(QUADS):
                for n in range(4):
                    total[m, q, n] = 0
        stage, parity, next_parity = 0, 0, 1
        for step in range(steps):
            following = stage + 1
            if following == STAGES:
                following, next_parity = 0, next_parity ^ 1
            if cuda.threadIdx.x == 0 and step + 1 < steps:
                barrier.wait_parity(free, following, next_parity)
                barrier.arrive_expect_tx(loaded, following, BYTES)
                tma.load(a_tiles[following], a, (row, (step + 1) * K // 4), loaded, following)
                tma.load(b_tiles[following], b, ((step + 1) * K, column), loaded, following)
            barrier.wait_parity(loaded, stage, parity)
            for m in range(ROWS):
                left[m] = a_tiles[stage, i + 8 * m, lane // 4]
            for q in range(QUADS):
                right[0, q] = b_tiles[stage, 0, j + 4 * q]
            for k in cuda.unroll(range(K)):
                for q in range(QUADS):
                    right[k & 1 ^ 1, q] = b_tiles[stage, (k + 1) % K, j + 4 * q]
                for m in range(ROWS):
                    row_of_left = left[m]
                    x = (row_of_left.x, row_of_left.y, row_of_left.z, row_of_left.w)[k % 4]
                    for q in range(QUADS):
                        total[m, q, 0] += x * right[k & 1, q].x
                        total[m, q, 1] += x * right[k & 1, q].y
                        total[m, q, 2] += x * right[k & 1, q].z
                        total[m, q, 3] += x * right[k & 1, q].w
                    if k % 4 == 3:
                        quad = (k // 4 + 1) % (K // 4) ^ lane // 4  # swizzled
                        left[m] = a_tiles[stage, i + 8 * m, quad]
            cuda.syncwarp()  # all lanes have read the tiles
            if lane == 0:
                barrier.arrive(free, stage)
            if following == 0:
                parity ^= 1
            stage = following
        for m in range(ROWS):
            for q in range(QUADS):
                c[row + i + 8 * m, column + j + 4 * q] = float4(
                    total[m, q, 0], total[m, q, 1], total[m, q, 2], total[m, q, 3]
                )

    return multiply


def launch_arguments(c: Any, a: Any, b: Any) -> tuple[Any, ...]:
    """Return the arguments from arrays of float4."""
    maps = cuda.TensorMap(a, (M, K // 4)), cuda.TensorMap(b, (K, N // 4), "none")
    return c, *maps, c.shape[0] // M, c.shape[1] * 4 // N, b.shape[0] // K


def as_vectors(array: Any) -> Any:
    return array.view(float4.numpy)


def check_on_cpu() -> None:
    """Compare a product of a few tiles with NumPy."""
    rng = np.random.default_rng(1)
    a, b = (
        rng.integers(-4, 5, shape).astype(np.float32) for shape in ((2 * M, 4 * K), (4 * K, 2 * N))
    )
    c = np.zeros((2 * M, 2 * N), np.float32)
    arguments = launch_arguments(*map(as_vectors, (c, a, b)))
    make_kernel("cpu")[4, THREADS, 0, SHARED_BYTES](*arguments)
    assert (c == a @ b).all()
    print("the product is right on the CPU")


def cases() -> Iterator[Case]:
    multiply = make_kernel("cuda")
    for size in SIZES:
        yield case(multiply, size)


def case(multiply: Any, size: int) -> Case:
    import torch

    a, b = (torch.randn(size, size, device="cuda") for _ in range(2))
    c, expected = torch.zeros_like(a), torch.empty_like(a)
    vectors = [cuda.as_cuda_array(x).view(float4.numpy) for x in (c, a, b)]
    configured = multiply[(size // M) * (size // N), THREADS, 0, SHARED_BYTES]
    arguments = launch_arguments(*vectors)
    return Case(
        f"float32 product {size}",
        lambda: configured(*arguments),
        {"cuBLAS": lambda: torch.matmul(a, b, out=expected)},
        2.0 * size**3,
        lambda: torch.testing.assert_close(c, expected, rtol=1e-4, atol=1e-2),
    )
