"""Proofs that threads access different elements, which spare shadow memory."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycu2c import CheckError, LaunchWarning, cuda, kernel
from pycu2c.analysis.ranges.interval_arithmetic import Interval
from pycu2c.checks.proofs.conflict_analysis import _Affine, _equal_variables

FACTORS = st.lists(st.integers(-12, 12).filter(bool), min_size=1, max_size=4)


@given(FACTORS, st.lists(st.integers(1, 4), min_size=4, max_size=4), st.integers(-20, 20))
def test_variables_of_equal_numbers(factors: list[int], extents: list[int], offset: int) -> None:
    names = "wxyz"[: len(factors)]
    ranges = {name: Interval(0, n - 1) for name, n in zip(names, extents)}
    left = _Affine(0, dict(zip(names, factors)), ranges)
    right = _Affine(offset, dict(zip(names, factors)), ranges)
    equal = _equal_variables(left, right, set())
    numbers = list(itertools.product(*(range(n) for n in extents[: len(factors)])))

    def value(digits: Iterable[int]) -> int:
        return sum(factor * digit for factor, digit in zip(factors, digits))

    for a, b in itertools.product(numbers, numbers):
        if value(a) == value(b) + offset:
            assert equal is not None, f"{a} and {b} are equal"
            assert all(x == y for name, x, y in zip(names, a, b) if name in equal)


# each kernel, and whether its arrays are proved to have no conflict for the launch below


def one_axis(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] = a[i] * 2 + 1


def two_axes_in_one(a, n):
    x, y = cuda.grid(2)
    if x < 4 and y < n // 4:
        a[y * 4 + x] += 1


def too_wide(a, n):
    x, y = cuda.grid(2)
    if x < 5 and y < 3:
        a[y * 4 + x] += 1


def strided(a, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        a[i] += 1


def butterfly(a, n):
    i = cuda.grid(1)
    first = i // 2 * 4 + i % 2
    if first + 2 < n:
        low, high = a[first], a[first + 2]
        a[first] = low + high
        a[first + 2] = low - high


def triangle(a, n):
    i = cuda.grid(1) + 3
    if i < n:
        a[i] -= a[2]


def neighbour(a, n):
    i = cuda.grid(1)
    if i + 1 < n:
        a[i] = a[i + 1]


def block_only(a, n):
    a[cuda.threadIdx.x] += 1


PROVED = (one_axis, two_axes_in_one, strided, butterfly, triangle)


@pytest.mark.parametrize("function", [*PROVED, too_wide, neighbour, block_only])
def test_kernels(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    checked = kernel(function, backend="cpu", check="race")
    is_plane = function in (two_axes_in_one, too_wide)
    configured = checked[(2, 4), (4, 2)] if is_plane else checked[2, 8]
    if function in PROVED:
        monkeypatch.setenv("PYCU2C_CHECK_MEMORY", "0")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            configured(np.ones(32), 32)
        return
    with pytest.raises(CheckError):
        configured(np.ones(32), 32)
    monkeypatch.setenv("PYCU2C_CHECK_MEMORY", "0")
    other = kernel(function, backend="cpu", check="race")
    with pytest.warns(LaunchWarning, match="races and initialization are not checked"):
        (other[(2, 4), (4, 2)] if is_plane else other[2, 8])(np.ones(32), 32)
