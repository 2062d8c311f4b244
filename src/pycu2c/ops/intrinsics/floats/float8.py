"""8-bit floats, which kernels store as ``uint8`` and convert: E4M3 and E5M2.

E4M3 has 4 exponent bits and no infinity, E5M2 has 5. Conversions saturate to the largest number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.ops.intrinsics.registry import Intrinsic, intrinsic
from pycu2c.ops.intrinsics.spelling import overloaded


@dataclass(frozen=True, slots=True)
class Float8Format:
    """An 8-bit format: fraction bits, exponent bias and largest number."""

    name: str
    fraction_bits: int
    bias: int
    greatest: float


E4M3 = Float8Format("e4m3", 3, 7, 448.0)
E5M2 = Float8Format("e5m2", 2, 15, 57344.0)
_NAN = 0x7F  # the NaN that CUDA returns


def _declare(name: str, parameter: str, result: str, body: Callable[..., Any]) -> Intrinsic:
    body.__annotations__ = {"x": parameter, "return": result}
    return intrinsic(f"cuda.{name}", spelling=overloaded(name))(body)


def _from_float(float8: Float8Format) -> Intrinsic:
    def body(x: Any) -> Any:
        if np.isnan(x):
            return np.uint8(_NAN)
        magnitude = min(abs(float(x)), float8.greatest)
        exponent = 1 - float8.bias  # of zero and subnormals
        if magnitude:
            exponent = max(exponent, math.frexp(magnitude)[1] - 1)
        significand = round(math.ldexp(magnitude, float8.fraction_bits - exponent))  # half to even
        # the leading bit of the significand of a normal number adds 1 to the exponent
        bits = ((exponent + float8.bias - 1) << float8.fraction_bits) + significand
        return np.uint8(bits | (np.signbit(x) << 7))

    body.__doc__ = f"The bits of the nearest {float8.name.upper()}; numbers out of range saturate."
    return _declare(f"float_to_{float8.name}", "float32", "uint8", body)


def _to_float(float8: Float8Format) -> Intrinsic:
    def body(x: Any) -> Any:
        exponent, fraction = divmod(int(x) & 0x7F, 1 << float8.fraction_bits)
        significand = fraction + (bool(exponent) << float8.fraction_bits)
        scale = max(exponent, 1) - float8.bias - float8.fraction_bits
        magnitude = math.ldexp(significand, scale)
        if magnitude > float8.greatest:
            magnitude = math.nan if fraction else math.inf
        return np.float32(-magnitude if int(x) & 0x80 else magnitude)

    body.__doc__ = f"The float32 value of the {float8.name.upper()} with these bits."
    return _declare(f"{float8.name}_to_float", "uint8", "float32", body)


FORMATS = (E4M3, E5M2)
FROM_FLOAT = tuple(map(_from_float, FORMATS))
TO_FLOAT = tuple(map(_to_float, FORMATS))
