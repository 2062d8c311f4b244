"""Order of thread axes on the CPU: that of the memory accesses, unless threads are ordered."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pycu2c import cuda, float32, kernel
from support.launching import run

M = float32[:, ::1]
C = float32[:, :, ::1]


@kernel
def rows_first(out, a):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        out[i, j] = a[i, j] + a[i, (j + 1) % a.shape[1]]


@kernel
def columns_first(out, a):
    j, i = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        out[i, j] = a[i, j] + a[i, (j + 1) % a.shape[1]]


@kernel
def cube(out, a):
    i, j, k = cuda.grid(3)
    if i < a.shape[0] and j < a.shape[1] and k < a.shape[2]:
        out[i, j, k] += a[i, j, k] * 2


@kernel
def turned_by_x(out, a):
    j, i = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        out[j, i] = a[i, j]


@kernel
def turned_by_y(out, a):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        out[j, i] = a[i, j]


@kernel
def through_shared(out, a):
    tile = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.grid(2)
    kept = float32(0)
    if i < a.shape[0] and j < a.shape[1]:
        kept = tile[tx, ty] = a[i, j]
    cuda.syncthreads()
    if i < a.shape[0] and j < a.shape[1]:
        out[i, j] = tile[tx, ty ^ 1] + kept


@kernel
def product(out, a):
    """As numba's documentation had it: x is the row."""
    left = cuda.shared.array((8, 8), float32)
    right = cuda.shared.array((8, 8), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for i in range(a.shape[1] // 8):
        left[tx, ty] = a[x, ty + i * 8]
        right[tx, ty] = a[tx + i * 8, y]
        cuda.syncthreads()
        for j in range(8):
            total += left[tx, j] * right[j, ty]
        cuda.syncthreads()
    out[x, y] = total


@kernel
def numbered(out, a):
    """Slots in an order of their own beside numbers of threads."""
    i, j = cuda.grid(2)
    kept = a[i, j]
    t = cuda.threadIdx.y * 8 + cuda.threadIdx.x
    for _ in range(2):
        cuda.syncthreads()
        kept += t
    cuda.syncthreads()
    out[i, j] = kept


@kernel
def given_away(out, a):
    i, j = cuda.grid(2)
    kept = a[i, j]
    given = cuda.shfl_xor_sync(0xFFFFFFFF, kept, 1)
    cuda.syncthreads()
    out[i, j] = given + kept


@kernel
def counted(out, a):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        out[i, j] = cuda.atomic.add(out, (0, 0), a[i, j])


def loops(k, types, block) -> list[str]:
    """The variables of the loops over threads, outermost first."""
    text = k.inspect("c", types, block)
    return [v for v in re.findall(r"for \(int64_t (\w+) = ", text) if v != "block"]


@pytest.mark.parametrize("grid", [(9, 5), (3, 40), (40, 3)], ids=str)
@pytest.mark.parametrize("block", [(8, 8), (32, 2), (1, 16), (16, 1)], ids=str)
@pytest.mark.parametrize("k", [rows_first, columns_first], ids=lambda k: k.name)
def test_rows_of_any_shape(k, grid, block) -> None:
    a = np.random.default_rng(1).random((70, 77), np.float32)
    arguments = np.zeros_like(a), a
    expected = run(k, (grid, block), arguments, "python")[0]
    assert np.array_equal(run(k, (grid, block), arguments, "cpu")[0], expected)


@pytest.mark.parametrize("block", [(4, 4, 4), (1, 1, 32), (2, 16, 1)], ids=str)
def test_three_axes(block, target: str) -> None:
    a = np.random.default_rng(1).random((5, 9, 33), np.float32)
    grid = tuple(-(-length // b) for length, b in zip(a.shape, block))
    out = np.ones_like(a)
    assert np.array_equal(run(cube, (grid, block), (out, a), target)[0], 1 + 2 * a)


@pytest.mark.parametrize("k", [turned_by_x, turned_by_y], ids=lambda k: k.name)
@pytest.mark.parametrize("block", [(8, 8), (32, 2), (64, 1), (1, 16)], ids=str)
def test_transposes(k, block, target: str) -> None:
    a = np.random.default_rng(1).random((33, 50), np.float32)
    grid = -(-50 // block[0]), -(-50 // block[1])
    assert np.array_equal(run(k, (grid, block), (a.T.copy(), a), target)[0], a.T)


def test_loops_with_barriers(target: str) -> None:
    a = np.random.default_rng(1).random((24, 16), np.float32)
    pairs = a.reshape(24, 8, 2)[:, :, ::-1].reshape(24, 16)
    out = run(through_shared, ((3, 2), (8, 8)), (a * 0, a), target)[0]
    assert np.array_equal(out, pairs + a)


@pytest.mark.parametrize("k", [product, numbered, given_away], ids=lambda k: k.name)
def test_what_threads_keep(k, target: str) -> None:
    a = np.random.default_rng(1).random((16, 16), np.float32)
    launch = (2, 2), (8, 8)
    expected = run(k, launch, (a * 0, a), "python")[0]
    np.testing.assert_allclose(run(k, launch, (a * 0, a), target)[0], expected, rtol=1e-5)


def test_contiguous_axes_are_innermost() -> None:
    assert loops(rows_first, (M, M), (16, 16)) == loops(columns_first, (M, M), (16, 16))
    assert loops(rows_first, (M, M), (16, 16)) == ["i", "j"]
    assert loops(cube, (C, C), (8, 4, 4)) == ["i", "j", "k"]
    assert "gridDim.y + 1) * gridDim.y" in rows_first.inspect("c", (M, M), (16, 16))


def test_arrays_of_any_strides_are_assumed_row_major() -> None:
    strided = float32[:, :]
    assert loops(rows_first, (strided, strided), (16, 16)) == ["i", "j"]


def test_transposes_run_in_blocks_and_store_in_order() -> None:
    assert loops(turned_by_x, (M, M), (16, 16)) == ["tx", "ty"]
    assert loops(turned_by_y, (M, M), (16, 16)) == ["ty", "tx"]
    for k in (turned_by_x, turned_by_y):
        assert "first_x" not in k.inspect("c", (M, M), (16, 16))


def test_loops_between_barriers() -> None:
    assert loops(through_shared, (M, M), (8, 8))[-2:] == ["tx", "ty"]


def test_few_threads_are_no_inner_loop_where_rows_are_blocks() -> None:
    assert loops(through_shared, (M, M), (32, 2))[-2:] == ["ty", "tx"]


def test_what_has_an_order_keeps_it() -> None:
    assert loops(counted, (M, M), (16, 16)) == ["ty", "tx"]
