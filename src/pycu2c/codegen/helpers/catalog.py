"""The catalog of C helper functions that generated code calls, instantiated per dtype on demand.

The folder ``c`` has most templates; modules of this folder generate the others.

No helper has undefined behaviour for any argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import Template

from pycu2c.base.dtypes import BY_NAME, DTYPES, FLOAT32, FLOAT64, INT16, INT32, VECTORS, DType
from pycu2c.codegen.helpers import half_helpers
from pycu2c.codegen.helpers.atomic_helpers import ATOMIC_HELPERS
from pycu2c.codegen.helpers.conversion_helpers import CONVERSION_HELPERS
from pycu2c.codegen.helpers.directed_rounding_helpers import ROUNDING_HELPERS
from pycu2c.codegen.helpers.integer_helpers import WORD_HELPERS
from pycu2c.codegen.helpers.special_helpers import SPECIAL_HELPERS
from pycu2c.codegen.helpers.templates import Helper, helpers_in
from pycu2c.codegen.helpers.texture_helpers import TEXTURE_HELPERS
from pycu2c.codegen.helpers.vector_helpers import VECTOR_HELPERS
from pycu2c.codegen.helpers.warp_reduction_helpers import REDUCTION_HELPERS
from pycu2c.csyntax import nodes as c

_FILES = (
    *("arithmetic", "complex", "conversions", "hardware", "integers", "loops", "math", "special"),
    "vector_math",
)
HELPERS: dict[str, Helper] = {
    **{name: helper for file in _FILES for name, helper in helpers_in(file).items()},
    **ATOMIC_HELPERS,
    **CONVERSION_HELPERS,
    **helpers_in("float8"),
    **REDUCTION_HELPERS,
    **ROUNDING_HELPERS,
    **SPECIAL_HELPERS,
    **TEXTURE_HELPERS,
    **VECTOR_HELPERS,
    **WORD_HELPERS,
    **half_helpers.HALF_HELPERS,
}
_BY_SHORT_NAME = {dtype.short: dtype for dtype in (*DTYPES, *VECTORS.values())}
_QUALIFIERS = {"cuda": "__device__ __forceinline__", "c": "static inline"}


def texts_of(helpers: Iterable[tuple[str, DType]], dialect_name: str) -> list[str]:
    """Return the C text of helpers, without duplicates; callees precede callers."""
    needed = {(n, dtype): None for name, dtype in helpers for n in (*HELPERS[name].calls, name)}
    texts = (instantiate(name, dtype, dialect_name) for name, dtype in needed)
    return [text for text in dict.fromkeys(texts) if text]


def helper_named(function: str) -> tuple[str, DType] | None:
    """Return the helper and the dtype of a C name, ``floordiv_i32``; None for other functions."""
    if function in HELPERS and HELPERS[function].fixed:
        return function, INT32
    name, _, short = function.rpartition("_")
    return (name, _BY_SHORT_NAME[short]) if name in HELPERS and short in _BY_SHORT_NAME else None


def helper_called(e: c.Expr) -> tuple[str, DType] | None:
    """Return the helper that an expression calls, and its dtype; the call may be converted."""
    call = e.operand if isinstance(e, (c.CastExpr, c.UnaryExpr)) else e
    return helper_named(call.function) if isinstance(call, c.CallExpr) else None


def helpers_in_text(text: str) -> list[tuple[str, DType]]:
    """Return the helpers whose names occur in a C text, and their dtypes."""
    return [found for word in re.findall(r"\w+", text) if (found := helper_named(word))]


def instantiate(name: str, dtype: DType, dialect_name: str) -> str:
    """Return the text of a helper for a dtype and dialect; empty if none is needed."""
    text = _template(name, dtype, dialect_name)
    unsigned_dtype = BY_NAME["uint64" if dtype.bits == 64 else "uint32"]
    type_name, unsigned = getattr(dtype, dialect_name), getattr(unsigned_dtype, dialect_name)
    in_asm = _negates_in_asm(dtype, dialect_name)
    return Template(text.strip("\n")).substitute(
        q=_QUALIFIERS[dialect_name],
        T=type_name,
        t=dtype.short,
        W=unsigned,
        bits=dtype.bits,
        R=getattr(dtype.real, dialect_name),
        f="f" if dtype.real is FLOAT32 else "",
        s=dtype.suffix,
        n="neg_i16(" if in_asm else f"({type_name})(0 - ({unsigned})",
    )


def _template(name: str, dtype: DType, dialect_name: str) -> str:
    helper = HELPERS[name]
    if helper.fixed:
        return helper.fixed
    if helper.generate is not None:
        return helper.generate(name, dtype, dialect_name)
    if dtype.is_complex:
        return helper.complex
    if name == "neg" and _negates_in_asm(dtype, dialect_name):
        return _NEG_IN_32_BITS
    if dtype.is_half:
        return half_helpers.half_text(name, dtype, dialect_name)
    if dtype.is_float:
        return (dtype is FLOAT64 and helper.wide) or helper.floating
    return helper.signed if dtype.is_signed else helper.unsigned


def _negates_in_asm(dtype: DType, dialect_name: str) -> bool:
    """Return whether the negation of a type needs ``_NEG_IN_32_BITS``."""
    return (dialect_name, dtype) == ("cuda", INT16)


# ptxas before 13.3 does not sign-extend the result of neg.s16 and abs.s16: the widened result for
# -32768 is 32768. NVRTC generates these instructions for any equivalent C. CUDA C that is
# compiled for the CPU does not need the workaround.
_NEG_IN_32_BITS = """
// -x; the least integer wraps to itself.
$q short neg_i16(short x) {
    int wide = -x;
#ifndef __PYCU2C_CPU__
    asm("neg.s32 %0, %1;" : "=r"(wide) : "r"((int)x));
#endif
    return (short)wide;
}
"""
