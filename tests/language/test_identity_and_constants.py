"""``is`` of bools and enumerations, tuples of constant arrays, and ``*t`` in calls of functions."""

from __future__ import annotations

import cmath
from enum import Enum, IntEnum

import numpy as np
import pytest

from pycu2c import CompileError, bool_, cuda, float64, kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.launching import run


class Color(Enum):
    RED = 1
    GREEN = 2


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@kernel
def identities(x, flags, flag, out):
    i = cuda.grid(1)
    out[i, 0] = (x[i] > 1) is True
    out[i, 1] = (x[i] > 1) is not False
    out[i, 2] = flag is True
    out[i, 3] = True is flag
    out[i, 4] = x[i] is True
    out[i, 5] = Color.RED is Color.RED
    out[i, 6] = Color.RED is not Color["GREEN"]
    out[i, 7] = bool(flags[i]) is True
    out[i, 8] = (flag is None) is False


@pytest.mark.parametrize("flag", [True, False])
def test_identity(flag: bool, target: str) -> None:
    x, flags = np.array([1.0, 2.0]), np.array([True, False])
    (*_, result) = run(identities, (1, 2), [x, flags, flag, np.zeros((2, 9), bool)], target)
    expected = [
        [g, g, flag, flag, False, True, True, bool(f), True]
        for g, f in zip((False, True), flags, strict=True)
    ]
    assert result.tolist() == expected


def test_identity_of_other_values() -> None:
    @kernel
    def of_numpy_bools(flags, out):
        out[0] = flags[0] is True

    @kernel
    def of_numbers(out):
        out[0] = Level.LOW is Level.HIGH

    with pytest.raises(CompileError, match="compare values with `==`"):
        of_numpy_bools.inspect("c", (bool_[::1], float64[::1]))
    with pytest.raises(CompileError, match="compare values with `==`"):
        of_numbers.inspect("c", (float64[::1],))


TABLES = (np.array([1.0, 2.0, 3.0]), np.arange(6, dtype=np.int16).reshape(2, 3)[::-1], 4)
NESTED = ((np.array([5, 6], np.int8), 7), "text")


@kernel
def of_tables(out):
    for k, table in enumerate(cuda.literal_unroll(TABLES[:2])):
        out[k] = np.sum(table) + table.size
    i = cuda.grid(1)
    out[2] = TABLES[1][i, 2] + TABLES[2] + NESTED[0][0][i + 1] + NESTED[0][1]


def test_tuples_of_constant_arrays(target: str) -> None:
    (result,) = run(of_tables, (1, 1), [np.zeros(3)], target)
    assert result.tolist() == [9, 21, 5 + 4 + 6 + 7]


EMPTY = (np.zeros(0, np.float32), np.zeros((0, 3), np.complex64), np.zeros(0, cuda.float2.numpy))


@kernel
def of_empty_arrays(out):
    i = cuda.grid(1)
    out[0] = len(EMPTY[0]) + 10 * EMPTY[1].shape[1] + np.count_nonzero(EMPTY[1])
    if i < EMPTY[0].size:
        out[1] = EMPTY[0][i] + EMPTY[2][i].x


def test_empty_constant_arrays(target: str) -> None:
    (result,) = run(of_empty_arrays, (1, 1), [np.zeros(2)], target)
    assert result.tolist() == [30, 0]
    text = of_empty_arrays.inspect("cuda", (float64[::1],))
    assert nvrtc.compile(text, "of_empty_arrays", "sm_90", cache=False).log.strip("\0\n ") == ""


@kernel
def unpacked(z, out):
    i = cuda.grid(1)
    pair = (i, 3)
    w = complex(*cmath.polar(z[i]))
    out[i] = w.real + 10 * w.imag + 100 * max(*pair, *range(2)) + 1000 * pow(*pair)


def test_unpacked_arguments_of_functions(target: str) -> None:
    z = np.array([1 + 1j, -2j])
    (_, result) = run(unpacked, (1, 2), [z, np.zeros(2)], target)
    polar = [cmath.polar(value) for value in z]
    expected = [r + 10 * p + 100 * 3 + 1000 * i**3 for i, (r, p) in enumerate(polar)]
    np.testing.assert_allclose(result, expected, rtol=1e-12)
