"""Warp matrix multiply-accumulate (wmma)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, bfloat16, cuda, float16, float32, int8, int32, kernel, uint8
from pycu2c.base.types import Scalar
from pycu2c.cuda import wmma
from pycu2c.kernels.kernel import Kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.launching import run


@kernel
def multiply(c, a, b):
    """Each warp one tile of the result; the last in shared memory."""
    row, column = 16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x
    tile = cuda.shared.array((16, 16), float32)
    for n in range(cuda.threadIdx.x, 256, 32):
        tile[n // 16, n % 16] = 1
    wmma.mma_sync(tile, a[row : row + 16, :], b[:, column : column + 16])
    for n in range(cuda.threadIdx.x, 256, 32):
        c[row + n // 16, column + n % 16] = tile[n // 16, n % 16]


def test_a_product(target: str) -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(-4, 5, (16, 48)).astype(np.float16)
    b = rng.integers(-4, 5, (48, 32)).astype(np.float16)
    (result, _, _) = run(multiply, ((2, 1), 32), [np.zeros((16, 32), np.float32), a, b], target)
    np.testing.assert_array_equal(result, a.astype(np.float32) @ b.astype(np.float32) + 1)


@kernel
def accumulate(c, a, b):
    wmma.mma_sync(c, a, b)
    wmma.mma_sync(c, a, b)


def test_accumulators_are_reused(target: str) -> None:
    a = np.eye(16, dtype=np.float16) * 2
    b = np.arange(256, dtype=np.float16).reshape(16, 16)
    c = np.ones((16, 16), np.float32)
    (result, _, _) = run(accumulate, (1, 32), [c, a, b], target)
    np.testing.assert_array_equal(result, 1 + 4 * b.astype(np.float32))


@kernel
def transposed(c, a, b):
    wmma.mma_sync(c.T, b.T, a.T)
    wmma.mma_sync(c, a.T, b)


def test_matrices_may_be_column_major(target: str) -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-4, 5, (16, 16)).astype(np.float16) for _ in range(2))
    (result, _, _) = run(transposed, (1, 32), [np.zeros((16, 16), np.float32), a, b], target)
    wide, other = a.astype(np.float32), b.astype(np.float32)
    np.testing.assert_array_equal(result, wide @ other + wide.T @ other)


def test_tensor_cores_do_it() -> None:
    types = (float32[:, ::1], float16[:, ::1], float16[:, ::1])
    made = nvrtc.compile(multiply.inspect("cuda", types), "multiply", "sm_80", kind="ptx")
    assert "wmma.mma.sync" in made.data.decode()
    text = multiply.inspect("cuda", types)
    product = text[text.index("mma_of_tiles") :].partition("#endif")[0]
    assert product.count("__syncwarp();") == 2  # racecheck: lanes read what others have written
    assert check_warnings(multiply.inspect("c", types)) == ""


# ---- fragments ---------------------------------------------------------------------------------


@kernel
def by_fragments(c, a, b, factor):
    """A warp keeps its sums in registers, and scales them before it stores them."""
    row, column = 16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x
    left, right = cuda.local.array(8, float16), cuda.local.array(8, float16)
    total = cuda.local.array(8, float32)
    wmma.fill_fragment(total, 1)
    for k in range(0, a.shape[1], 16):
        wmma.load_matrix_sync(left, a[row : row + 16, k : k + 16], "matrix_a")
        wmma.load_matrix_sync(right, b[k : k + 16, column : column + 16], "matrix_b")
        wmma.mma_sync(total, left, right, total)
    for n in range(8):
        total[n] *= factor
    wmma.store_matrix_sync(c[row : row + 16, column : column + 16], total)


@pytest.mark.slow
def test_fragments(target: str) -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(-4, 5, (16, 32)).astype(np.float16)
    b = np.asfortranarray(rng.integers(-4, 5, (32, 32)).astype(np.float16))
    arguments = [np.zeros((16, 32), np.float32), a, b, np.float32(0.5)]
    result = run(by_fragments, ((2, 1), 32), arguments, target)[0]
    wide = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_array_equal(result, (wide + 1) / 2)


@kernel
def chained(out, a, b, c):
    """``a @ b + c`` of several warps; the accumulator is loaded, and kept."""
    warp = cuda.threadIdx.x // 32
    left, right = cuda.local.array(8, float16), cuda.local.array(8, float16)
    sums, more = cuda.local.array(8, float32), cuda.local.array(8, float32)
    wmma.load_matrix_sync(left, a[warp], "matrix_a")
    wmma.load_matrix_sync(right, b.T, "matrix_b")
    wmma.load_matrix_sync(sums, c, "accumulator")
    wmma.mma_sync(more, left, right, sums)
    wmma.mma_sync(sums, left, right, more)
    wmma.store_matrix_sync(out[0, warp], sums)
    wmma.store_matrix_sync(out[1, warp].T, more)


@pytest.mark.slow
def test_accumulators(target: str) -> None:
    rng = np.random.default_rng(4)
    a = rng.integers(-4, 5, (2, 16, 16)).astype(np.float16)
    b = rng.integers(-4, 5, (16, 16)).astype(np.float16)
    c = rng.integers(-9, 10, (16, 16)).astype(np.float32)
    arguments = [np.zeros((2, 2, 16, 16), np.float32), a, b, c]
    result = run(chained, (1, 64), arguments, target)[0]
    once = a.astype(np.float32) @ b.T.astype(np.float32)
    np.testing.assert_array_equal(result[0], c + 2 * once)
    np.testing.assert_array_equal(result[1], (c + once).transpose(0, 2, 1))


def test_one_instruction_for_half_of_the_columns() -> None:
    types = (float32[:, ::1], float16[:, ::1], float16[:, ::1], float32)
    for arch, name in (("sm_75", "m16n8k8"), ("sm_80", "m16n8k16"), ("sm_90", "m16n8k16")):
        text = by_fragments.inspect("cuda", types)
        made = nvrtc.compile(text, "by_fragments", arch, kind="ptx", cache=False)
        assert f"mma.sync.aligned.{name}" in made.data.decode()
    assert check_warnings(by_fragments.inspect("c", types)) == ""


def test_invalid_uses_of_fragments() -> None:
    @kernel
    def other(a):
        wmma.load_matrix_sync(cuda.local.array(8, float16), a, "matrix_c")

    with pytest.raises(CompileError, match="matrix_c"):
        other.inspect("c", (float16[:, ::1],))


# ---- factors of other types --------------------------------------------------------------------

FACTORS = [(bfloat16, float32), (int8, int32), (uint8, int32)]


def factors(kind: Scalar, shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    """Numbers whose products and sums are exact in the type of sums."""
    least = 0 if kind is uint8 else -100
    result = np.random.default_rng(seed).integers(least, 100, shape)
    return result.astype(kind.dtype.numpy)


def of_factors(factor: Scalar, total: Scalar) -> Kernel:
    @kernel
    def made(c, in_memory, a, b):
        left, right = cuda.local.array(8, factor), cuda.local.array(8, factor)
        sums = cuda.local.array(8, total)
        wmma.fill_fragment(sums, 3)
        for k in range(0, a.shape[1], 16):
            wmma.load_matrix_sync(left, a[:, k : k + 16], "matrix_a")
            wmma.load_matrix_sync(right, b[k : k + 16, :], "matrix_b")
            wmma.mma_sync(sums, left, right, sums)
        wmma.store_matrix_sync(c.T, sums)
        wmma.mma_sync(in_memory, a, b)

    return made


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "total"), FACTORS, ids=str)
def test_factors_of_other_types(factor: Scalar, total: Scalar, target: str) -> None:
    a, b = factors(factor, (16, 32), 5), factors(factor, (16, 32), 6).T
    sums = [np.ones((16, 16), total.numpy), np.ones((16, 16), total.numpy)]
    result = run(of_factors(factor, total), (1, 32), [*sums, a, b], target)
    wide = a.astype(np.int64) @ b.astype(np.int64)
    np.testing.assert_array_equal(result[0], wide.T + 3)
    np.testing.assert_array_equal(result[1], wide + 1)


@pytest.mark.parametrize(("factor", "total"), FACTORS, ids=str)
def test_instructions_of_other_types(factor: Scalar, total: Scalar) -> None:
    made = of_factors(factor, total)
    types = (total[:, ::1], total[:, ::1], factor[:, ::1], factor[:, :])
    text = made.inspect("cuda", types)
    for arch, words in (("sm_75", "shfl.sync.idx"), ("sm_80", "mma.sync.aligned.m16n8k16")):
        result = nvrtc.compile(text, "made", arch, kind="ptx", cache=False)
        assert words in result.data.decode()
        assert result.log.strip("\0\n ") == ""
    assert check_warnings(made.inspect("c", types)) == ""
