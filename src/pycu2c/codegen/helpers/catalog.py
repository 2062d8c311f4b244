"""The catalog of C helper functions that generated code calls, instantiated per dtype on demand.

No helper has undefined behaviour for any argument.
"""

from __future__ import annotations

from collections.abc import Iterable
from string import Template

from pycu2c.base.dtypes import BY_NAME, FLOAT32, FLOAT64, DType
from pycu2c.codegen.helpers import half_helpers
from pycu2c.codegen.helpers.arithmetic_helpers import (
    ARITHMETIC_HELPERS,
    NEG_IN_32_BITS,
    negates_in_asm,
)
from pycu2c.codegen.helpers.atomic_helpers import ATOMIC_HELPERS
from pycu2c.codegen.helpers.complex_helpers import COMPLEX_HELPERS, COMPLEX_TEMPLATES
from pycu2c.codegen.helpers.conversion_helpers import CONVERSION_HELPERS, FLOAT8_HELPERS
from pycu2c.codegen.helpers.directed_rounding_helpers import ROUNDING_HELPERS
from pycu2c.codegen.helpers.hardware_helpers import HARDWARE_HELPERS
from pycu2c.codegen.helpers.integer_helpers import BIT_HELPERS, WORD_HELPERS
from pycu2c.codegen.helpers.loop_helpers import LOOP_HELPERS
from pycu2c.codegen.helpers.math_helpers import MATH_HELPERS
from pycu2c.codegen.helpers.special_helpers import SPECIAL_HELPERS
from pycu2c.codegen.helpers.templates import Helper
from pycu2c.codegen.helpers.texture_helpers import TEXTURE_HELPERS
from pycu2c.codegen.vector_math import VECTOR_MATH_HELPERS

HELPERS: dict[str, Helper] = {
    **COMPLEX_HELPERS,  # first: a helper for other types may have the same name
    **ARITHMETIC_HELPERS,
    **ATOMIC_HELPERS,
    **BIT_HELPERS,
    **CONVERSION_HELPERS,
    **FLOAT8_HELPERS,
    **HARDWARE_HELPERS,
    **LOOP_HELPERS,
    **MATH_HELPERS,
    **ROUNDING_HELPERS,
    **SPECIAL_HELPERS,
    **TEXTURE_HELPERS,
    **WORD_HELPERS,
    **half_helpers.HALF_HELPERS,
    **VECTOR_MATH_HELPERS,
}
_QUALIFIERS = {"cuda": "__device__ __forceinline__", "c": "static inline"}


def texts_of(helpers: Iterable[tuple[str, DType]], dialect_name: str) -> list[str]:
    """Return the C text of helpers, without duplicates; callees precede callers."""
    needed = {(n, dtype): None for name, dtype in helpers for n in (*HELPERS[name].calls, name)}
    texts = (instantiate(name, dtype, dialect_name) for name, dtype in needed)
    return [text for text in texts if text]


def function_name(name: str, dtype: DType) -> str:
    """Return the C name of a helper for a dtype."""
    return name if HELPERS[name].fixed else f"{name}_{dtype.short}"


def instantiate(name: str, dtype: DType, dialect_name: str) -> str:
    """Return the text of a helper for a dtype and dialect; empty if none is needed."""
    text = _template(name, dtype, dialect_name)
    unsigned_dtype = BY_NAME["uint64" if dtype.bits == 64 else "uint32"]
    type_name, unsigned = getattr(dtype, dialect_name), getattr(unsigned_dtype, dialect_name)
    in_asm = negates_in_asm(dtype, dialect_name)
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
        return COMPLEX_TEMPLATES.get(name, "")
    if name == "neg" and negates_in_asm(dtype, dialect_name):
        return NEG_IN_32_BITS
    if dtype.is_half:
        return half_helpers.half_text(name, dtype, dialect_name)
    if dtype.is_float:
        return (dtype is FLOAT64 and helper.wide) or helper.floating
    return helper.signed if dtype.is_signed else helper.unsigned
