"""``pycu2c.cuda.wgmma``: products of tiles by a warpgroup, compared with NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pycu2c import (
    CompileError,
    bfloat16,
    cuda,
    float16,
    float32,
    int8,
    int32,
    kernel,
    uint8,
    uint64,
)
from pycu2c.cuda import barrier, tma, wgmma
from pycu2c.kernels.kernel import Kernel
from support.asynchronous import hopper_code, launch

DTYPES = {
    "bf16": (bfloat16, ml_dtypes.bfloat16),
    "f16": (float16, np.float16),
    "tf32": (float32, np.float32),
    "s8": (int8, np.int8),
    "e4m3": (uint8, ml_dtypes.float8_e4m3fn),
    "e5m2": (uint8, ml_dtypes.float8_e5m2),
}


def make_product(
    kind: str, row_bytes: int, panels: int, columns: int, a_major: str, b_major: str
) -> Kernel:
    """Return a kernel with tiles of ``panels`` panels along the depth; it loads them by TMA."""
    dtype, element = DTYPES[kind]
    width = row_bytes // np.dtype(element).itemsize
    depth = panels * width
    total = int32 if kind == "s8" else float32
    a_shape = (panels, 64, width) if a_major == "k" else (64 // width, depth, width)
    b_shape = (panels, columns, width) if b_major == "k" else (columns // width, depth, width)
    nbytes = (64 + columns) * depth * np.dtype(element).itemsize
    float8 = kind if kind.startswith("e") else "e4m3"

    @kernel
    def product(c, a, b):
        a_tile = cuda.shared.array(a_shape, dtype, alignment=1024)
        b_tile = cuda.shared.array(b_shape, dtype, alignment=1024)
        bar = cuda.shared.array(1, uint64)
        if cuda.threadIdx.x == 0:
            barrier.init(bar, 0, 1)
            barrier.arrive_expect_tx(bar, 0, nbytes)
            for panel in range(a_shape[0]):
                tma.load(a_tile[panel], a, (0, panel * width), bar, 0)
            for panel in range(b_shape[0]):
                tma.load(b_tile[panel], b, (0, panel * width), bar, 0)
        cuda.syncthreads()
        barrier.wait_parity(bar, 0, 0)
        d = cuda.local.array(columns // 2, total)
        for n in range(columns // 2):
            d[n] = 1
        wgmma.fence()
        wgmma.mma_async(d, a_tile, b_tile, a_major, b_major, float8)
        wgmma.commit_group()
        wgmma.wait_group(0, d)
        for n in range(columns // 2):
            i, j = wgmma.position(n)
            c[i, j] = d[n]

    return product


def factor(kind: str, shape: tuple[int, int], seed: int) -> np.ndarray[Any, Any]:
    """Return small integers, whose products are exact in each type."""
    rng = np.random.default_rng(seed)
    return rng.integers(-4, 5, shape).astype(DTYPES[kind][1])


def stored(matrix: np.ndarray[Any, Any], major: str, tile_rows: int, row_bytes: int) -> Any:
    """Return a factor as an array with rows along ``major``, and the box of a panel."""
    array = matrix if major == "k" else np.ascontiguousarray(matrix.T)
    if matrix.dtype.name.startswith("float8"):
        array = array.view(np.uint8)
    return array, (tile_rows, row_bytes // matrix.itemsize)


def check(
    target: str, kind: str, row_bytes: int, panels: int, columns: int, a_major: str, b_major: str
) -> None:
    depth = panels * row_bytes // np.dtype(DTYPES[kind][1]).itemsize
    left, right = factor(kind, (64, depth), 1), factor(kind, (columns, depth), 2)
    total = np.int32 if kind == "s8" else np.float32
    c, *_ = launch(
        make_product(kind, row_bytes, panels, columns, a_major, b_major),
        (1, 128),
        target,
        np.zeros((64, columns), total),
        stored(left, a_major, 64 if a_major == "k" else depth, row_bytes),
        stored(right, b_major, columns if b_major == "k" else depth, row_bytes),
    )
    assert (c == left.astype(total) @ right.T.astype(total) + 1).all()


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize(("row_bytes", "panels"), [(32, 2), (64, 1), (128, 2)])
def test_types_of_factors(target: str, kind: str, row_bytes: int, panels: int) -> None:
    if target == "python" and row_bytes > 32:
        target = "cpu"  # the interpreter is slow
    check(target, kind, row_bytes, panels, 8, "k", "k")


@pytest.mark.parametrize(("a_major", "b_major"), [("k", "mn"), ("mn", "k"), ("mn", "mn")])
@pytest.mark.parametrize(("row_bytes", "columns"), [(32, 16), (64, 64), (128, 128)])
def test_major_dimensions(
    target: str, row_bytes: int, columns: int, a_major: str, b_major: str
) -> None:
    if target == "python" and row_bytes > 32:
        target = "cpu"
    check(target, "bf16", row_bytes, 1, columns, a_major, b_major)


def make_chain(columns: int) -> Kernel:
    """Return a kernel that multiplies ``a @ a.T``, as a fragment, and a tile."""

    @kernel
    def chain(c, a, b):
        tile = cuda.shared.array((64, 16), bfloat16, alignment=1024)
        right = cuda.shared.array((columns, 64), bfloat16, alignment=1024)
        bar = cuda.shared.array(1, uint64)
        if cuda.threadIdx.x == 0:
            barrier.init(bar, 0, 1)
            barrier.arrive_expect_tx(bar, 0, 32 * 64 + 128 * columns)
            tma.load(tile, a, (0, 0), bar, 0)
            tma.load(right, b, (0, 0), bar, 0)
        cuda.syncthreads()
        barrier.wait_parity(bar, 0, 0)
        square, d = cuda.local.array(32, float32), cuda.local.array(columns // 2, float32)
        fragment = cuda.local.array(32, bfloat16)
        for n in range(32):
            square[n] = 7
        for n in range(columns // 2):
            d[n] = 0
        wgmma.fence()
        wgmma.mma_async(square, tile, tile, accumulate=False)
        wgmma.commit_group()
        wgmma.wait_group(1)
        wgmma.wait_group(0, square)
        for n in range(32):
            fragment[n] = square[n]
        wgmma.fence()
        wgmma.mma_async(d, fragment, right)
        wgmma.commit_group()
        wgmma.wait_group(0, d)
        for n in range(columns // 2):
            i, j = wgmma.position(n)
            c[i, j] = d[n]

    return chain


def test_an_accumulator_is_the_left_factor_of_another_product(target: str) -> None:
    a = np.random.default_rng(3).integers(-1, 2, (64, 16)).astype(ml_dtypes.bfloat16)
    b = factor("bf16", (8, 64), 4)
    c, *_ = launch(
        make_chain(8), (1, 128), target, np.zeros((64, 8), np.float32), (a, (64, 16)),
        (b, (8, 64)),
    )  # fmt: skip
    square = a.astype(np.float32) @ a.T.astype(np.float32)
    assert (c == square @ b.T.astype(np.float32)).all()


@pytest.mark.parametrize(
    ("kind", "columns", "a_major", "b_major", "instruction"),
    [
        ("bf16", 256, "k", "k", "m64n256k16.f32.bf16.bf16"),
        ("bf16", 128, "mn", "mn", "m64n128k16.f32.bf16.bf16"),
        ("f16", 8, "k", "k", "m64n8k16.f32.f16.f16"),
        ("tf32", 24, "k", "k", "m64n24k8.f32.tf32.tf32"),
        ("e4m3", 64, "k", "k", "m64n64k32.f32.e4m3.e4m3"),
        ("s8", 32, "k", "k", "m64n32k32.s32.s8.s8"),
    ],
)
def test_cuda_uses_the_instruction(
    kind: str, columns: int, a_major: str, b_major: str, instruction: str
) -> None:
    element = np.uint8 if kind.startswith("e") else DTYPES[kind][1]
    total = np.int32 if kind == "s8" else np.float32
    width = 128 // np.dtype(element).itemsize
    tensor_map = cuda.TensorMap(np.zeros((64, width), element), (64, width))
    product = make_product(kind, 128, 1, columns, a_major, b_major)
    text, log = hopper_code(product, np.zeros((64, columns), total), tensor_map, tensor_map)
    assert f"wgmma.mma_async.sync.aligned.{instruction}" in text
    assert "serialized" not in log
    assert "spill" not in log


def test_cuda_compiles_a_product_of_registers() -> None:
    tensor_map = cuda.TensorMap(np.zeros((64, 64), ml_dtypes.bfloat16), (64, 64))
    text, log = hopper_code(make_chain(16), np.zeros((64, 16), np.float32), tensor_map, tensor_map)
    assert "a_words" in text
    assert "serialized" not in log


@kernel(launch_bounds=(256, 1))
def move_registers(out):
    if cuda.threadIdx.x < 128:
        wgmma.setmaxnreg_dec(40)
    else:
        wgmma.setmaxnreg_inc(232)
    out[cuda.threadIdx.x] = 1


def test_warpgroups_move_registers(target: str) -> None:
    (out,) = launch(move_registers, (1, 256), target, np.zeros(256, np.int32))
    assert out.all()
    text, log = hopper_code(move_registers, np.zeros(256, np.int32))
    assert "setmaxnreg.inc.sync.aligned.u32 232;" in text
    assert not log.strip("\0\n ")


@pytest.mark.parametrize(
    ("columns", "total", "left", "right", "major", "message"),
    [
        (20, float32, bfloat16, bfloat16, "k", "a multiple of 8 up to 256, not 20"),
        (16, float32, bfloat16, float16, "k", "the factors are two of float16"),
        (16, int32, float16, float16, "k", "the accumulator is float32"),
        (16, float32, float32, float32, "mn", "for elements of two bytes"),
    ],
)
def test_products_that_the_hardware_lacks(
    columns: int, total: Any, left: Any, right: Any, major: str, message: str
) -> None:
    @kernel
    def wrong(out):
        a, b = cuda.shared.array((64, 16), left), cuda.shared.array((columns, 16), right)
        d = cuda.local.array(columns // 2, total)
        wgmma.mma_async(d, a, b, "k", major)
        out[0] = d[0]

    with pytest.raises(CompileError, match=message):
        wrong.inspect("c", (float32[::1],))
