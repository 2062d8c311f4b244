"""A thread's tile in a local array is vectorized, and is kept in registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, float32, float64, kernel

STEP = 8  # of a tile of the factors along the inner axis


def make_product(rows: int, columns: int, dtype: Any, *, striped: bool) -> Callable[..., None]:
    """Return a kernel of 4 x 4 threads, each with a tile of ``rows`` by ``columns`` sums."""
    height, width = 4 * rows, 4 * columns
    first, stride = (1, 4) if striped else (columns, 1)  # columns of threads, of their elements

    def product(c, a, b):
        tile_a = cuda.shared.array((height, STEP), dtype)
        tile_b = cuda.shared.array((STEP, width), dtype)
        total = cuda.local.array((rows, columns), dtype)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        row, column = cuda.blockIdx.y * height, cuda.blockIdx.x * width
        for m in range(rows):
            for n in range(columns):
                total[m, n] = 1
        for start in range(0, a.shape[1], STEP):
            for i in range(ty * 4 + tx, height * STEP, 16):
                tile_a[i // STEP, i % STEP] = a[row + i // STEP, start + i % STEP]
            for i in range(ty * 4 + tx, STEP * width, 16):
                tile_b[i // width, i % width] = b[start + i // width, column + i % width]
            cuda.syncthreads()
            for k in range(STEP):
                for m in range(rows):
                    for n in range(columns):
                        product_of_two = (
                            tile_a[ty * rows + m, k] * tile_b[k, tx * first + n * stride]
                        )
                        total[m, n] += product_of_two
            cuda.syncthreads()
        for m in range(rows):
            for n in range(columns):
                c[row + ty * rows + m, column + tx * first + n * stride] = total[m, n]

    return product


@pytest.mark.parametrize("striped", [False, True])
@pytest.mark.parametrize("dtype", [float32, float64])
@pytest.mark.parametrize(("rows", "columns"), [(1, 4), (3, 5), (8, 8)])
def test_products(target: str, rows: int, columns: int, dtype: Any, striped: bool) -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(-4, 5, (8 * rows, 24)).astype(dtype.numpy)
    b = rng.integers(-4, 5, (24, 8 * columns)).astype(dtype.numpy)
    c = np.zeros((len(a), b.shape[1]), dtype.numpy)
    kernel(backend=target)(make_product(rows, columns, dtype, striped=striped))[(2, 2), (4, 4)](
        c, a, b
    )
    np.testing.assert_array_equal(c, a @ b + 1)


def recurrence(out, x):
    """Each sum depends on its neighbor, which the loop has changed."""
    sums, shifted = cuda.local.array((2, 8), float32), cuda.local.array(8, float32)
    flat = sums.ravel()
    for i in range(16):
        flat[i] = cuda.threadIdx.x
    cuda.syncthreads()
    for j in range(len(x)):
        for n in range(8):
            shifted[n] = sums[1, n] + x[j]
        for m in range(2):
            for n in range(8):
                sums[m, n] = sums[m, n - 1 if n > 0 else 7] + shifted[7 - n]
        for i in range(16):
            flat[i] += 1
    cuda.syncthreads()
    for i in range(16):
        out[cuda.threadIdx.x, i] = flat[i]


def test_dependent_elements_are_computed_in_order(target: str) -> None:
    x = np.arange(4, dtype=np.float32)
    out = np.zeros((8, 16), np.float32)
    kernel(backend=target)(recurrence)[1, 8](out, x)
    for thread in range(8):
        sums = np.full((2, 8), thread, np.float32)
        for value in x:
            shifted = sums[1] + value
            for m in range(2):
                for n in range(8):
                    sums[m, n] = sums[m, n - 1] + shifted[7 - n]
            sums += 1
        np.testing.assert_array_equal(out[thread], sums.ravel())


def text(rows: int, columns: int, *, striped: bool) -> str:
    function = make_product(rows, columns, float32, striped=striped)
    signature = ", ".join(["float32[:, ::1]"] * 3)
    return kernel(backend="cpu")(function).inspect("c", signature, block=(4, 4))


def test_shared_arrays_are_not_on_the_stack_beside_a_tile() -> None:
    assert "static _Thread_local float memory[32][8];" in text(8, 8, striped=False)


def test_threads_that_load_adjacent_elements_are_vectorized() -> None:
    assert "_Thread_local" not in text(8, 8, striped=True)


def test_rows_shorter_than_a_vector_are_not_vectorized() -> None:
    assert "_Thread_local" not in text(8, 3, striped=False)
