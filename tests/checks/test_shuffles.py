"""Shuffles that read undefined values which do not matter have no findings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, kernel
from support.targets import TARGETS

FULL = 0xFFFFFFFF
COMPILED = [t for t in TARGETS if t != "python"]


def sum_of_eight(a, out):
    t = cuda.threadIdx.x
    x = a[t]
    if t < 8:
        for step in (4, 2, 1):
            x += cuda.shfl_down_sync(0xFF, x, step)
        if t == 0:
            out[0] = x


def index_of_the_maximum(a, out):
    t = cuda.threadIdx.x
    if t < 8:
        x, i = a[t], t
        for step in (4, 2, 1):
            y = cuda.shfl_down_sync(0xFF, x, step)
            j = cuda.shfl_down_sync(0xFF, i, step)
            if y > x:
                x = y
                i = j
        if t == 0:
            out[0] = i


def guarded_sum(a, out):
    t = cuda.threadIdx.x
    x = a[t]
    for step in (16, 8, 4, 2, 1):
        y = cuda.shfl_down_sync(FULL, x, step)
        if t + step < len(a):
            x += y
    if t == 0:
        out[0] = x


def selected_sum(a, out):
    t = cuda.threadIdx.x
    x = a[t]
    for step in (16, 8, 4, 2, 1):
        y = cuda.shfl_down_sync(FULL, x, step)
        x += y if t + step < len(a) else 0
    if t == 0:
        out[0] = x


CASES: list[tuple[Callable[..., Any], int]] = [
    (sum_of_eight, 28),
    (index_of_the_maximum, 7),
    (guarded_sum, 190),
    (selected_sum, 190),
]


@pytest.mark.parametrize("backend", COMPILED)
@pytest.mark.parametrize(("function", "expected"), CASES)
def test_undefined_values_that_do_not_matter(
    backend: str, function: Callable[..., Any], expected: int
) -> None:
    out = np.zeros(1, np.int32)
    kernel(function, backend=backend, check=True)[1, 20](np.arange(20, dtype=np.int32), out)
    assert out[0] == expected
