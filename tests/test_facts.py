"""What a launch lets the compiler assume: only what is true of it."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c.launching import _is_ordinary
from pycu2c.runtime.arguments import describe
from pycu2c.runtime.configuration import Launch

SMALL = Launch((10, 1, 1), (32, 1, 1), None, 0)


def facts(value, launch=SMALL):
    given = value if isinstance(value, (int, float)) else describe(value)
    return _is_ordinary(launch, (given,))


def huge(shape, strides):
    """A view that is never looked at, of memory that is not there."""
    return (
        np.ndarray(shape, np.int8, np.empty(0, np.int8), 0, strides)
        if 0 in shape
        else (np.lib.stride_tricks.as_strided(np.empty(1, np.int8), shape, strides))
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.zeros(100), True),
        (huge((2**30,), (0,)), False),
        (huge((2**15, 2**15), (0, 0)), False),
        (huge((1000,), (2**22,)), False),
        (huge((1000,), (-(2**22),)), False),
        (huge((2**31, 0), (0, 0)), False),
        (2**30 - 1, True),
        (2**30, False),
        (-(2**30), False),
        (1e30, True),
    ],
)
def test_facts_of_arguments(value, expected):
    assert facts(value) is expected


@pytest.mark.parametrize(
    ("grid", "block", "expected"),
    [
        ((2**22 - 1, 1, 1), (256, 1, 1), True),
        ((2**22, 1, 1), (256, 1, 1), False),
        ((2**22, 1, 1), (1, 1, 1), True),
        ((2**22 + 1, 1, 1), (1, 1, 1), False),
    ],
)
def test_facts_of_grids(grid, block, expected):
    assert facts(np.zeros(1), Launch(grid, block, None, 0)) is expected
