"""Rounding to decimal digits, as Python and as NumPy do, and to bfloat16."""

from __future__ import annotations

import math
import random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pycu2c import cuda, kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.launching import run

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(np.float16), BFLOAT16, np.dtype(np.float32), np.dtype(np.float64)]
NAMES = [dtype.name for dtype in FLOATS]


# ---- Python floats -----------------------------------------------------------------------------


@kernel
def rounded_as_by_python(x, digits, out):
    i = cuda.grid(1)
    if i < len(x):
        out[0, i] = round(float(x[i]), digits[i])
        out[1, i] = round(float(x[i]), 2)
        out[2, i] = np.round(float(x[i]), 2)


def python_floats() -> list[tuple[float, int]]:
    """Return numbers with digits: near ties, of all magnitudes, and special ones."""
    rng = random.Random(7)
    listed = [(2.675, 2), (5.015, 2), (1.5, 400), (1.5, -400), (-0.04, 1), (1e300, 10), (1e22, -22)]
    listed += [(2.0**52 + 0.5, 0), (2.0**52 - 0.5, 0), (0.5, 0), (2.5, 0), (-1.5, 0), (125.0, -1)]
    listed += [(x, n) for x in (0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324) for n in (-2, 0, 3)]
    listed += [(rng.randint(-(10**6), 10**6) / 2 ** rng.randint(0, 9), n) for n in range(-3, 9)]
    for _ in range(1000):
        exponent = rng.randint(-290, 290)
        digits = rng.randint(-2, 19)
        listed.append((rng.uniform(-10, 10) * 10.0**exponent, digits - exponent))
        listed.append((rng.randint(-(10**9), 10**9) / 10 ** abs(digits), digits - 1))
    return listed


def test_python_floats_are_rounded_as_by_python(target: str) -> None:
    numbers = python_floats()
    x, digits = np.array([x for x, _ in numbers]), np.array([n for _, n in numbers])
    arguments = (x, digits, np.zeros((3, len(x))))
    result = run(rounded_as_by_python, (len(x) // 64 + 1, 64), arguments, target)[2]
    with np.errstate(all="ignore"):
        expected = [[round(x, n) for x, n in numbers], [round(x, 2) for x, _ in numbers]]
        np.testing.assert_array_equal(result, [*expected, np.round(x, 2)])
    np.testing.assert_array_equal(np.signbit(result[0]), np.signbit(expected[0]))


def test_python_floats_in_float32(target: str) -> None:
    @kernel(backend=target, weak_float="float32")
    def rounded(x, out):
        out[cuda.grid(1)] = round(float(x[cuda.grid(1)]), 2)

    x = np.array([2.675, 1.005, 1.115, 1e9, -0.001, 3e38, 0.125, 0.375], np.float32)
    out = np.zeros(len(x), np.float32)
    rounded[1, len(x)](x, out)
    expected = np.array([round(number, 2) for number in x.tolist()], np.float32)
    np.testing.assert_array_equal(out, expected)


# ---- NumPy numbers -----------------------------------------------------------------------------


@kernel
def rounded_as_by_numpy(x, digits, out):
    i = cuda.grid(1)
    if i < len(x):
        for k in range(len(digits)):
            out[k, i] = round(x[i], digits[k])
        out[len(digits), i] = np.round(x[i], 1)


@pytest.mark.parametrize("dtype", FLOATS, ids=NAMES)
def test_numpy_floats_are_rounded_as_by_numpy(dtype: Any, target: str) -> None:
    rng = np.random.default_rng(3)
    listed = [65504, 1024.5, 2.675, 1.245, 0.5, 2.5, -0.04, -0.0, np.inf, np.nan, 3e38, 1e-7]
    with np.errstate(all="ignore"):
        x = np.array([*listed, *rng.normal(0, 100, 300)]).astype(dtype)
        digits = np.array([0, 1, 2, 3, 4, 5, -1, -2, -5])
        expected = np.array([[np.round(number, n) for number in x] for n in (*digits.tolist(), 1)])
    arguments = (x, digits, np.zeros(expected.shape, dtype))
    result = run(rounded_as_by_numpy, (len(x) // 64 + 1, 64), arguments, target)[2]
    wide = result.astype(np.float64), expected.astype(dtype).astype(np.float64)
    np.testing.assert_array_equal(*wide)
    number = ~np.isnan(wide[1])  # the sign of a NaN depends on the processor
    np.testing.assert_array_equal(*(np.signbit(array)[number] for array in wide))


@pytest.mark.parametrize("dtype", FLOATS, ids=NAMES)
def test_rounding_compiles_for_a_gpu(dtype: Any) -> None:
    types = f"{dtype.name}[:], int64[:], {dtype.name}[:, :]"
    for each in (rounded_as_by_numpy, rounded_as_by_python):
        made = nvrtc.compile(each.inspect("cuda", types), each.name, "sm_80", cache=False)
        assert made.log.strip("\0\n ") == ""


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_integers_are_rounded_exactly(dtype: str, target: str) -> None:
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, info.max - 5, 5, 15, 25, 35, 44, 45, 46], dtype)
    digits = np.array([0, 2, -1, -2, -19, -40])
    out = np.zeros((len(digits) + 1, len(x)), dtype)
    result = run(rounded_as_by_numpy, (1, 32), (x, digits, out), target)[2]
    modulus = 1 << info.bits
    rounded = [[round(int(n), max(k, -30)) for n in x] for k in (*digits.tolist(), 1)]
    wrapped = [[(n - info.min) % modulus + info.min for n in row] for row in rounded]
    np.testing.assert_array_equal(result, np.array(wrapped, dtype))


# ---- float64 to bfloat16 -----------------------------------------------------------------------


@kernel
def converted(x, out):
    i = cuda.grid(1)
    if i < len(x):
        out[0, i] = x[i]
        y: ml_dtypes.bfloat16 = x[i]
        out[1, i] = y


@kernel(signature="bfloat16, bfloat16[:]")
def passed(x, out):
    out[0] = x


# a little above, at and below the middle between two neighbours; the last ones are the ends
MIDDLE = 1 + 2.0**-8
ONCE = {
    MIDDLE: 1.0,
    MIDDLE + 2.0**-40: 1 + 2.0**-7,
    -MIDDLE - 2.0**-40: -1 - 2.0**-7,
    MIDDLE + 2.0**-7 - 2.0**-40: 1 + 2.0**-7,
    MIDDLE + 2.0**-7: 1 + 2.0**-6,
    3.4e38: np.inf,
    -1e300: -np.inf,
    1e-300: 0.0,
    2.0**-134: 0.0,
    2.0**-134 + 2.0**-180: 2.0**-133,
}


def test_a_float64_is_rounded_to_bfloat16_once(target: str) -> None:
    x = np.array([*ONCE, np.nan])
    result = run(converted, (1, 32), (x, np.zeros((2, len(x)), BFLOAT16)), target)[1]
    np.testing.assert_array_equal(result.astype(np.float64), [[*ONCE.values(), np.nan]] * 2)


def test_an_argument_is_rounded_to_bfloat16_once(target: str) -> None:
    for x, expected in ONCE.items():
        if np.isfinite(expected):
            result = run(passed, (1, 1), (x, np.zeros(1, BFLOAT16)), target)[1]
            assert float(result[0]) == expected


# ---- to narrower integers ----------------------------------------------------------------------


@kernel
def whole_numbers(x, words, bytes_):
    i = cuda.grid(1)
    if i < x.size:
        words[0, i] = np.int32(math.floor(x[i]))
        words[1, i] = np.int32(math.ceil(x[i]))
        words[2, i] = np.int32(int(x[i]))
        bytes_[i] = np.uint8(int(x[i]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_int_becomes_narrower_by_its_low_bits(dtype: str, target: str) -> None:
    near_limits = [s * (2.0**31 + d) for s in (-1, 1) for d in (-256, -1, -0.5, 0, 0.5, 1, 256)]
    numbers = [*near_limits, 0.0, -0.0, 0.5, -0.5, 255.5, -255.5, 2.0**32 + 4096, 1e12, -(2.0**62)]
    x = np.array(numbers, dtype)
    arguments = (x, np.zeros((3, x.size), np.int32), np.zeros(x.size, np.uint8))
    _, words, low = run(whole_numbers, (1, 64), arguments, target)
    wide = np.stack([np.floor(x), np.ceil(x), np.trunc(x)]).astype(np.int64)
    np.testing.assert_array_equal(words, wide.astype(np.int32))
    np.testing.assert_array_equal(low, wide[2].astype(np.uint8))
