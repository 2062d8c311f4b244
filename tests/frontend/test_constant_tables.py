"""Tuples of constants that are read at a computed index become tables in constant memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, kernel
from support.launching import run

STEPS = (0, 1, 0, -1)
SHARES = (4 / 9, 1 / 9, 1 / 9, 1 / 36)
AROUND = ((-1, 0), (1, 0), (0, -1), (0, 1))
SCORES = ((5, -1, -2), (-1, 5, -3), (-2, -3, 5))
WIDE = (1, 2**40, -(2**50))
ZEROS = (0.0, -0.0, 1.0)
OTHER_ZEROS = (-0.0, 0.0, 1.0)


@kernel
def weighed(values, out):
    i = cuda.grid(1)
    s = 0.0
    for q in range(len(STEPS)):
        s += values[i] * STEPS[q] * SHARES[q]
    out[i] = s + SHARES[i % 4]


def plainly(values: Any) -> Any:
    sums = [sum((v * s * np.float32(w) for s, w in zip(STEPS, SHARES)), 0) for v in values]
    return np.float32([s + np.float32(SHARES[i % 4]) for i, s in enumerate(sums)])


def test_numbers_take_the_type_of_the_other_operand(target: str) -> None:
    values = np.arange(8, dtype=np.float32)
    out = np.zeros(8, np.float32)
    *_, out = run(weighed, (1, 8), [values, out], target)
    assert np.allclose(out, plainly(values), rtol=1e-6)


def test_c_has_tables_of_the_types_that_are_read() -> None:
    text = weighed.inspect("cuda", "float32[::1], float32[::1]")
    assert "__constant__ const int STEPS[4] = {\n    0, 1, 0, -1\n};" in text
    assert "values[i] * STEPS[q] * SHARES[q];" in text


@kernel
def mixed(values, out):
    i = cuda.grid(1)
    out[i] = values[i] * SHARES[i % 4]


def test_a_table_that_is_read_in_one_type_has_it() -> None:
    text = mixed.inspect("cuda", "float32[::1], float32[::1]")
    assert "__constant__ const float SHARES[4]" in text
    assert "values[i] * SHARES[i % 4];" in text
    assert "static const float SHARES[4]" in mixed.inspect("c", "float32[::1], float32[::1]")


@kernel
def collected(image, out):
    x = cuda.grid(1)
    width = len(image)
    if x < width:
        total = 0
        for q in range(4):
            dy, dx = AROUND[q]
            total += image[(x + dx) % width] * (dy + 2)
        out[x] = total


def test_tuples_in_tuples_are_a_table_of_two_axes(target: str) -> None:
    image = np.arange(8, dtype=np.int64) ** 2
    out = np.zeros(8, np.int64)
    *_, out = run(collected, (1, 8), [image, out], target)
    assert (out == sum(np.roll(image, -dx) * (dy + 2) for dy, dx in AROUND)).all()


def test_ranges_of_table_elements_are_known() -> None:
    """No general remainder: x + dx is at most one off."""
    text = collected.inspect("cuda", "int64[::1], int64[::1]")
    assert "AROUND[4][2]" in text
    assert "mod_" not in text


@kernel
def scored(a, b, out):
    i = cuda.grid(1)
    out[i] = SCORES[a[i]][b[i]] + SCORES[-1][b[i] - 3] + SCORES[a[i] - 3][-2]


def test_two_computed_indices_find_one_element(target: str) -> None:
    a, b = np.int16([0, 1, 2, 2, 1]), np.int32([0, 2, 1, 0, 1])
    out = np.zeros(5, np.int32)
    *_, out = run(scored, (1, 5), [a, b, out], target)
    table = np.array(SCORES)
    assert (out == table[a, b] + table[-1][b] + table[a, -2]).all()
    assert "SCORES[row < 0 ? row + 3 : row][at < 0 ? at + 3 : at]" in scored.inspect(
        "cuda", "int16[::1], int32[::1], int32[::1]"
    )


@kernel
def own(out):
    i = cuda.grid(1)
    primes = (2, 3, 5, 7, 11)
    odd = [2 * k + 1 for k in range(5)]
    flags = (True, False, True)
    out[i] = primes[i % 5] * odd[-1 - i % 5] + len(primes) + sum(odd)
    if flags[i % 3]:
        out[i] += 1000


def test_tuples_and_lists_of_the_kernel(target: str) -> None:
    out = np.zeros(10, np.int64)
    *_, out = run(own, (1, 10), [out], target)
    i = np.arange(10)
    primes, odd = np.array([2, 3, 5, 7, 11]), 2 * np.arange(5) + 1
    assert (out == primes[i % 5] * odd[-1 - i % 5] + 30 + 1000 * (i % 3 != 1)).all()


@kernel
def far(out):
    i = cuda.grid(1)
    out[i] = WIDE[i % 3] + 1


def test_numbers_of_more_than_32_bits(target: str) -> None:
    out = np.zeros(3, np.int64)
    *_, out = run(far, (1, 3), [out], target)
    assert out.tolist() == [wide + 1 for wide in WIDE]


@kernel
def signed(out):
    i = cuda.grid(1)
    out[i] = ZEROS[i % 3] + OTHER_ZEROS[i % 3] * 2
    out[i + 3] = OTHER_ZEROS[i % 3]
    out[i + 6] = ZEROS[i % 3]


def test_tables_that_compare_equal_are_two(target: str) -> None:
    out = np.ones(9)
    *_, out = run(signed, (1, 3), [out], target)
    assert np.signbit(out[3:]).tolist() == [True, False, False, False, True, False]


@kernel
def reassigned(out, n):
    i = cuda.grid(1)
    t = (1, 2, 3)
    if n > 2:
        t = (4, 5, 6)
    row, k = AROUND[i], i
    k = k * 0 + t[i % 3]
    out[i] = row[0] * 10 + row[1] + k * 100


def test_tuples_that_change_are_variables(target: str) -> None:
    for n, numbers in ((1, (1, 2, 3)), (3, (4, 5, 6))):
        out = np.zeros(4, np.int64)
        out, _ = run(reassigned, (1, 4), [out, n], target)
        assert out.tolist() == [
            y * 10 + x + numbers[i % 3] * 100 for i, (y, x) in enumerate(AROUND)
        ]


MANY = tuple(range(20_000))


def test_a_table_fits_in_constant_memory():
    @kernel
    def found(out):
        out[cuda.grid(1)] = MANY[cuda.grid(1)]

    with pytest.raises(
        CompileError, match=r"80000 bytes; constant memory has 65536(.|\n)*argument"
    ):
        found.inspect("cuda", "int32[::1]")


MIXED = (1, 2.5, True, 4)


@kernel
def of_several_types(small, n, out):
    i = cuda.grid(1)
    own = (n, 0.5, i)
    out[i] = MIXED[i] / 2 + small[i] * MIXED[i] + own[i % 3] // 2


def test_numbers_of_several_types_have_one_together(target: str) -> None:
    small = np.int8([100, 100, 100, 100])
    *_, out = run(of_several_types, (1, 4), [small, 7, np.zeros(4)], target)
    own = np.array([7.0, 0.5, 2.0, 7.0])
    assert out.tolist() == [m / 2 + 100.0 * m + o // 2 for m, o in zip(MIXED, own)]


@kernel
def of_int8(out):
    i = cuda.grid(1)
    t = (np.int8(100), np.int16(300), np.int8(2))
    out[i] = t[i] * np.int8(100)


def test_strong_numbers_of_several_types(target: str) -> None:
    (out,) = run(of_int8, (1, 3), [np.zeros(3)], target)
    assert out.tolist() == [10000, 30000, 200]
