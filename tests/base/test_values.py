"""Values of kernels at run time: their types and conversions."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from pycu2c.base import dtypes
from pycu2c.base.types import Scalar, scalar_of
from pycu2c.base.values import convert

NUMBERS = [Scalar(dtype) for dtype in dtypes.DTYPES]


@pytest.mark.parametrize("scalar", NUMBERS, ids=str)
def test_a_number_of_the_target_type_stays_the_same_object(scalar: Scalar) -> None:
    if scalar.dtype is dtypes.BFLOAT16:
        pytest.importorskip("ml_dtypes")
    number = scalar.numpy.type(1)
    assert scalar_of(number) == scalar
    if scalar.dtype is not dtypes.BOOL:  # NumPy has two objects of this type
        assert convert(number, scalar) is number
    assert convert(number, scalar) == number


@pytest.mark.parametrize("letter", ["q", "Q", "l", "L"])
def test_every_c_type_of_64_bits_is_int64_or_uint64(letter: str) -> None:
    """NumPy has two types for them, with the same name."""
    expected = dtypes.INT64 if letter.islower() else dtypes.UINT64
    for _ in range(2):
        assert dtypes.from_numpy(np.dtype(letter)) is expected


@pytest.mark.parametrize("text", [">i4", ">f8", "M8[s]", "m8[D]", "V4", "S3", "U1", "O", "g"])
def test_unsupported_dtypes_have_no_type(text: str) -> None:
    """Also after their type was looked up in native byte order."""
    dtypes.from_numpy(np.dtype(np.int32))
    dtypes.from_numpy(np.dtype(np.float64))
    for _ in range(2):
        assert dtypes.from_numpy(np.dtype(text)) is None


def test_bfloat16_without_ml_dtypes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)  # as if it were not installed
    with pytest.raises(ModuleNotFoundError, match=r"bfloat16 needs .*: pip install ml_dtypes"):
        _ = dtypes.BFLOAT16.numpy
