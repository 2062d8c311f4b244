"""Ranges of the results of device functions, relative to the lengths of array arguments."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, kernel
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
