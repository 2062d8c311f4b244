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
class Format:
    """An 8-bit format: fraction bits, exponent bias, largest number, and its name in ml_dtypes."""

    name: str
    fraction: int  # bits
    bias: int
    greatest: float
    numpy: str


E4M3 = Format("e4m3", 3, 7, 448.0, "float8_e4m3fn")
E5M2 = Format("e5m2", 2, 15, 57344.0, "float8_e5m2")
_NAN = 0x7F  # CUDA has one pattern


def _declare(name: str, parameter: str, result: str, body: Callable[..., Any]) -> Intrinsic:
    body.__annotations__ = {"x": parameter, "return": result}
    spell, helpers = overloaded(name), (name,)
    declare = intrinsic(
        f"cuda.{name}", cuda=spell, c=spell, cuda_helpers=helpers, c_helpers=helpers
    )
    return declare(body)


def _from_float(of: Format) -> Intrinsic:
    def body(x: Any) -> Any:
        if np.isnan(x):
            return np.uint8(_NAN)
        near = np.float32(min(max(x, -of.greatest), of.greatest))
        return np.asarray(near.astype(getattr(ml_dtypes, of.numpy))).view(np.uint8)[()]

    body.__doc__ = f"The bits of the nearest {of.name.upper()}; beyond the ends, of the end."
    return _declare(f"float_to_{of.name}", "float32", "uint8", body)


def _to_float(of: Format) -> Intrinsic:
    def body(x: Any) -> Any:
        bits = np.asarray(np.uint8(x))
        return bits.view(getattr(ml_dtypes, of.numpy)).astype(np.float32)[()]

    body.__doc__ = f"The float32 that the {of.name.upper()} with these bits is."
    return _declare(f"{of.name}_to_float", "uint8", "float32", body)


FORMATS = (E4M3, E5M2)
FROM_FLOAT = tuple(map(_from_float, FORMATS))
TO_FLOAT = tuple(map(_to_float, FORMATS))
