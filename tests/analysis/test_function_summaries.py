"""Ranges of the results of device functions, relative to the lengths of array arguments."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, kernel
from support.launching import run


def test_a_function_that_clamps_by_the_length_of_an_array_gives_no_negative_index():
    @kernel(signature="float32[::1]")
    def shifted(a):
        def kept(k):
            return min(max(k, 0), len(a) - 1)

        i = cuda.grid(1)
        a[kept(i - 5)] = 1

    assert "a[kept(i - 5, a, a_len)] = 1.0f;" in shifted.inspect("cuda")


def test_the_last_of_an_empty_view_is_before_the_first(target):
    @kernel
    def last(a, out):
        def end(part):
            return min(9, len(part) - 1)

        out[end(a[3:3])] = 1
        out[end(a)] = 2

    _, out = run(last, (1, 1), (np.zeros(4), np.zeros(10)), target)
    assert out.tolist() == [0, 0, 0, 2, 0, 0, 0, 0, 0, 1]


@device
def position(shift):
    """Return a coordinate, and one that may be negative."""
    i = cuda.threadIdx.x
    if i > 99:
        return 3, i - shift
    return i, i - 5


def test_elements_of_tuples_that_functions_return():
    @kernel(signature="float32[::1], float32[::1], int32")
    def moved(a, out, n):
        x, y = position(2)
        for _ in range(n):
            out[x] += a[y]
            y, x = position(5)
            out[x] += a[y]

    text = moved.inspect("cuda")
    assert "int x = position_1.item0;" in text
    assert "int y = position_1.item1;" in text
    # after the first iteration, x is negative, too; y never is in the last line
    assert text.count("[x < 0 ? x + out_len : x]") == 2
    assert "a[y < 0 ? y + a_len : y]" in text
    assert "+= a[y];" in text


def test_elements_of_tuples_have_the_range_of_all_returns(target):
    @kernel
    def moved(a, out):
        found = position(0)
        for k in range(3):
            out[found[0], k] = a[found[1] + k]
            if k == 1:
                found = position(1)
                found = (found[0], found[1] - 1)

    a, out = np.arange(20), np.zeros((8, 3), int)
    _, out = run(moved, (1, 8), (a, out), target)
    shifted = np.arange(8) - 5
    expected = [a[shifted], a[shifted + 1], a[shifted + 1]]
    assert out.tolist() == np.transpose(expected).tolist()
