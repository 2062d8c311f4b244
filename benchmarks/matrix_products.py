"""Matrix products by wgmma, of bfloat16, float16 and float8, beside cuBLAS and Triton.

The kernel is persistent: its blocks compute tiles of ``c = a @ b.T`` one after another. A thread of
each block loads tiles by TMA; two warpgroups multiply them, and store their halves of ``c`` by TMA.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from products import Case
from pycu2c import bfloat16, cuda, float16, float32, kernel, uint8, uint64
from pycu2c.cuda import barrier, tma, wgmma

M, N, STAGES = 128, 256, 4  # of the tiles, and how many are in flight
ROW_BYTES = 128  # of a tile along the depth
BYTES = (M + N) * ROW_BYTES
PANELS = N // 64  # of 64 columns
RESULT_BYTES = M * N // 2 * 2  # of half of the columns
SHARED_BYTES = STAGES * BYTES + RESULT_BYTES
BAND = 16  # rows of tiles that are computed one after another, for the L2 cache
THREADS, CONSUMER_WARPS = 384, 8
SIZES = 4096, 8192
# the types of the factors and of the product, and that of two elements of it
TYPES = {
    "bfloat16": (bfloat16, bfloat16, cuda.bfloat162),
    "float16": (float16, float16, cuda.half2),
    "float8_e4m3": (uint8, bfloat16, cuda.bfloat162),
}


def make_kernel(backend: str, types: tuple[Any, Any, Any]) -> Any:
    """Return the kernel for a back end."""
    element, result, pair = types
    depth = ROW_BYTES // element.dtype.size  # of a tile

    @kernel(launch_bounds=(THREADS, 1), wraparound=False, backend=backend)
    def multiply(c: Any, a: Any, b: Any, rows: Any, columns: Any, steps: Any) -> None:
        """Compute ``rows`` by ``columns`` tiles, in ``steps`` along the depth."""
        memory = cuda.shared.array(0, element, alignment=1024)
        b_start, b_stop = STAGES * M * depth, STAGES * (M + N) * depth
        a_tiles = memory[:b_start].reshape(STAGES, M, depth)
        b_tiles = memory[b_start:b_stop].reshape(STAGES, N, depth)
        start, count = STAGES * BYTES // 2, RESULT_BYTES // 2
        c_tiles = cuda.shared.array(0, result)[start : start + count].reshape(2, 2, 64, 64)
        c_pairs = cuda.shared.array(0, pair)[start // 2 : (start + count) // 2].reshape(
            2, 2, 64, 32
        )
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
                        tma.load(a_tiles[stage], a, (row, k * depth), loaded, stage)
                        tma.load(b_tiles[stage], b, (column, k * depth), loaded, stage)
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
                i, lane = thread // 32 * 16 + thread % 32 // 4, thread % 32
                for first in range(0, PANELS, 2):
                    if thread == 0:
                        tma.wait_group_read(0)
                    barrier.arrive_and_wait(group_ready, group)
                    for panel in range(2):
                        for chunk in range(8):  # of 8 columns
                            place = 4 * (chunk ^ i % 8) + lane % 4  # swizzled
                            for half_rows in range(2):
                                n = 32 * (first + panel) + 4 * chunk + 2 * half_rows
                                two = pair(total[n], total[n + 1])
                                c_pairs[group, panel, i + 8 * half_rows, place] = two
                    tma.fence_proxy_async()
                    barrier.arrive_and_wait(group_ready, group)
                    if thread == 0:
                        for panel in range(2):
                            corner = row + 64 * group, column + 64 * (first + panel)
                            tma.store(c, corner, c_tiles[group, panel])
                        tma.commit_group()
            if thread == 0:
                tma.wait_group(0)

    return multiply


def launch_arguments(c: Any, a: Any, b: Any) -> tuple[Any, ...]:
    depth = ROW_BYTES // a.dtype.itemsize
    maps = cuda.TensorMap(c, (64, 64)), cuda.TensorMap(a, (M, depth)), cuda.TensorMap(b, (N, depth))
    return *maps, c.shape[0] // M, c.shape[1] // N, a.shape[1] // depth


def check_product(name: str) -> None:
    """Compare a product of a few tiles with NumPy."""
    rng = np.random.default_rng(1)
    element = {"bfloat16": ml_dtypes.bfloat16, "float16": np.float16}.get(
        name, ml_dtypes.float8_e4m3fn
    )
    result = np.float16 if name == "float16" else ml_dtypes.bfloat16
    depth = 4 * ROW_BYTES // np.dtype(element).itemsize
    a, b = (rng.integers(-4, 5, (n, depth)).astype(element) for n in (2 * M, 2 * N))
    c = np.zeros((2 * M, 2 * N), result)
    factors = [x.view(np.uint8) if x.itemsize == 1 else x for x in (a, b)]
    multiply = make_kernel("cpu", TYPES[name])
    multiply[3, THREADS, 0, SHARED_BYTES](*launch_arguments(c, *factors))
    assert (c == (a.astype(np.float32) @ b.T.astype(np.float32)).astype(result)).all()
    print(f"the product of {name} is right on the CPU")


def check_on_cpu() -> None:
    for name in TYPES:
        check_product(name)


def cases() -> Iterator[Case]:
    for name, types in TYPES.items():
        multiply = make_kernel("cuda", types)
        for size in SIZES:
            yield case(multiply, name, size)


def case(multiply: Any, name: str, size: int) -> Case:
    import torch

    blocks = torch.cuda.get_device_properties(0).multi_processor_count
    wide = torch.float16 if name == "float16" else torch.bfloat16
    a, b = (torch.randn(size, size, device="cuda", dtype=wide) for _ in range(2))
    c, expected = torch.zeros_like(a), torch.empty_like(a)
    results, libraries = [c], {}
    if name == "float8_e4m3":
        a, b = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn)
        one = torch.ones((), device="cuda")
        options = {"out_dtype": wide, "use_fast_accum": True, "out": expected}
        library = lambda: torch._scaled_mm(a, b.T, one, one, **options)  # noqa: E731
        arguments = launch_arguments(c, a.view(torch.uint8), b.view(torch.uint8))
    else:
        library = lambda: torch.matmul(a, b.T, out=expected)  # noqa: E731
        arguments = launch_arguments(c, a, b)
        if importlib.util.find_spec("triton"):
            import triton_product

            results.append(torch.zeros_like(a))
            libraries["Triton"] = lambda: triton_product.launch(results[1], a, b)
    configured = multiply[blocks, THREADS, 0, SHARED_BYTES]
    return Case(
        f"{name} product {size}",
        lambda: configured(*arguments),
        {"cuBLAS": library, **libraries},
        2.0 * size**3,
        lambda: [torch.testing.assert_close(x, expected, rtol=0.02, atol=0.5) for x in results],
    )
