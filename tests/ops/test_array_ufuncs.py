"""numpy's functions on whole arrays: the calling thread computes all elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, bool_, cuda, device, float32, float64, int32, kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.launching import run


@kernel
def unary(x, out, ints):
    np.sin(x, out[0])
    np.sqrt(x, out=out[1])
    np.negative(x, out[2])
    np.square(x[::-1], out[3])
    np.floor(x, out[4])
    np.abs(x, out[5])
    np.exp2(ints, out[6])
    np.absolute(ints, ints)


def test_of_one_operand(target: str) -> None:
    x = np.linspace(0.5, 4, 7).astype(np.float32)
    ints = np.arange(-3, 4, dtype=np.int32)
    (_, result, whole) = run(unary, (1, 1), [x, np.zeros((7, 7), np.float32), ints], target)
    rows = [np.sin(x), np.sqrt(x), -x, (x * x)[::-1], np.floor(x), x, np.exp2(ints)]
    np.testing.assert_allclose(result, np.stack(rows), rtol=1e-6)
    assert whole.tolist() == [3, 2, 1, 0, 1, 2, 3]


@kernel
def binary(a, b, m, out, flags, whole):
    np.add(a, b, out[0])
    np.multiply(a, 2, out[1])
    np.subtract(m[1], a, out[2])
    np.maximum(1.5, b, out=out[3])
    np.arctan2(a, b, out[4])
    np.less(a, b, flags)
    np.logical_or(flags, flags[::-1], whole)
    np.power(a, 2, out[5])
    np.add(out[0], out[1], out[0])
    np.floor_divide(whole, 2, whole)


def test_of_two_operands(target: str) -> None:
    a, b = (np.array(v, np.float32) for v in ([1, 5, 3, 2], [4, 2, 3, 0.5]))
    m = np.arange(8, dtype=np.float64).reshape(2, 4)
    arguments = [a, b, m, np.zeros((6, 4)), np.zeros(4, np.bool_), np.zeros(4, np.int8)]
    (_, _, _, result, flags, whole) = run(binary, (1, 1), arguments, target)
    expected = [a + b + a * 2, a * 2, m[1] - a, np.maximum(1.5, b), np.arctan2(a, b), a**2]
    np.testing.assert_allclose(result, np.stack(expected), rtol=1e-6)
    assert flags.tolist() == [True, False, False, False]
    assert whole.tolist() == [0, 0, 0, 0]


@kernel
def two_axes(a, row, b, out):
    np.add(a, row, out)
    np.multiply(out, b, out)
    np.cos(out.T, out.T)


def test_of_several_axes(target: str) -> None:
    """A row goes to all rows, as numpy spreads it; views of any strides are fine."""
    rng = np.random.default_rng(3)
    a, row = rng.random((3, 5)).astype(np.float32), rng.random(5).astype(np.float32)
    b = rng.random((6, 10))[::2, ::2]
    (_, _, _, result) = run(two_axes, (1, 1), [a, row, b, np.zeros((3, 5))], target)
    np.testing.assert_allclose(result, np.cos((a + row) * b), rtol=1e-6)


@device
def twice_tangent(x, out):
    np.add(np.tan(x, out), out, out)


@kernel
def by_threads(x, out):
    """Each thread its own row; what a call gives is the array of results."""
    i = cuda.threadIdx.x
    local = cuda.local.array(4, float32)
    twice_tangent(x[i], out[i])
    np.exp(x[i], local)
    np.add(out[i], local, out[i])


def test_rows_of_threads(target: str) -> None:
    x = np.random.default_rng(4).random((8, 4)).astype(np.float32)
    (_, result) = run(by_threads, (1, 8), [x, np.zeros((8, 4), np.float32)], target)
    np.testing.assert_allclose(result, 2 * np.tan(x) + np.exp(x), rtol=1e-5)


@kernel
def two_results(x, y, quotients, rests):
    np.divmod(x, y, quotients, rests)
    np.divmod(quotients, 2, out=(quotients, x))


@kernel
def other_pairs(x, fraction, whole, mantissa, exponent):
    np.modf(x, fraction, whole)
    np.frexp(x, out=(mantissa, exponent))
    np.negative(fraction[::-1], fraction[::-1])  # the same elements in the same order


def test_fractions_and_exponents(target: str) -> None:
    x = np.array([0.75, -2.5, 3, 1e10], np.float64)
    arguments = [x, np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4, np.int32)]
    (_, fraction, whole, mantissa, exponent) = run(other_pairs, (1, 1), arguments, target)
    assert (-fraction).tolist() == np.modf(x)[0].tolist()
    assert whole.tolist() == np.modf(x)[1].tolist()
    assert mantissa.tolist() == np.frexp(x)[0].tolist()
    assert exponent.tolist() == np.frexp(x)[1].tolist()


def test_two_results(target: str) -> None:
    x, y = np.arange(-4, 4, dtype=np.int64), np.array([3] * 8, np.int64)
    arguments = [x, y, np.zeros(8, np.int64), np.zeros(8, np.int64)]
    (left, _, quotients, rests) = run(two_results, (1, 1), arguments, target)
    assert rests.tolist() == (x % 3).tolist()
    assert quotients.tolist() == (x // 3 // 2).tolist()
    assert left.tolist() == (x // 3 % 2).tolist()


def test_compilers_take_the_text() -> None:
    types = (float32[::1], float32[::1], float64[:, ::1], float64[:, ::1], bool_[::1], int32[::1])
    assert check_warnings(binary.inspect("c", types)) == ""
    made = nvrtc.compile(binary.inspect("cuda", types), "binary", "sm_90", cache=False)
    assert made.log.strip("\0\n ") == ""


def wrong(function: Any, *types: Any) -> str:
    with pytest.raises(CompileError) as raised:
        kernel(function).inspect("c", types)
    return str(raised.value)


def test_rejected_uses() -> None:
    def to_a_number(x):
        np.sin(x, x[0])

    def to_ints(x, n):
        np.sqrt(n, n)

    def too_many(x):
        np.sin(x, x, x)

    def with_where(x):
        np.sin(x, out=x, where=True)

    def overlapping(x):
        np.add(x[2:], x[:-2], x[1:-1])

    def of_other_lengths(x):
        t = cuda.local.array(4, float32)
        u = cuda.local.array(5, float32)
        np.sin(t, u)

    assert "this is `float32`, not an array" in wrong(to_a_number, float32[::1])
    text = wrong(to_ints, float32[::1], int32[::1])
    assert "the result of np.sqrt is `float` here, and the array has `int32`" in text
    assert "np.sin takes one operand, and out" in wrong(too_many, float32[::1])
    assert "kernels do not support this" in wrong(with_where, float32[::1])
    assert "in another order" in wrong(overlapping, float32[::1])
    assert "have the shape (5,)" in wrong(of_other_lengths, float32[::1])
