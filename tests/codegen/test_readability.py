"""Readability of the generated text: what is not written out."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, kernel
from support.launching import run


@kernel
def blurred(a, out):
    i = cuda.grid(1)
    for step in (-1, 0, 1):
        out[i] += a[i + 1 + step]


def test_a_loop_over_offsets_is_idiomatic_c():
    text = blurred.inspect("cuda", "float32[::1], float32[::1]")
    assert "+ -1" not in text
    assert "+ 0]" not in text
    assert "out[i] += a[i + 1 - 1];" in text
    assert "out[i] += a[i + 1];" in text


@kernel
def small(a, out):
    i = cuda.grid(1)
    for step in (-128, -1, 0, 1):
        out[i] += a[i] + np.int8(step) - np.int8(0)


def test_numbers_of_8_bits_wrap_as_before(target):
    a = np.array([127, -128, -1, 0], np.int8)
    _, result = run(small, (1, 4), (a, np.zeros(4, np.int64)), target)
    with np.errstate(over="ignore"):
        sums = [a + np.int8(step) for step in (-128, -1, 0, 1)]
    assert result.tolist() == np.sum(sums, axis=0, dtype=np.int64).tolist()


def test_and_of_bools_is_one_expression():
    @kernel("bool[::1], int32[::1], bool[::1], int32[::1]")
    def k(out, a, b, sums):
        i = cuda.grid(1)
        out[i] = a[i] == 3 or (a[i] == 2 and b[i])
        sums[i] = (b[i] or a[i] > 7) + b[i] + (a[i] == 3 and a[i] > 2) + 0

    assert "out[i] = a[i] == 3 || (a[i] == 2 && b[i]);" in k.inspect("cuda")
    a, b = np.array([1, 2, 2, 3], np.int32), np.array([True, False, True, False])
    for backend in ("cpu", "python"):
        out, sums = np.zeros(4, bool), np.zeros(4, np.int32)
        kernel(k.signature, backend=backend)(k.python)[1, 4](out, a, b, sums)
        assert out.tolist() == [False, False, True, True]
        assert sums.tolist() == [1, 0, 1, 1]  # of numpy's bools the first sum is one
