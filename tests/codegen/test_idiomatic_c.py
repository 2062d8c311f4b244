"""Statements that have a shorter form in C: swaps, sums of small integers, adjacent elements."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pycu2c import cuda, device, kernel
from support.launching import run

AROUND = ((-1, 0), (0, 1), (1, 0))


@kernel
def swapped(a, j):
    i = cuda.grid(1)
    other = i ^ j
    if other > i and a[i] > a[other]:
        a[i], a[other] = a[other], a[i]


def test_a_swap_takes_one_variable(target: str) -> None:
    a = np.float32([4, 1, 3, 7, 9, 2])
    assert run(swapped, (1, 6), [a, 1], target)[0].tolist() == [1, 4, 3, 7, 2, 9]
    text = swapped.inspect("cuda", "float32[::1], int32")
    assert text.count("float old") == 1
    assert "a[i] = a[other];\n        a[other] = old;" in text


@kernel
def rotated(a, seen):
    i = cuda.grid(1)
    if i == 0:
        a[0], a[1], a[2] = a[1], a[2], a[0]
        a[3], a[4] = cuda.atomic.add(a, 4, 10), a[3]  # the sum is first
        a[5], seen[0], a[6] = a[6], cuda.atomic.add(a, 6, 10), a[5]  # a[6] as it was


def test_values_are_evaluated_from_left_to_right(target: str) -> None:
    a, seen = run(rotated, (1, 1), [np.arange(7), np.zeros(1, np.int64)], target)
    assert a.tolist() == [1, 2, 0, 4, 3, 6, 5]
    assert seen.tolist() == [6]


@kernel
def small(a, b, out):
    i = cuda.grid(1)
    n = a[i]
    n += b[i]
    n *= b[i]
    n -= 3
    n |= 4
    n <<= 1
    n >>= 2
    n //= 3
    n %= 50
    out[i] += n
    out[i] *= a[i]
    out[i] ^= b[i]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_small_integers(target: str, dtype: type[np.integer]) -> None:
    rng = np.random.default_rng(3)
    limits = np.iinfo(dtype)
    a, b, out = (rng.integers(limits.min, limits.max, 40, dtype, True) for _ in range(3))
    n = ((((a + b) * b - dtype(3)) | dtype(4)) << dtype(1)) >> dtype(2)
    expected = ((out + n // dtype(3) % dtype(50)) * a) ^ b
    assert (run(small, (1, 40), [a, b, out], target)[2] == expected).all()


def test_small_integers_are_changed_in_place() -> None:
    text = small.inspect("cuda", "uint8[::1], uint8[::1], uint8[::1]")
    for line in ("n += b[i];", "n *= b[i];", "n >>= 2;", "n /= 3;", "out[i] += n;"):
        assert line in text, text
    wide = small.inspect("cuda", "uint16[::1], uint16[::1], uint16[::1]")
    assert "n = (unsigned int)n * b[i];" in wide  # the product of two overflows an int


@kernel
def around(a, out):
    x = cuda.grid(1)
    width = len(a)
    if x < width:
        total = 0
        for dx, weight in AROUND:
            total += a[(x + dx) % width] * (weight + 1)
        out[x] = total


def test_elements_beside_a_threads_own(target: str) -> None:
    a = np.arange(9)
    _, out = run(around, (1, 16), [a, np.zeros(9, np.int64)], target)
    assert (out == np.roll(a, 1) + 2 * a + np.roll(a, -1)).all()
    text = around.inspect("cuda", "int64[::1], int64[::1]")
    assert "x - 1" in text
    assert "+ -" not in text
    assert "+ 0" not in text


@device
def next_value(a, i):
    a[0] += 1
    return a[i] * 2


@kernel
def pairs(a, out):
    b, c = a[0], next_value(a, 1)  # the element is read first
    d, e = next_value(a, 0), next_value(a, 0)
    b, c = c, b
    z = complex(a[1] + b, a[2] - c)
    out[0], out[1] = z, complex(d, e)


def test_names_are_assigned_the_results_of_calls(target: str) -> None:
    a, out = run(pairs, (1, 1), [np.float32([1, 2, 4]), np.zeros(2, np.complex64)], target)
    assert a.tolist() == [4, 2, 4]
    assert out.tolist() == [6 + 3j, 6 + 8j]
    text = pairs.inspect("cuda", "float32[::1], complex64[::1]")
    assert "d = next_value(a, 0);" in text
    assert "make_float2(d, e)" in text


@kernel
def tiled(a, out):
    tiles = math.ceil(a.shape[0] / 16)
    for tile in range(tiles - math.floor(out.shape[0] / 3.5)):
        for k in range(16):
            if 16 * tile + k < len(a):
                out[tile] += a[16 * tile + k]


def test_a_rounded_quotient_of_a_length_has_32_bits(target: str) -> None:
    _, out = run(tiled, (1, 1), [np.arange(35), np.zeros(3, np.int64)], target)
    assert out.tolist() == [120, 376, 32 + 33 + 34]
    text = tiled.inspect("cuda", "int32[::1], int32[::1]")
    assert "for (int tile = 0;" in text
    assert "< 0 ?" not in text, text
