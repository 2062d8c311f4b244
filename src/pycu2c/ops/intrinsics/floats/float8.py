"""8-bit floats, which kernels store as ``uint8`` and convert: E4M3 and E5M2.

E4M3 has 4 exponent bits and no infinity, E5M2 has 5. Conversions saturate to the largest number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c.base.lazy_imports import lazy_module
from pycu2c.base.records import dataclass
from pycu2c.ops.intrinsics.registry import Intrinsic, intrinsic
from pycu2c.ops.intrinsics.spelling import overloaded

ml_dtypes: Any = lazy_module("ml_dtypes")


@dataclass(frozen=True, slots=True)
class Float8Format:
    """An 8-bit format: fraction bits, exponent bias, largest number, and its name in ml_dtypes."""

    name: str
    fraction_bits: int
    bias: int
    greatest: float
    ml_dtypes_name: str


E4M3 = Float8Format("e4m3", 3, 7, 448.0, "float8_e4m3fn")
E5M2 = Float8Format("e5m2", 2, 15, 57344.0, "float8_e5m2")
_NAN = 0x7F  # the NaN that CUDA returns


def _declare(name: str, parameter: str, result: str, body: Callable[..., Any]) -> Intrinsic:
    body.__annotations__ = {"x": parameter, "return": result}
    spell, helpers = overloaded(name), (name,)
    declare = intrinsic(
        f"cuda.{name}", cuda=spell, c=spell, cuda_helpers=helpers, c_helpers=helpers
    )
    return declare(body)


def _from_float(float8: Float8Format) -> Intrinsic:
    def body(x: Any) -> Any:
        if np.isnan(x):
            return np.uint8(_NAN)
        clamped = np.float32(min(max(x, -float8.greatest), float8.greatest))
        converted = clamped.astype(getattr(ml_dtypes, float8.ml_dtypes_name))
        return np.asarray(converted).view(np.uint8)[()]

    body.__doc__ = f"The bits of the nearest {float8.name.upper()}; numbers out of range saturate."
    return _declare(f"float_to_{float8.name}", "float32", "uint8", body)


def _to_float(float8: Float8Format) -> Intrinsic:
    def body(x: Any) -> Any:
        bits = np.asarray(np.uint8(x))
        return bits.view(getattr(ml_dtypes, float8.ml_dtypes_name)).astype(np.float32)[()]

    body.__doc__ = f"The float32 value of the {float8.name.upper()} with these bits."
    return _declare(f"{float8.name}_to_float", "uint8", "float32", body)


FORMATS = (E4M3, E5M2)
FROM_FLOAT = tuple(map(_from_float, FORMATS))
TO_FLOAT = tuple(map(_to_float, FORMATS))
