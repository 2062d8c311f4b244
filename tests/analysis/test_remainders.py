"""``(i + 1) % n`` of an index below n compiles without a division where that is proved equal."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import cuda, kernel
from support.launching import run


@kernel
def neighbours(out, n):
    i = cuda.grid(1)
    if i < n and i < len(out):
        out[i, 0] = (i + 1) % n
        out[i, 1] = (i - 1) % n
        out[i, 2] = i % n
        out[i, 3] = (n - i) % n
        out[i, 4] = (2 * i) % n


@kernel
def further(out, n):
    """Two beyond may be more than one turn, of one or two elements."""
    i = cuda.grid(1)
    if i < n and i < len(out):
        out[i, 0] = (i + 2) % n
        out[i, 1] = (i - 2) % n
        out[i, 2] = (i + 1) % (n - 1)
        out[i, 3] = (i + n) % n
        out[i, 4] = (i - n - 1) % n


@kernel
def around(out, n):
    for i in range(n):
        x = out[i, 1] % np.int32(7)
        out[i, 0] = (x + np.int32(1)) % np.int32(7)
        out[i, 1] = (x - np.int32(7)) % np.int32(7)
        out[i, 2] = (x - np.int32(8)) % np.int32(7)
        out[i, 3] = (x * np.int32(2)) % np.int32(7)
        while (x + np.int32(1)) % np.int32(5) != 0:
            x = (x + np.int32(1)) % np.int32(5)
        out[i, 4] = x


@pytest.mark.parametrize("n", [1, 2, 3, 50])
@pytest.mark.parametrize("k", [neighbours, further, around], ids=lambda k: k.name)
def test_remainders_are_those_of_python(k, n, target):
    rows = np.random.default_rng(n).integers(-99, 99, (50, 5)).astype(np.int32)
    launch = (1, 1) if k is around else (2, 32)
    expected = run(k, launch, (rows, n), "python")[0]
    assert run(k, launch, (rows, n), target)[0].tolist() == expected.tolist()


def in_c(k):
    return k.inspect("c", "int32[:, ::1], int")


def test_one_wrap_needs_no_division():
    text = in_c(neighbours)
    assert text.count(" % n") == 1  # of 2 * i
    assert "mod_i64" not in text
    assert "at < n ? at : at - n" in text


def test_a_division_stays_if_it_may_wrap_several_times():
    assert in_c(further).count("mod_i64(") + in_c(further).count("% n") >= 4
