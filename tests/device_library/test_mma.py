"""``pycu2c.cuda.mma``: products of fragments and matrices in shared memory, beside NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pycu2c import CompileError, bfloat16, cuda, float16, float32, int8, int32, kernel, uint8
from pycu2c.base.types import Scalar
from pycu2c.cuda import mma, tma
from pycu2c.kernels.kernel import Kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.asynchronous import hopper_code
from support.launching import run

KINDS = {
    "bf16": (bfloat16, float32, ml_dtypes.bfloat16),
    "f16": (float16, float32, np.float16),
    "tf32": (float32, float32, np.float32),
    "s8": (int8, int32, np.int8),
    "u8": (uint8, int32, np.uint8),
    "e4m3": (uint8, float32, ml_dtypes.float8_e4m3fn),
    "e5m2": (uint8, float32, ml_dtypes.float8_e5m2),
}


def make_product(kind: str, depth: int, blocks: int) -> Kernel:
    """Return a kernel that multiplies one matrix of 16 rows and one of ``8 * blocks`` columns."""
    element, total, _ = KINDS[kind]
    float8 = kind if kind.startswith("e") else "e4m3"

    @kernel
    def product(out, a, b, c):
        left, right = cuda.local.array(depth // 2, element), cuda.local.array(depth // 4, element)
        rights = cuda.local.array(blocks * depth // 4, element)
        sums, d = cuda.local.array(4 * blocks, total), cuda.local.array(4 * blocks, total)
        for n in range(depth // 2):
            left[n] = a[mma.position(left, "matrix_a", n)]
        for n in range(depth // 4):
            k, column = mma.position(right, "matrix_b", n)
            for block in range(blocks):
                rights[block * depth // 4 + n] = b[k, 8 * block + column]
        for n in range(4 * blocks):
            sums[n] = c[mma.position(sums, "accumulator", n)]
        mma.mma_sync(d, left, rights, sums, float8)
        mma.mma_sync(d, left, rights, d, float8)
        for n in range(4 * blocks):
            out[mma.position(d, "accumulator", n)] = d[n]

    return product


def factor(kind: str, shape: tuple[int, int], seed: int) -> np.ndarray[Any, Any]:
    """Return small integers, whose products are exact in each type."""
    least = 0 if kind == "u8" else -4
    return np.random.default_rng(seed).integers(least, 5, shape).astype(KINDS[kind][2])


def stored(matrix: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return matrix.view(np.uint8) if matrix.dtype.name.startswith("float8") else matrix


STEPS = [(2, 1), (4, 2), (1, 2), (3, 1)]
PRODUCTS = [(kind, *steps) for kind in KINDS for steps in STEPS[: 2 if kind[0] == "e" else 4]]


@pytest.mark.parametrize(("kind", "steps", "blocks"), PRODUCTS)
def test_products(target: str, kind: str, steps: int, blocks: int) -> None:
    """A step of the depth has 16 bytes; an instruction has two, or one except for 8-bit floats."""
    depth = steps * 16 // np.dtype(KINDS[kind][2]).itemsize
    a, b = factor(kind, (16, depth), 1), factor(kind, (depth, 8 * blocks), 2)
    total = KINDS[kind][1].dtype.numpy
    c = np.random.default_rng(3).integers(-9, 9, (16, 8 * blocks)).astype(total)
    arguments = [np.zeros_like(c), stored(a), stored(b), c]
    out, *_ = run(make_product(kind, depth, blocks), (1, 32), arguments, target)
    assert (out == 2 * (a.astype(total) @ b.astype(total)) + c).all()


@pytest.mark.parametrize(
    ("kind", "depth", "instruction"),
    [
        ("bf16", 16, "m16n8k16.row.col.f32.bf16.bf16.f32"),
        ("f16", 8, "m16n8k8.row.col.f32.f16.f16.f32"),
        ("tf32", 8, "m16n8k8.row.col.f32.tf32.tf32.f32"),
        ("s8", 32, "m16n8k32.row.col.s32.s8.s8.s32"),
        ("e4m3", 32, "m16n8k32.row.col.f32.e4m3.e4m3.f32"),
    ],
)
def test_cuda_uses_the_instruction(kind: str, depth: int, instruction: str) -> None:
    _, total, dtype = KINDS[kind]
    arrays = [np.zeros((16, 16), total.dtype.numpy), *[stored(np.zeros((64, 64), dtype))] * 2]
    text, log = hopper_code(make_product(kind, depth, 2), *arrays, arrays[0])
    assert f"mma.sync.aligned.{instruction}" in text
    assert not log.strip("\0\n ")


# ---- matrices in shared memory -------------------------------------------------------------------


def make_moves(element: Scalar, count: int, trans: bool) -> Kernel:
    """Return a kernel that copies matrices from a swizzled tile to another, and shows fragments."""
    per_word = 4 // element.dtype.size
    width = 4 * per_word

    @kernel
    def move(shown, out, source):
        tile = cuda.shared.array((16, 4 * width), element, alignment=1024)
        copy = cuda.shared.array((32, width), element, alignment=16)
        lane = cuda.threadIdx.x
        for n in range(lane, 64 * width, 32):
            row, column = n // (4 * width), n % (4 * width)
            tile[row, tma.swizzled_column(tile, row, column)] = source[row, column]
            copy[n // 2 // width, n // 2 % width] = 0
        cuda.syncwarp()
        fragment = cuda.local.array(count * per_word, element)
        row, column = lane % 16, lane // 16 * width
        mma.ldmatrix(fragment, tile, row, tma.swizzled_column(tile, row, column), trans)
        for n in range(count * per_word):
            shown[lane, n] = fragment[n]
        mma.stmatrix(copy, lane, 0, fragment, trans)
        cuda.syncwarp()
        for n in range(lane, 32 * width, 32):
            out[n // width, n % width] = copy[n // width, n % width]

    return move


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize(
    ("element", "trans"), [(float16, False), (float16, True), (int8, False), (float32, False)]
)
def test_matrices_of_a_tile(target: str, element: Scalar, count: int, trans: bool) -> None:
    dtype, width = element.dtype.numpy, 16 // element.dtype.size
    source = np.random.default_rng(4).integers(-99, 99, (16, 4 * width)).astype(dtype)
    arguments = [np.zeros((32, count * width // 4), dtype), np.zeros((32, width), dtype), source]
    shown, out, _ = run(make_moves(element, count, trans), (1, 32), arguments, target)
    matrices = [source[8 * (m % 2) :, m // 2 * width :][:8, :width] for m in range(count)]
    for m, matrix in enumerate(matrices):
        of_lanes = (matrix.T if trans else matrix).reshape(32, -1)
        per_word = of_lanes.shape[1]
        assert (shown[:, m * per_word : (m + 1) * per_word] == of_lanes).all()
    assert (out[: 8 * count] == np.concatenate(matrices)).all()
    assert not out[8 * count :].any()


@pytest.mark.parametrize("trans", [False, True])
def test_cuda_moves_matrices_by_instructions(trans: bool) -> None:
    arrays = [np.zeros((32, 8), np.float16)] * 3
    text, log = hopper_code(make_moves(float16, 4, trans), *arrays)
    modifiers = "x4.trans.shared.b16" if trans else "x4.shared.b16"
    assert f"ldmatrix.sync.aligned.m8n8.{modifiers}" in text
    assert f"stmatrix.sync.aligned.m8n8.{modifiers}" in text
    assert not log.strip("\0\n ")


@kernel
def attend(out, q, k, v):
    """Compute ``(q @ k.T) @ v`` of 16 x 16 matrices; the first result is the left factor."""
    tiles = cuda.shared.array((3, 16, 16), bfloat16, alignment=16)
    lane = cuda.threadIdx.x
    for n in range(lane, 256, 32):
        tiles[0, n // 16, n % 16] = q[n // 16, n % 16]
        tiles[1, n // 16, n % 16] = k[n // 16, n % 16]
        tiles[2, n // 16, n % 16] = v[n // 16, n % 16]
    cuda.syncwarp()
    left, right = cuda.local.array(8, bfloat16), cuda.local.array(8, bfloat16)
    d = cuda.local.array(8, float32)
    for n in range(8):
        d[n] = 0
    mma.ldmatrix(left, tiles[0], lane % 16, lane // 16 * 8)
    mma.ldmatrix(right, tiles[1], lane // 16 * 8 + lane % 8, lane // 8 % 2 * 8)
    mma.mma_sync(d, left, right, d)
    for n in range(8):
        left[n] = d[n]
        d[n] = 0
    mma.ldmatrix(right, tiles[2], lane % 16, lane // 16 * 8, trans=True)
    mma.mma_sync(d, left, right, d)
    for n in range(8):
        left[n] = d[n]
    mma.stmatrix(tiles[0], lane % 16, lane // 16 * 8, left)
    cuda.syncwarp()
    for n in range(lane, 256, 32):
        out[n // 16, n % 16] = tiles[0, n // 16, n % 16]


def test_a_result_is_the_left_factor_of_another_product(target: str) -> None:
    rng = np.random.default_rng(5)
    q, k, v = (rng.integers(-1, 2, (16, 16)).astype(ml_dtypes.bfloat16) for _ in range(3))
    out, *_ = run(attend, (1, 32), [np.zeros((16, 16), np.float32), q, k, v], target)
    wide = q.astype(np.float32) @ k.astype(np.float32).T @ v.astype(np.float32)
    assert (out == wide.astype(ml_dtypes.bfloat16).astype(np.float32)).all()


def test_a_product_needs_no_local_memory() -> None:
    arrays = [np.zeros((16, 16), ml_dtypes.bfloat16)] * 3
    text, log = hopper_code(attend, np.zeros((16, 16), np.float32), *arrays)
    assert not log.strip("\0\n ")
    ptx = nvrtc.compile(text, "attend", "sm_90a", kind="ptx", cache=False).data.decode()
    assert ptx.count("mma.sync.aligned.m16n8k16") == 4
    assert ".local" not in ptx


@pytest.mark.parametrize(
    ("lengths", "element", "trans", "message"),
    [
        ((4, 8, 2), float16, False, "4 \\* n, k / 2 and n \\* k / 4 elements"),
        ((4, 8, 4), cuda.float64, False, "the factors are two of float16"),
        ((4, 6, 3), float16, False, "not 4, 6 and 3"),
        ((4, 4, 4), float32, True, "matrices of float32 are not transposed"),
        ((4, 16, 8), float16, True, "4, 8 or 16 bytes, not 32"),
    ],
)
def test_fragments_that_the_hardware_lacks(
    lengths: tuple[int, int, int], element: Any, trans: bool, message: str
) -> None:
    of_d, of_a, of_b = lengths

    @kernel
    def wrong(out):
        a, b = cuda.local.array(of_a, element), cuda.local.array(of_b, element)
        d = cuda.local.array(of_d, float32)
        if trans:
            mma.ldmatrix(a, cuda.shared.array((16, 16), element), 0, 0, True)
        else:
            mma.mma_sync(d, a, b, d)
        out[0] = d[0]

    with pytest.raises(CompileError, match=message):
        wrong.inspect("c", (float32[::1],))
