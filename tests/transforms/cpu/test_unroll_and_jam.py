"""Rows of threads that load the same values in an inner loop run four at a time."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import cuda, float32, int16, kernel
from support.launching import run

TILE = 8


def product(c, a, b):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    total = 0.0
    most = -1.0
    for step in range(a.shape[1] // TILE):
        tile_a[ty, tx] = a[y, step * TILE + tx]
        tile_b[ty, tx] = b[step * TILE + ty, x]
        cuda.syncthreads()
        for k in range(TILE):
            part = tile_a[ty, k] * tile_b[k, tx]
            total += part
            most = max(most, part)
        cuda.syncthreads()
    c[y, x] = total + most


def sums_of_columns(c, a):
    """Whole numbers that wrap, and an inner loop whose start all rows share."""
    part = cuda.shared.array((8, 24), int16)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    own = a[0, 0]
    own = a[ty, tx]
    part[ty, tx] = own
    cuda.syncthreads()
    for k in range(8):
        own += part[k, tx] * part[ty, k]
    cuda.syncthreads()
    c[ty, tx] = own


def text(function, signature: str, block: tuple[int, int]) -> str:
    return kernel(backend="cpu")(function).inspect("c", signature, block=block)


def test_a_product(target: str) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.random((16, 24), np.float32), rng.random((24, 8), np.float32)
    c = np.zeros((16, 8), np.float32)
    kernel(backend=target)(product)[(1, 2), (TILE, TILE)](c, a, b)
    greatest = (a[:, :, None] * b[None]).max(axis=1)
    np.testing.assert_allclose(c, a @ b + greatest, rtol=1e-5)


def test_numbers_that_wrap(target: str) -> None:
    a = np.random.default_rng(2).integers(-3000, 3000, (8, 24)).astype(np.int16)
    c = np.zeros_like(a)
    kernel(backend=target)(sums_of_columns)[1, (24, 8)](c, a)
    with np.errstate(over="ignore"):
        expected = a.copy()
        for k in range(8):
            expected += a[k] * a[:, k : k + 1]
    np.testing.assert_array_equal(c, expected)


SIGNATURE = "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])"


@pytest.mark.parametrize(("block", "joined"), [((8, 8), True), ((8, 6), False), ((64, 1), False)])
def test_block_shapes_that_are_jammed(block: tuple[int, int], joined: bool) -> None:
    assert ("ty_by_4" in text(product, SIGNATURE, block)) == joined


@kernel(fmad=False)
def of_every_other_row(c, a):
    tile = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(ty)
    for r in range(2):
        tile[ty, tx] = a[ty, tx] + r
        cuda.syncthreads()
        if ty % 2 == 0:
            for k in range(16):
                total += tile[0, k] * tile[k, tx] + tile[ty, tx]
        cuda.syncthreads()
    c[ty, tx] = total


def test_skipped_rows_are_unchanged() -> None:
    a = np.random.default_rng(4).random((16, 16), np.float32)
    arguments = (np.zeros_like(a), a)
    expected = run(of_every_other_row, (1, (16, 16)), arguments, "python")[0]
    assert np.array_equal(run(of_every_other_row, (1, (16, 16)), arguments, "cpu")[0], expected)


@kernel(fmad=False)
def of_variables_named_alike(c, a):
    """``t`` in the loop is a live range of its own, as is each row's."""
    part = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    t = tx * 2
    t = float32(t)
    own = a[ty, tx] + t
    for n in range(2):
        part[ty, tx] = own + n
        cuda.syncthreads()
        for k in range(8):
            t = own
            own = part[ty, k] * part[k, tx] - t
        cuda.syncthreads()
        t = ty
        own += t
    c[ty, tx] = own


def test_jammed_variables_have_unique_names(target: str) -> None:
    a = np.random.default_rng(4).integers(-2, 3, (8, 8)).astype(np.float32)
    arguments = (np.zeros_like(a), a)
    result, expected = (
        run(of_variables_named_alike, (1, (8, 8)), arguments, t)[0] for t in (target, "python")
    )
    np.testing.assert_array_equal(result, expected)
