"""Numbers as a kernel has them at run time: strong ones are numpy scalars, weak ones Python's.

The reference interpreter computes with these, and the compiler folds constants with them.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from pycu2c.base import vectors
from pycu2c.base.dtypes import DType, DTypeKind
from pycu2c.base.types import Scalar
from pycu2c.base.types import assumed_magnitude_limit as assumed_magnitude_limit
from pycu2c.base.types import scalar_of as scalar_of

Number: TypeAlias = "bool | int | float | np.generic"  # or complex or a Vector: few see those


def is_named_tuple(kind: object) -> bool:
    """Whether an object is the class of a named tuple."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


MAX_EXACT_FLOAT_INT = 2**53  # as far as this, each int is a float64


def wrap(value: int, scalar: Scalar) -> int:
    """Cut an integer to the width of an integer type, as two's complement does."""
    dtype = scalar.dtype
    return (value - dtype.minimum) % (1 << dtype.bits) + dtype.minimum


def convert(value: Number, to: Scalar) -> Number:
    """Convert as ``ndarray.astype`` does: integers wrap, floats are cut towards zero."""
    if to.dtype.handle is not None:  # a texture is what it is
        return value
    if to.dtype.kind is DTypeKind.BOOL:
        return bool(value) if to.weak else np.bool_(value)
    if to.dtype.is_vector:
        same: Number = as_vector(value, to.dtype)
        return same
    if to.dtype.is_complex:
        wide: Number = _as_complex(value, to)
        return wide
    if isinstance(value, (complex, np.complexfloating)):
        raise TypeError(f"a complex number does not become {to}: take its real part")
    if to.dtype.is_float:
        with np.errstate(all="ignore"):
            number = to.dtype.numpy.type(value)
        return float(number) if to.weak else number
    whole = wrap(_truncated(value), to)
    return whole if to.weak else to.dtype.numpy.type(whole)


def as_vector(value: Any, row: DType) -> Any:
    """A vector, which may come as an element of a numpy array; 0 is the one of zeros."""
    if isinstance(value, np.void):
        return vectors.vector(row, value.item())
    if isinstance(value, vectors.Vector):
        assert value.row is row, f"{value!r} is no {row}"
        return value
    return vectors.vector(row, [value] * len(row.fields))


def _as_complex(value: Any, to: Scalar) -> Any:
    with np.errstate(all="ignore"):
        number = to.dtype.numpy.type(value)
    return complex(number) if to.weak else number


def _truncated(value: Number) -> int:
    """Undefined for NaN and infinity: any answer will do, an exception will not."""
    if isinstance(value, int):  # of any size, before it is cut to a width
        return value
    return int(value) if np.isfinite(value) else 0


def fits(value: int, scalar: Scalar) -> bool:
    """Whether an integer is a value of an integer type."""
    return scalar.dtype.minimum <= value <= scalar.dtype.maximum
