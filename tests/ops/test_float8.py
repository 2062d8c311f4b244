"""8-bit floats: conversions by the reference interpreter, which needs no package for them."""

from __future__ import annotations

import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pycu2c import cuda, kernel
from pycu2c.ops.intrinsics.floats import float8
from support.launching import run

DTYPES = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
FORMATS = list(zip(float8.FORMATS, float8.FROM_FLOAT, float8.TO_FLOAT))


@kernel
def convert(x, bits, back):
    i = cuda.grid(1)
    if i < x.size:
        bits[i] = cuda.float_to_e4m3(x[i])
        back[i] = cuda.e5m2_to_float(cuda.float_to_e5m2(x[i]))


def test_conversions_without_ml_dtypes(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    x = np.array([1, -2.5, 1000, 0.001], np.float32)
    arguments = [x, np.zeros(4, np.uint8), np.zeros(4, np.float32)]
    _, bits, back = run(convert, (1, 4), arguments, target)
    assert bits.tolist() == [0x38, 0xC2, 0x7E, 0x01]
    np.testing.assert_array_equal(back, np.array([1, -2.5, 1024, 2**-10], np.float32))


@pytest.mark.parametrize(("row", "from_float", "to_float"), FORMATS, ids=("e4m3", "e5m2"))
def test_conversions_are_those_of_ml_dtypes(row: Any, from_float: Any, to_float: Any) -> None:
    numbers = np.arange(256, dtype=np.uint8).view(DTYPES[row.name]).astype(np.float32)
    np.testing.assert_array_equal([to_float.reference(np.uint8(i)) for i in range(256)], numbers)
    numbers = np.sort(numbers[np.isfinite(numbers)])
    middles = (numbers[1:] + numbers[:-1]) / 2
    above, below = np.nextafter(middles, np.float32(1e9)), np.nextafter(middles, np.float32(-1e9))
    tested = np.concatenate([numbers, middles, above, below, np.float32([0.0, -0.0, 1e-45])])
    expected = tested.astype(DTYPES[row.name]).view(np.uint8)
    np.testing.assert_array_equal([from_float.reference(x) for x in tested], expected)
    assert from_float.reference(np.float32(np.inf)) == from_float.reference(
        np.float32(row.greatest)
    )
    assert from_float.reference(np.float32(np.nan)) == 0x7F
