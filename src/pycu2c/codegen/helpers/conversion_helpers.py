"""Helpers for CUDA's conversions on the CPU: floats to integers and back with a rounding mode, and
reinterpretation of bits."""

from __future__ import annotations

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
from pycu2c.codegen.helpers.directed_rounding_helpers import directed
from pycu2c.codegen.helpers.templates import Helper
from pycu2c.ops.intrinsics.floats.exact_rounding import CUDA_NAMES, MODE_TEXT, Mode

_ROUND = {"rn": "rint", "rz": "trunc", "rd": "floor", "ru": "ceil"}


def _to_whole(source: DType, row: DType, mode: Mode) -> Helper:
    """Return the limits of an integer type as floats; the upper limit is exclusive."""
    suffix, name = source.suffix, f"{CUDA_NAMES[source]}2{CUDA_NAMES[row]}_{mode}"
    end = f"0x1p{row.bits - row.is_signed}{suffix}"
    start = f"-{end}" if row.is_signed else f"0.0{suffix}"
    most, least = f"{row.c[:-2].upper()}_MAX", f"{row.c[:-2].upper()}_MIN"
    top = least if row.is_signed else f"0x{1 << row.bits - 1:x}{row.suffix}"
    nan = "0" if row.bits == source.bits == 32 else top
    least = least if row.is_signed else "0"
    return Helper(
        fixed=f"""
// x rounded {MODE_TEXT[mode]}; beyond the ends of the type, that end.
$q {row.c} {name}({source.c} x) {{
    const {source.c} whole = {_ROUND[mode]}{"f" * (source is FLOAT32)}(x);
    if (whole != whole) return {nan};
    return whole >= {end} ? {most} : whole >= {start} ? ({row.c})whole : {least};
}}
"""
    )


def _to_float(source: DType, row: DType, mode: Mode) -> Helper:
    name = f"{CUDA_NAMES[source]}2{CUDA_NAMES[row]}_{mode}"
    return directed(name, row.c, f"volatile {source.c} x", f"({row.c})x", mode)


def _as(name: str, takes: DType, gives: DType) -> Helper:
    return Helper(
        fixed=f"""
// The number that has the bits of x.
$q {gives.c} {name}({takes.c} x) {{
    {gives.c} same;
    __builtin_memcpy(&same, &x, sizeof same);
    return same;
}}
"""
    )


_SAME = {
    "float_as_int": (FLOAT32, INT32),
    "float_as_uint": (FLOAT32, UINT32),
    "int_as_float": (INT32, FLOAT32),
    "uint_as_float": (UINT32, FLOAT32),
    "double_as_longlong": (FLOAT64, INT64),
    "longlong_as_double": (INT64, FLOAT64),
    "half_as_short": (FLOAT16, INT16),
    "half_as_ushort": (FLOAT16, UINT16),
    "short_as_half": (INT16, FLOAT16),
    "ushort_as_half": (UINT16, FLOAT16),
    "bfloat16_as_short": (BFLOAT16, INT16),
    "bfloat16_as_ushort": (BFLOAT16, UINT16),
    "short_as_bfloat16": (INT16, BFLOAT16),
    "ushort_as_bfloat16": (UINT16, BFLOAT16),
}

_HALF_OF_DOUBLE = """
// {said} 32 bits of x.
$q int32_t {name}(double x) {{
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return (int32_t)(bits{shift});
}}
"""
_JOINED = """
// The double with these upper and lower 32 bits.
$q double hiloint2double(int32_t high, int32_t low) {
    const uint64_t bits = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
"""

_WHOLE = (INT32, UINT32, INT64, UINT64)
_TO_FLOAT = (
    *((source, FLOAT32) for source in (*_WHOLE, FLOAT64)),
    *((source, FLOAT64) for source in (INT64, UINT64)),
)

CONVERSION_HELPERS: dict[str, Helper] = {
    **{
        f"{CUDA_NAMES[source]}2{CUDA_NAMES[row]}_{mode}": _to_whole(source, row, mode)
        for source in (FLOAT32, FLOAT64)
        for row in _WHOLE
        for mode in MODE_TEXT
    },
    **{
        f"{CUDA_NAMES[source]}2{CUDA_NAMES[row]}_{mode}": _to_float(source, row, mode)
        for source, row in _TO_FLOAT
        for mode in MODE_TEXT
        if mode != "rn"  # which is C's conversion
    },
    **{name: _as(name, *types) for name, types in _SAME.items()},
    "double2hiint": Helper(
        fixed=_HALF_OF_DOUBLE.format(said="The upper", name="double2hiint", shift=" >> 32")
    ),
    "double2loint": Helper(
        fixed=_HALF_OF_DOUBLE.format(said="The lower", name="double2loint", shift="")
    ),
    "hiloint2double": Helper(fixed=_JOINED),
}
