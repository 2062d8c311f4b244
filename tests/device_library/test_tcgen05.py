"""``pycu2c.cuda.tcgen05``: products in tensor memory, compared with NumPy; cubins for sm_100a."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pycu2c import CompileError, bfloat16, cuda, float16, float32, kernel, uint32, uint64
from pycu2c.cuda import barrier, tcgen05, tma
from pycu2c.cuda_driver import driver
from pycu2c.kernels.kernel import Kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.asynchronous import launch, types_of

DTYPES = {"bf16": (bfloat16, ml_dtypes.bfloat16), "f16": (float16, np.float16)}
ROWS = 128


def make_product(
    kind: str, width: int, panels: int, columns: int, a_major: str = "k", b_major: str = "k"
) -> Kernel:
    """Return a kernel whose tiles have ``panels`` panels of ``width`` elements of the depth."""
    dtype, depth = DTYPES[kind][0], panels * width
    a_shape = (panels, ROWS, width) if a_major == "k" else (ROWS // width, depth, width)
    b_shape = (panels, columns, width) if b_major == "k" else (columns // width, depth, width)
    nbytes = 2 * (ROWS + columns) * depth

    @kernel
    def product(c, a, b, steps):
        a_tile = cuda.shared.array(a_shape, dtype, alignment=1024)
        b_tile = cuda.shared.array(b_shape, dtype, alignment=1024)
        address, bars = cuda.shared.array(2, uint32), cuda.shared.array(2, uint64)
        thread = cuda.threadIdx.x
        if thread == 0:
            barrier.init(bars, 0, 1)
            barrier.init(bars, 1, 1)
        if thread < 32:
            tcgen05.alloc(address, 1, 128)
        cuda.syncthreads()
        d = address[1] + 32  # the columns before it are not used
        if thread == 0:
            for k in range(steps):
                barrier.arrive_expect_tx(bars, 0, nbytes)
                for panel in range(a_shape[0]):
                    at = k * depth + panel * width
                    tma.load(a_tile[panel], a, (0, at), bars, 0)
                for panel in range(b_shape[0]):
                    at = k * depth + panel * width
                    tma.load(b_tile[panel], b, (0, at), bars, 0)
                barrier.wait_parity(bars, 0, k % 2)
                tcgen05.mma(d, a_tile, b_tile, a_major, b_major, k > 0)
                tcgen05.commit(bars, 1)
                barrier.wait_parity(bars, 1, k % 2)
            tcgen05.fence_before_thread_sync()
        cuda.syncthreads()
        tcgen05.fence_after_thread_sync()
        part = cuda.local.array(16, float32)
        for first in range(0, columns, 16):
            tcgen05.ld(part, d + first)
            for n in range(16):
                c[thread, first + n] = part[n]
        tcgen05.fence_before_thread_sync()
        cuda.syncthreads()
        if thread < 32:
            tcgen05.dealloc(address[1], 128)

    return product


def arguments(
    kind: str, depth: int, columns: int, width: int, a_major: str = "k", b_major: str = "k"
) -> tuple[Any, ...]:
    """Return the two factors, and the arguments of a launch: arrays and boxes."""
    rng = np.random.default_rng(3)
    left, right = (
        rng.integers(-4, 5, (rows, depth)).astype(DTYPES[kind][1]) for rows in (ROWS, columns)
    )
    stored = []
    for factor, major in ((left, a_major), (right, b_major)):
        array = factor if major == "k" else np.ascontiguousarray(factor.T)
        stored.append((array, (array.shape[0], width)))
    return left, right, (np.zeros((ROWS, columns), np.float32), *stored)


def check(target: str, kind: str, width: int, panels: int, columns: int, steps: int) -> None:
    left, right, passed = arguments(kind, steps * panels * width, columns, width)
    product = make_product(kind, width, panels, columns)
    c, *_ = launch(product, (1, 128), target, *passed, steps)
    assert (c == left.astype(np.float32) @ right.T.astype(np.float32)).all()


@pytest.mark.parametrize("kind", DTYPES)
def test_products_on_the_cpu(kind: str) -> None:
    check("cpu", kind, 64, 2, 48, 2)


def test_a_product_in_the_interpreter() -> None:
    check("python", "bf16", 16, 1, 16, 1)


@pytest.mark.gpu
@pytest.mark.skipif(
    not driver.available() or driver.arch() != "sm_100", reason="needs compute capability 10.0"
)
@pytest.mark.parametrize("width", [16, 32, 64])
def test_products_on_blackwell(width: int) -> None:
    check("cuda", "bf16", width, 2, 48, 3)


@pytest.mark.parametrize(("a_major", "b_major"), [("k", "mn"), ("mn", "k"), ("mn", "mn")])
def test_major_dimensions(a_major: str, b_major: str) -> None:
    left, right, passed = arguments("f16", 32, 64, 32, a_major, b_major)
    product = make_product("f16", 32, 1, 64, a_major, b_major)
    c, *_ = launch(product, (1, 128), "cpu", *passed, 1)
    assert (c == left.astype(np.float32) @ right.T.astype(np.float32)).all()


def cuda_text(product: Kernel, kind: str, width: int) -> str:
    _, _, (c, *factors) = arguments(kind, 64, 48, width)
    maps = [cuda.TensorMap(array, box) for array, box in factors]
    return str(product.inspect("cuda", types_of(c, *maps, 1)))


@pytest.mark.parametrize(("kind", "format_bits"), [("f16", 0), ("bf16", 0x480)])
@pytest.mark.parametrize("width", [16, 32, 64])
def test_a_cubin_for_blackwell(kind: str, format_bits: int, width: int) -> None:
    text = cuda_text(make_product(kind, width, 1, 48), kind, width)
    compiled = nvrtc.compile(text, "product", "sm_100a", kind="cubin")
    assert compiled.data
    assert not compiled.log.strip("\0\n ")
    descriptor = 0x10 | format_bits | 48 // 8 << 17 | ROWS // 16 << 24
    assert f'"r"({descriptor})' in text
    assert "[512][128]" not in text  # the tensor memory of the CPU


@pytest.mark.parametrize(
    ("columns", "rows", "message"),
    [
        (24, 128, "the columns are a multiple of 16 up to 256, not 24"),
        (32, 64, "the factors are 64 x 16 and 16 x 32"),
    ],
)
def test_shapes_of_tiles(columns: int, rows: int, message: str) -> None:
    @kernel
    def product():
        a = cuda.shared.array((rows, 16), float16, alignment=1024)
        b = cuda.shared.array((columns, 16), float16, alignment=1024)
        tcgen05.mma(0, a, b)

    with pytest.raises(CompileError, match=message):
        product.inspect("cuda", ())


def test_numbers_of_columns() -> None:
    @kernel
    def allocate():
        tcgen05.alloc(cuda.shared.array(1, uint32), 0, 48)

    with pytest.raises(CompileError, match="the columns are 32, 64, 128, 256 or 512, not 48"):
        allocate.inspect("cuda", ())
