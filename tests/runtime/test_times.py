"""Arrays of dates and durations as arguments of kernels: their integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import LaunchError, cuda, kernel

DATES = np.arange("2005-02", "2005-03", dtype="M8[D]")


def shift_for(target: str) -> Any:
    @kernel(backend=target)
    def shift(dates, by, first, out, is_first):
        i = cuda.grid(1)
        if i < dates.size:
            out[i] = dates[i] + by
            is_first[i] = dates[i] == first

    return shift


def test_dates_and_durations(target: str) -> None:
    shift, later = shift_for(target), np.zeros_like(DATES)
    is_first = np.zeros(DATES.size, bool)
    for number in (1, 5, 400):  # the dispatch table must not skip the conversion
        days = np.timedelta64(number, "D")
        shift[1, 32](DATES, days, DATES[0], later, is_first)
        assert (later == DATES + days).all()
        assert is_first.nonzero()[0].tolist() == [0]


def test_durations_are_differences(target: str) -> None:
    @kernel(backend=target)
    def difference(a, b, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i] - b[i]

    out = np.zeros(DATES.size, "m8[D]")
    for _ in range(3):
        difference[1, 32](DATES, DATES[::-1], out)
    assert (out == DATES - DATES[::-1]).all()
    integers = np.zeros(DATES.size, np.int64)
    for _ in range(3):  # the launches of integers that follow are recorded
        difference[1, 32](DATES.view(np.int64), DATES[::-1].view(np.int64), integers)
    assert (integers == out.view(np.int64)).all()
    with pytest.raises(LaunchError, match=r"the same unit, not .*datetime64.D., .*timedelta64.h."):
        difference[1, 32](DATES, DATES[::-1], np.zeros(DATES.size, "m8[h]"))
