"""Values of kernels at run time: strong ones are NumPy scalars, weak ones Python numbers.

The reference interpreter computes with these, and the compiler folds constants with them.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from pycu2c.base import vectors
from pycu2c.base.dtypes import BFLOAT16, DType, DTypeKind
from pycu2c.base.types import Scalar
from pycu2c.base.types import assumed_magnitude_limit as assumed_magnitude_limit
from pycu2c.base.types import scalar_of as scalar_of

Number: TypeAlias = "bool | int | float | np.generic"  # also complex and Vector


def is_named_tuple(value: object) -> bool:
    """Return whether an object is a named tuple class."""
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")


MAX_EXACT_FLOAT_INT = 2**53  # larger ints may not be exact in float64


def wrap(value: int, scalar: Scalar) -> int:
    """Wrap an integer to the width of an integer type (two's complement)."""
    dtype = scalar.dtype
    return (value - dtype.minimum) % (1 << dtype.bits) + dtype.minimum


def convert(value: Number, to: Scalar) -> Number:
    """Convert as ``ndarray.astype`` does: integers wrap, floats truncate."""
    if to.dtype.handle is not None:
        return value
    if to.dtype.kind is DTypeKind.BOOL:
        return bool(value) if to.weak else np.bool_(value)
    if to.dtype.is_vector:
        vector: Number = as_vector(value, to.dtype)
        return vector
    if isinstance(value, np.generic) and scalar_of(value) == to:
        return value
    if to.dtype.is_complex:
        number: Number = _as_complex(value, to)
        return number
    if isinstance(value, (complex, np.complexfloating)):
        raise TypeError(f"a complex number does not become {to}: take its real part")
    if to.dtype.is_float:
        with np.errstate(all="ignore"):
            exact = _odd_float32(value) if to.dtype is BFLOAT16 else value
            real = to.dtype.numpy.type(exact)
        return float(real) if to.weak else real
    integer = wrap(_truncated(value), to)
    return integer if to.weak else to.dtype.numpy.type(integer)


def _odd_float32(value: Any) -> Any:
    """Round to float32 with round-to-odd, so that rounding again to bfloat16 is correct."""
    exact, near = float(value), np.float32(value)
    if float(near) == exact or exact != exact:
        return near
    is_above = abs(float(near)) > abs(exact)
    return np.uint32((int(near.view(np.uint32)) - is_above) | 1).view(np.float32)


def bfloat16_bits(value: float) -> int:
    """Return the bits of the nearest bfloat16, without the package that defines the type."""
    bits = int(_odd_float32(value).view(np.uint32))
    if value != value:
        return bits >> 16 | 0x40
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def as_vector(value: Any, dtype: DType) -> Any:
    """Return a vector from an element of a NumPy array, a vector, or a scalar that fills it."""
    if isinstance(value, np.void):
        return vectors.vector(dtype, value.item())
    if isinstance(value, vectors.Vector):
        assert value.vector_type is dtype, f"{value!r} is no {dtype}"
        return value
    return vectors.vector(dtype, [value] * len(dtype.fields))


def _as_complex(value: Any, to: Scalar) -> Any:
    with np.errstate(all="ignore"):
        number = to.dtype.numpy.type(value)
    return complex(number) if to.weak else number


def _truncated(value: Number) -> int:
    """Return a number as an int; NaN and infinity give 0, because their result is undefined."""
    if isinstance(value, int):
        return value
    return int(value) if np.isfinite(value) else 0


def fits(value: int, scalar: Scalar) -> bool:
    """Return whether an integer type can represent an integer."""
    return scalar.dtype.minimum <= value <= scalar.dtype.maximum
