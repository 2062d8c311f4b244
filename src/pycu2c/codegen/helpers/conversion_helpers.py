"""Helpers for CUDA's conversions on the CPU.

Floats to integers and back with a rounding mode, and reinterpretation of bits.
"""

from __future__ import annotations

from pycu2c.base import dtypes
from pycu2c.codegen.helpers.directed_rounding_helpers import rounding_helper
from pycu2c.codegen.helpers.templates import Helper
from pycu2c.ops.intrinsics.floats.exact_rounding import CUDA_NAMES, MODE_TEXT, RoundingMode

_ROUND_FUNCTIONS = {"rn": "rint", "rz": "trunc", "rd": "floor", "ru": "ceil"}


def _float_to_integer(
    name: str, source: dtypes.DType, target: dtypes.DType, mode: RoundingMode
) -> Helper:
    """Return a conversion that saturates."""
    # the exclusive upper limit as a float
    end = f"0x1p{target.bits - target.is_signed}{source.suffix}"
    start = f"-{end}" if target.is_signed else f"0.0{source.suffix}"
    macro_prefix = target.c.removesuffix("_t").upper()
    minimum = f"{macro_prefix}_MIN" if target.is_signed else "0"
    top_bit = minimum if target.is_signed else f"0x{1 << target.bits - 1:x}{target.suffix}"
    # as on GPUs, NaN becomes 0 from float to 32 bits, else the top bit
    nan = "0" if target.bits == source.bits == 32 else top_bit
    return Helper(
        fixed=f"""
// x rounded {MODE_TEXT[mode]}; larger numbers saturate.
$q {target.c} {name}({source.c} x) {{
    const {source.c} whole = {_ROUND_FUNCTIONS[mode]}{"f" * (source is dtypes.FLOAT32)}(x);
    if (whole != whole) return {nan};
    return whole >= {end} ? {macro_prefix}_MAX : whole >= {start} ? ({target.c})whole : {minimum};
}}
"""
    )


def _reinterpretation(name: str, source: dtypes.DType, target: dtypes.DType) -> Helper:
    return Helper(
        fixed=f"""
// The bits of x as another type.
$q {target.c} {name}({source.c} x) {{
    {target.c} same;
    __builtin_memcpy(&same, &x, sizeof same);
    return same;
}}
"""
    )


_REINTERPRETATIONS = {
    "float_as_int": (dtypes.FLOAT32, dtypes.INT32),
    "float_as_uint": (dtypes.FLOAT32, dtypes.UINT32),
    "int_as_float": (dtypes.INT32, dtypes.FLOAT32),
    "uint_as_float": (dtypes.UINT32, dtypes.FLOAT32),
    "double_as_longlong": (dtypes.FLOAT64, dtypes.INT64),
    "longlong_as_double": (dtypes.INT64, dtypes.FLOAT64),
    "half_as_short": (dtypes.FLOAT16, dtypes.INT16),
    "half_as_ushort": (dtypes.FLOAT16, dtypes.UINT16),
    "short_as_half": (dtypes.INT16, dtypes.FLOAT16),
    "ushort_as_half": (dtypes.UINT16, dtypes.FLOAT16),
    "bfloat16_as_short": (dtypes.BFLOAT16, dtypes.INT16),
    "bfloat16_as_ushort": (dtypes.BFLOAT16, dtypes.UINT16),
    "short_as_bfloat16": (dtypes.INT16, dtypes.BFLOAT16),
    "ushort_as_bfloat16": (dtypes.UINT16, dtypes.BFLOAT16),
}

_INTEGERS = (dtypes.INT32, dtypes.UINT32, dtypes.INT64, dtypes.UINT64)
_TO_FLOAT = (
    *((source, dtypes.FLOAT32) for source in (*_INTEGERS, dtypes.FLOAT64)),
    *((source, dtypes.FLOAT64) for source in (dtypes.INT64, dtypes.UINT64)),
)


def _rounding_conversions() -> dict[str, Helper]:
    helpers: dict[str, Helper] = {}
    for mode in MODE_TEXT:
        for source in (dtypes.FLOAT32, dtypes.FLOAT64):
            for target in _INTEGERS:
                name = f"{CUDA_NAMES[source]}2{CUDA_NAMES[target]}_{mode}"
                helpers[name] = _float_to_integer(name, source, target, mode)
        for source, target in _TO_FLOAT if mode != "rn" else ():  # "rn" is C's conversion
            name = f"{CUDA_NAMES[source]}2{CUDA_NAMES[target]}_{mode}"
            helpers[name] = rounding_helper(
                name, target.c, f"volatile {source.c} x", f"({target.c})x", mode
            )
    return helpers


CONVERSION_HELPERS: dict[str, Helper] = {
    **_rounding_conversions(),
    **{name: _reinterpretation(name, *types) for name, types in _REINTERPRETATIONS.items()},
}
