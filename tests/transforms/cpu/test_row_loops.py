"""Loops in which each thread walks down a column: all threads run one iteration after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, kernel

ROWS, COLUMNS = 7, 70


def launched(function: Any, target: str, block: Any = 32) -> tuple[np.ndarray, np.ndarray]:
    """Return the input and the output."""
    x = np.random.default_rng(1).random((ROWS, COLUMNS))
    out = np.zeros((ROWS, COLUMNS))
    grid = (3, 3) if isinstance(block, tuple) else 3
    kernel(backend=target)(function)[grid, block](x, out)
    return x, out


def solve(x, out):
    """The Thomas algorithm: two loops, one of them downwards."""
    s = cuda.grid(1)
    if s < x.shape[1]:
        out[0, s] = x[0, s]
        for i in range(1, x.shape[0]):
            scale = 1 / (1 + x[i, s] * out[i - 1, s])
            out[i, s] = (x[i, s] - out[i - 1, s]) * scale
        for i in range(x.shape[0] - 2, -1, -1):
            out[i, s] -= x[i, s] * out[i + 1, s]


def unguarded(x, out):
    t = cuda.threadIdx.x
    for i in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
        if t > 4:
            out[i, t] = x[i, t]


def steps(x, out):
    """Rows that another loop visits again."""
    s = cuda.grid(1)
    if s < x.shape[1]:
        for _ in range(3):
            for i in range(1, x.shape[0]):
                out[i, s] = out[i - 1, s] * 0.5 + x[i, s]


def after_a_return(x, out):
    s = cuda.grid(1)
    if s >= x.shape[1] or s % 5 == 3:
        return
    for i in range(1, x.shape[0]):
        out[i, s] = x[i - 1, s] + out[i - 1, s]
    out[0, s] = 1


def in_two_dimensions(x, out):
    s, r = cuda.grid(2)
    if s < x.shape[1] and r < 2:
        for i in range(r, x.shape[0], 2):
            out[i, s] += x[i, s] * (r + 1)


def test_a_solver(target: str) -> None:
    x, out = launched(solve, target)
    expected = np.zeros_like(x)
    expected[0] = x[0]
    for i in range(1, ROWS):
        expected[i] = (x[i] - expected[i - 1]) * (1 / (1 + x[i] * expected[i - 1]))
    for i in range(ROWS - 2, -1, -1):
        expected[i] -= x[i] * expected[i + 1]
    assert np.allclose(out, expected, rtol=1e-12)


def test_rows_without_a_guard(target: str) -> None:
    x, out = launched(unguarded, target)
    assert (out[:, 5:32] == x[:, 5:32]).all()
    assert not out[:, :5].any()


def test_rows_are_visited_again(target: str) -> None:
    x, out = launched(steps, target)
    expected = np.zeros_like(x)
    for _ in range(3):
        for i in range(1, ROWS):
            expected[i] = expected[i - 1] * 0.5 + x[i]
    assert np.allclose(out, expected, rtol=1e-12)


def test_some_threads_have_returned(target: str) -> None:
    x, out = launched(after_a_return, target)
    expected = np.zeros_like(x)
    expected[1:] = np.cumsum(x[:-1], axis=0)
    expected[0] = 1
    expected[:, 3::5] = 0
    assert np.allclose(out, expected, rtol=1e-12)


def test_blocks_of_two_dimensions(target: str) -> None:
    x, out = launched(in_two_dimensions, target, block=(32, 4))
    factors = 1 + np.arange(ROWS) % 2
    assert (out == x * factors[:, None]).all()


def column_sum(x, out):
    s = cuda.grid(1)
    if s < x.shape[1]:
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i, s]
            out[i, s] = total


def value_for_later(x, out):
    s = cuda.grid(1)
    if s < x.shape[1]:
        first = x[0, s]
        for i in range(x.shape[0]):
            out[i, s] = x[i, s] * 2
        out[0, s] = first


def own_rows(x, out):
    s = cuda.grid(1)
    if s < x.shape[0]:
        for i in range(x.shape[1]):
            out[s, i] = x[s, i] * 2


def own_trip_counts(x, out):
    s = cuda.grid(1)
    if s < x.shape[1]:
        for i in range(s % x.shape[0]):
            out[i, s] = x[i, s]


def one_element(x, out):
    s = cuda.grid(1)
    if s < x.shape[1]:
        for i in range(x.shape[0]):
            out[0, s] += x[i, s]


@pytest.mark.parametrize(
    ("function", "is_outside"),
    [
        (solve, True),
        (column_sum, False),
        (value_for_later, False),
        (own_rows, False),
        (own_trip_counts, False),
        (one_element, False),
    ],
)
def test_the_loop_over_rows_is_outside(function: Any, is_outside: bool) -> None:
    """But not with a variable that keeps a value: it would be an array over the threads."""
    signature = "void(float64[:, ::1], float64[:, ::1])"
    text = kernel(signature, block=32)(function).inspect("c")
    loops = [line.strip() for line in text.splitlines() if line.strip().startswith("for (")]
    over_rows = next(k for k, line in enumerate(loops) if "int64_t i = " in line)
    assert any(" tx = " in line for line in loops[over_rows + 1 :]) == is_outside
