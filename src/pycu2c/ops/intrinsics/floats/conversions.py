"""CUDA's conversions between floats and integers with a rounding mode, and bit reinterpretation.

Examples: ``float2int_rd``, ``float_as_int``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pycu2c.base.dtypes import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT16,
    INT32,
    INT64,
    UINT16,
    UINT32,
    UINT64,
    DType,
)
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.floats.exact_rounding import (
    CUDA_NAMES,
    MODE_TEXT,
    ROUNDING_MODES,
    RoundingMode,
    fraction,
    rounded,
)
from pycu2c.ops.intrinsics.kinds import float64, int32
from pycu2c.ops.intrinsics.registry import Intrinsic, Spelling, declare, intrinsic
from pycu2c.ops.intrinsics.spelling import overloaded

INTEGER_TYPES = (INT32, UINT32, INT64, UINT64)
_ROUNDED: dict[RoundingMode, Any] = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}


def _declare(
    name: str, source: DType, target: DType, compute: Callable[[Any], Any], doc: str, **other: Any
) -> Intrinsic:
    properties: dict[str, Any] = {"cuda": overloaded(f"__{name}"), "c": overloaded(name), **other}
    return declare(
        __name__,
        f"cuda.{name}",
        f"x: {source} -> {target}",
        lambda x: compute(source.numpy.type(x)),
        doc,
        **properties,
    )


# ---- to integers --------------------------------------------------------------------------


def _clamped(value: Any, dtype: DType) -> Any:
    """Clamp to the range of the type; NaN becomes the highest bit, or 0 from 32 to 32 bits."""
    if math.isnan(value):
        is_narrow = dtype.bits == 32 and value.dtype == np.float32
        return dtype.numpy.type(0 if is_narrow else dtype.minimum or 1 << dtype.bits - 1)
    if math.isinf(value):
        return dtype.numpy.type(dtype.maximum if value > 0 else dtype.minimum)
    return dtype.numpy.type(min(max(int(value), dtype.minimum), dtype.maximum))


def _to_integer(source: DType, dtype: DType, mode: RoundingMode) -> Intrinsic:
    name = f"{CUDA_NAMES[source]}2{CUDA_NAMES[dtype]}_{mode}"
    doc = f"A float as an integer, rounded {MODE_TEXT[mode]}; saturates to the range of the type."
    return _declare(name, source, dtype, lambda x: _clamped(_ROUNDED[mode](x), dtype), doc)


for _source in (FLOAT32, FLOAT64):
    for _dtype in INTEGER_TYPES:
        for _mode in ROUNDING_MODES:
            _to_integer(_source, _dtype, _mode)


# ---- to floats ---------------------------------------------------------------------------------


def _to_float(source: DType, dtype: DType, mode: RoundingMode) -> Intrinsic:
    def body(x: Any) -> Any:
        if not x or not math.isfinite(x):
            return dtype.numpy.type(x)
        return rounded(fraction(x), dtype, mode)

    name = f"{CUDA_NAMES[source]}2{CUDA_NAMES[dtype]}_{mode}"
    doc = f"The number as a {dtype}, rounded {MODE_TEXT[mode]}."
    more = {"c": _cast_to(dtype)} if mode == "rn" else {}
    return _declare(name, source, dtype, body, doc, **more)


def _cast_to(dtype: DType) -> Spelling:
    def spell(a: Mapping[str, c.Expr], _: DType) -> c.Expr:
        return c.CastExpr(c.NamedType(dtype.c), a["x"])

    return spell


for _dtype, _sources in ((FLOAT32, (*INTEGER_TYPES, FLOAT64)), (FLOAT64, (INT64, UINT64))):
    for _source in _sources:
        for _mode in ROUNDING_MODES:
            _to_float(_source, _dtype, _mode)
for _source in (INT32, UINT32):
    _to_float(_source, FLOAT64, "rn")


# ---- the same bits -----------------------------------------------------------------------------


def _reinterpretation(name: str, source: DType, target: DType) -> Intrinsic:
    doc = f"The {target} that has the bits of ``x``."

    def reinterpret(x: Any) -> Any:
        return np.asarray(x).view(target.numpy)[()]

    return _declare(name, source, target, reinterpret, doc)


for _name, _source, _target in (
    ("float_as_int", FLOAT32, INT32),
    ("float_as_uint", FLOAT32, UINT32),
    ("int_as_float", INT32, FLOAT32),
    ("uint_as_float", UINT32, FLOAT32),
    ("double_as_longlong", FLOAT64, INT64),
    ("longlong_as_double", INT64, FLOAT64),
):
    _reinterpretation(_name, _source, _target)
for _half_name, _half in (("half", FLOAT16), ("bfloat16", BFLOAT16)):
    for _integer_name, _integer in (("short", INT16), ("ushort", UINT16)):
        _reinterpretation(f"{_half_name}_as_{_integer_name}", _half, _integer)
        _reinterpretation(f"{_integer_name}_as_{_half_name}", _integer, _half)


def _high_and_low(x: Any) -> tuple[int, int]:
    bits = int(np.asarray(x).view(np.int64)[()])
    return bits >> 32, bits & 0xFFFFFFFF


def _as_int32(word: int) -> Any:
    return np.uint32(word & 0xFFFFFFFF).view(np.int32)


_declare(
    "double2hiint",
    FLOAT64,
    INT32,
    lambda x: _as_int32(_high_and_low(x)[0]),
    "The upper 32 bits of ``x``.",
)
_declare(
    "double2loint",
    FLOAT64,
    INT32,
    lambda x: _as_int32(_high_and_low(x)[1]),
    "The lower 32 bits of ``x``.",
)


@intrinsic(
    "cuda.hiloint2double", cuda=overloaded("__hiloint2double"), c=overloaded("hiloint2double")
)
def _from_high_and_low(high: int32, low: int32) -> float64:
    """Return the float64 with these upper and lower 32 bits."""
    bits = int(high) << 32 | int(low) & 0xFFFFFFFF
    return np.array(bits, np.int64).view(np.float64)[()]
