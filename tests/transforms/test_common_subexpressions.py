"""Repeated indices are computed once, where no variable of them changes in between."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, kernel
from support.launching import run


@kernel
def row_of_colors(u, out):
    j, i = cuda.grid(2)
    rows, columns = u.shape[0], u.shape[1]
    if i < rows and j < columns:
        out[i, j, 0] = u[i, j, 0] + u[i, j, 2]
        out[i, j, 1] = u[i, j, 1] - u[i, j, 2]
        out[i, j, 2] = u[i, j, 0]


def colors() -> np.ndarray:
    return np.arange(24, dtype=np.float32).reshape(2, 4, 3)


def test_an_index_has_a_variable(target: str) -> None:
    text = row_of_colors.inspect("cuda", "float32[:, :, ::1], float32[:, :, ::1]")
    assert "int at = (i * columns + j) * u_shape2;" in text
    assert "out[at_1 + 1] = u[at + 1] - u[at + 2];" in text
    u, out = run(row_of_colors, (1, (4, 2)), [colors(), np.zeros((2, 4, 3), np.float32)], target)
    red, green, blue = np.moveaxis(u, 2, 0)
    np.testing.assert_array_equal(out, np.stack([red + blue, green - blue, red], axis=2))


@kernel
def moving_rows(a, out):
    i = cuda.grid(1)
    j = i
    out[i, j % 3] = a[i * 4 + j * 2 + 1]
    j += 1
    out[i, j % 3] = a[i * 4 + j * 2 + 1]
    for k in range(2):
        out[i, 3] += a[i * 4 + j * 2 + 1] + a[i * 4 + j * 2 + 1]
        if k == 0:
            j = 0
    while a[i * 4 + j * 2 + 1] < 9:
        j += 1
        out[i, 4] = a[i * 4 + j * 2 + 1] + a[i * 4 + j * 2 + 1]
    out[i, 5] = a[i * 4 + j * 2 + 1]


def test_an_index_whose_variables_change_is_computed_again(target: str) -> None:
    arrays = [np.arange(20), np.zeros((2, 6), np.int64)]
    _, out = run(moving_rows, (1, 2), arrays, target)
    _, expected = run(moving_rows, (1, 2), arrays, "python")
    np.testing.assert_array_equal(out, expected)


@kernel
def equal_to_an_earlier_index(a, flags, out):
    i = cuda.grid(1)
    k = 0
    flags[k * 100 + 1] = 1
    if a[i] > 1:
        k = 5
    total = 0
    total = total * 100 + a[i]
    out[i] = total + k


def test_an_index_that_outlives_its_variables_keeps_its_value(target: str) -> None:
    """``total * 100`` has the value of the index ``k * 100``, for which ``k`` was 0."""
    arrays = [np.arange(4), np.zeros(2, np.int64), np.zeros(4, np.int64)]
    _, _, out = run(equal_to_an_earlier_index, (1, 4), arrays, target)
    assert out.tolist() == [0, 1, 7, 8]


@kernel
def guarded(a, b, n, out):
    i = cuda.grid(1)
    if i < 2:
        out[i] = a[i * n + i * 3 + 7] + a[i * n + i * 3 + 7]
    if i > 2:
        out[i] = b[i * n + i * 3 + 7] - a[i * n + i * 3 + 7]
    out[i] += b[i * n + i * 3 + 7] if i == 2 else 1


def test_an_index_is_not_computed_before_its_guard(target: str) -> None:
    text = guarded.inspect("cuda", "int64[::1], int64[::1], int64, int64[::1]")
    assert text.index("if (i < 2)") < text.index("i * n")
    a, b = np.arange(40), np.arange(40) ** 2
    *_, out = run(guarded, (1, 4), [a, b, np.int64(4), np.zeros(4, np.int64)], target)
    i = np.arange(4)
    at = i * 7 + 7
    expected = np.where(i < 2, 2 * a[at], np.where(i > 2, b[at] - a[at], 0))
    np.testing.assert_array_equal(out, expected + np.where(i == 2, b[at], 1))


@kernel
def through_memory(index, out):
    i = cuda.grid(1)
    out[index[2 * i + 1] * 10 + 5] = 1
    index[2 * i + 1] = 2
    out[index[2 * i + 1] * 10 + 5] = 3


def test_an_index_that_memory_has_is_read_again(target: str) -> None:
    _, out = run(through_memory, (1, 1), [np.arange(4), np.zeros(30, np.int64)], target)
    assert out.nonzero()[0].tolist() == [15, 25]


@kernel
def squares(x, y, out):
    i = cuda.grid(1)
    u, v = x[i], y[i]
    out[0, i] = 3 * (u + v) + (u + v) ** 2
    out[1, i] = 3 * (u + v) - (u + v) ** 2
    u = v
    out[2, i] = (u + v) ** 2


def test_bases_of_powers_are_shared(target: str) -> None:
    text = squares.inspect("cuda", "float32[::1], float32[::1], float32[:, ::1]")
    assert "3.0f * (u + v) - base * base;" in text
    assert text.count("float base") == 2
    x, y = np.float32([1, 2]), np.float32([3, -5])
    *_, out = run(squares, (1, 2), [x, y, np.zeros((3, 2), np.float32)], target)
    expected = [3 * (x + y) + (x + y) ** 2, 3 * (x + y) - (x + y) ** 2, (2 * y) ** 2]
    np.testing.assert_array_equal(out, expected)
