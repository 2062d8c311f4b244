"""Loops that C compilers must not vectorize: in-order sums of short segments."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import cuda, float32, int32, kernel
from pycu2c.kernels.kernel import Kernel
from support.launching import run

SCALAR = "#pragma omp simd if(0)\n"


@kernel
def sparse_product(starts, columns, values, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = float32(0)
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


@kernel
def sum_of_columns(starts, columns, values, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = int32(0)
        for k in range(starts[row], starts[row + 1]):
            total += columns[k]
        y[row] = total


@kernel
def first_of_rows(starts, columns, values, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = float32(0)
        for k in range(8):
            total += values[k] * x[row]
        y[row] = total


@kernel
def last_of_segment(starts, columns, values, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = float32(0)
        for k in range(starts[row], starts[row + 1]):
            total = values[k]
        y[row] = total


@pytest.mark.parametrize(
    ("tested", "is_scalar"),
    [
        (sparse_product, True),
        (sum_of_columns, False),
        (first_of_rows, False),
        (last_of_segment, False),
    ],
)
def test_in_order_sums_of_segments_are_not_vectorized(tested: Kernel, is_scalar: bool) -> None:
    signature = "void(int32[::1], int32[::1], float32[::1], float32[::1], float32[::1])"
    assert (SCALAR in tested.inspect("c", signature)) is is_scalar
    assert SCALAR not in tested.inspect("cuda", signature)


def test_a_sparse_product(target: str) -> None:
    starts, columns = np.array([0, 2, 2, 5], np.int32), np.array([1, 0, 2, 1, 2], np.int32)
    values, x = np.arange(1, 6, dtype=np.float32), np.array([1, 10, 100], np.float32)
    arguments = [starts, columns, values, x, np.ones(3, np.float32)]
    assert run(sparse_product, (1, 4), arguments, target)[4].tolist() == [12, 0, 840]
