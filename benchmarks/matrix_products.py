"""Time a matrix product by wgmma beside cuBLAS, as PyTorch calls it, on CUDA device 0.

usage: python benchmarks/matrix_products.py [--cpu]

The kernel is persistent: its blocks compute tiles of ``c = a @ b.T`` one after another. A thread of
each block loads tiles by TMA; two warpgroups multiply them, and store their halves of ``c`` by TMA.
--cpu checks a small product on the CPU, without timing it.
"""

from __future__ import annotations

import statistics
import sys
from typing import Any

import ml_dtypes
import numpy as np

from pycu2c import bfloat16, cuda, float32, kernel, uint64
from pycu2c.cuda import barrier, tma, wgmma

M, N, K, STAGES = 128, 256, 64, 3  # of the tiles, and how many are in flight
BYTES = (M + N) * K * 2
PANELS = N // 64  # of 64 columns
SHARED_BYTES = STAGES * BYTES + M * N * 2
BAND = 16  # rows of tiles that are computed one after another, for the L2 cache
THREADS, CONSUMER_WARPS = 384, 8
SIZES = 4096, 8192


def make_kernel(backend: str) -> Any:
    """Return the kernel for a back end."""

    @kernel(launch_bounds=(THREADS, 1), wraparound=False, backend=backend)
    def multiply(c: Any, a: Any, b: Any, rows: Any, columns: Any, steps: Any) -> None:
        """Compute ``rows`` by ``columns`` tiles, in ``steps`` along the depth."""
        memory = cuda.shared.array(0, bfloat16, alignment=1024)
        a_tiles = memory[: STAGES * M * K].reshape(STAGES, M, K)
        b_tiles = memory[STAGES * M * K : STAGES * (M + N) * K].reshape(STAGES, N, K)
        c_start = STAGES * (M + N) * K
        c_tiles = memory[c_start : c_start + M * N].reshape(2, PANELS, 64, 64)
        loaded, free = cuda.shared.array(STAGES, uint64), cuda.shared.array(STAGES, uint64)
        group_ready = cuda.shared.array(2, uint64)
        group, thread = cuda.threadIdx.x // 128, cuda.threadIdx.x % 128
        if cuda.threadIdx.x == 0:
            for stage in range(STAGES):
                barrier.init(loaded, stage, 1)
                barrier.init(free, stage, CONSUMER_WARPS)
            barrier.init(group_ready, 0, 128)
            barrier.init(group_ready, 1, 128)
        cuda.syncthreads()
        stage, parity = 0, 0
        if group == 2:
            wgmma.setmaxnreg_dec(40)
            if thread == 0:
                for tile in range(cuda.blockIdx.x, rows * columns, cuda.gridDim.x):
                    band, place = tile // (BAND * columns), tile % (BAND * columns)
                    height = min(BAND, rows - band * BAND)
                    row, column = (band * BAND + place % height) * M, place // height * N
                    for k in range(steps):
                        barrier.wait_parity(free, stage, parity ^ 1)
                        barrier.arrive_expect_tx(loaded, stage, BYTES)
                        tma.load(a_tiles[stage], a, (row, k * K), loaded, stage)
                        tma.load(b_tiles[stage], b, (column, k * K), loaded, stage)
                        stage += 1
                        if stage == STAGES:
                            stage, parity = 0, parity ^ 1
        else:
            wgmma.setmaxnreg_inc(232)
            total = cuda.local.array(N // 2, float32)
            for tile in range(cuda.blockIdx.x, rows * columns, cuda.gridDim.x):
                band, place = tile // (BAND * columns), tile % (BAND * columns)
                height = min(BAND, rows - band * BAND)
                row, column = (band * BAND + place % height) * M, place // height * N
                for n in range(N // 2):
                    total[n] = 0
                previous = 0
                for k in range(steps):
                    barrier.wait_parity(loaded, stage, parity)
                    half = a_tiles[stage, 64 * group : 64 * group + 64]
                    wgmma.fence()
                    wgmma.mma_async(total, half, b_tiles[stage])
                    wgmma.commit_group()
                    wgmma.wait_group(1)  # the product of the step before
                    if cuda.laneid == 0 and k > 0:
                        barrier.arrive(free, previous)
                    previous = stage
                    stage += 1
                    if stage == STAGES:
                        stage, parity = 0, parity ^ 1
                wgmma.wait_group(0, total)
                if cuda.laneid == 0:
                    barrier.arrive(free, previous)
                if thread == 0:
                    tma.wait_group_read(0)
                barrier.arrive_and_wait(group_ready, group)
                for n in range(N // 2):
                    i, j = wgmma.position(n)
                    place = tma.swizzled_column(c_tiles, i, j % 64)
                    c_tiles[group, j // 64, i, place] = total[n]
                tma.fence_proxy_async()
                barrier.arrive_and_wait(group_ready, group)
                if thread == 0:
                    for panel in range(PANELS):
                        corner = row + 64 * group, column + 64 * panel
                        tma.store(c, corner, c_tiles[group, panel])
                    tma.commit_group()
            if thread == 0:
                tma.wait_group(0)

    return multiply


def launch_arguments(c: Any, a: Any, b: Any) -> tuple[Any, ...]:
    maps = cuda.TensorMap(c, (64, 64)), cuda.TensorMap(a, (M, K)), cuda.TensorMap(b, (N, K))
    return *maps, c.shape[0] // M, c.shape[1] // N, a.shape[1] // K


def check_on_cpu() -> None:
    """Compare a product of a few tiles with NumPy."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (n, 4 * K)).astype(ml_dtypes.bfloat16) for n in (2 * M, 2 * N))
    c = np.zeros((2 * M, 2 * N), ml_dtypes.bfloat16)
    make_kernel("cpu")[3, THREADS, 0, SHARED_BYTES](*launch_arguments(c, a, b))
    expected = a.astype(np.float32) @ b.T.astype(np.float32)
    assert (c == expected.astype(ml_dtypes.bfloat16)).all()
    print("the product is right on the CPU")


def time_product(multiply: Any, size: int) -> None:
    """Compare a product with that of cuBLAS, and print the times of both in alternating runs."""
    import torch

    from gpu_timer import Timer

    timer = Timer()
    blocks = torch.cuda.get_device_properties(0).multi_processor_count
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    c, expected = torch.zeros_like(a), torch.empty_like(a)
    configured, arguments = multiply[blocks, THREADS, 0, SHARED_BYTES], launch_arguments(c, a, b)
    configured(*arguments)
    torch.matmul(a, b.T, out=expected)
    torch.testing.assert_close(c, expected)
    times: list[list[float]] = [[], []]
    for _ in range(7):
        times[0].append(timer.milliseconds(lambda: configured(*arguments), 20))
        times[1].append(timer.milliseconds(lambda: torch.matmul(a, b.T, out=expected), 20))
    ours, cublas = map(statistics.median, times)
    teraflops = 2e-9 * size**3 / ours
    print(f"{size:6} {ours:8.3f} ms {teraflops:6.0f} TFLOP/s, {cublas / ours:5.3f} of cuBLAS")


def main() -> None:
    if "--cpu" in sys.argv:
        check_on_cpu()
        return
    multiply = make_kernel("cuda")
    for size in SIZES:
        time_product(multiply, size)


if __name__ == "__main__":
    main()
