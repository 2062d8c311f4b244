"""The catalog of C helper functions that generated code calls, instantiated per dtype on demand.

No helper has undefined behaviour for any argument: signed arithmetic that may overflow is done in
``$W``, an unsigned type that C does not promote.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from string import Template

from pycu2c.base.dtypes import BY_NAME, FLOAT32, FLOAT64, INT16, DType
from pycu2c.codegen import vector_math
from pycu2c.codegen.helpers import (
    atomic_helpers,
    bit_helpers,
    clock_helpers,
    cluster_helpers,
    complex_helpers,
    conversion_helpers,
    directed_rounding_helpers,
    extended_arithmetic_helpers,
    float8_helpers,
    half_helpers,
    math_helpers,
    simd_in_word_helpers,
    special_helpers,
    texture_helpers,
    warp_helpers,
)
from pycu2c.codegen.helpers.templates import Helper

QUALIFIERS = {"cuda": "__device__ __forceinline__", "c": "static inline"}


def texts_of(helpers: Iterable[tuple[str, DType]], dialect_name: str) -> list[str]:
    """Return the C text of helpers, without duplicates; callees precede callers."""
    needed = {(n, dtype): None for name, dtype in helpers for n in (*_lookup(name).calls, name)}
    texts = (instantiate(name, dtype, dialect_name) for name, dtype in needed)
    return [text for text in texts if text]


def function_name(name: str, dtype: DType) -> str:
    """Return the C name of a helper for a dtype."""
    return name if _lookup(name).fixed else f"{name}_{dtype.short}"


def all_helpers() -> dict[str, Helper]:
    """Return all helpers by name."""
    return {name: helper for table in reversed(_TABLES) for name, helper in table().items()}


@functools.cache
def helper_named(name: str) -> Helper | None:
    """Return the helper of a name, or None. Searches the tables in order, and imports lazily."""
    tables = (table() for table in _TABLES)
    return next((table[name] for table in tables if name in table), None)


def _lookup(name: str) -> Helper:
    helper = helper_named(name)
    assert helper is not None, f"there is no helper {name}"
    return helper


def instantiate(name: str, dtype: DType, dialect_name: str) -> str:
    """Return the text of a helper for a dtype and dialect; empty if none is needed."""
    asm = _negates_in_asm(dtype, dialect_name)
    text = _template(name, dtype, dialect_name)
    working = BY_NAME["uint64" if dtype.bits == 64 else "uint32"]
    own, unsigned = getattr(dtype, dialect_name), getattr(working, dialect_name)
    return Template(text.strip("\n")).substitute(
        q=QUALIFIERS[dialect_name],
        T=own,
        t=dtype.short,
        W=unsigned,
        bits=dtype.bits,
        R=getattr(dtype.real, dialect_name),
        f="f" if dtype.real is FLOAT32 else "",
        s=dtype.suffix,
        n="neg_i16(" if asm else f"({own})(0 - ({unsigned})",
    )


def _template(name: str, dtype: DType, dialect_name: str) -> str:
    helper = _lookup(name)
    if helper.fixed:
        return helper.fixed
    if helper.made is not None:
        return helper.made(name, dtype, dialect_name)
    if dtype.is_complex:
        return complex_helpers.COMPLEX_HELPERS.get(name, "")
    if name == "neg" and _negates_in_asm(dtype, dialect_name):
        return NEG_IN_32_BITS
    if dtype.is_half:
        return half_helpers.half_text(name, dtype, dialect_name)
    if dtype.is_float:
        return (dtype is FLOAT64 and helper.wide) or helper.floating
    return helper.signed if dtype.is_signed else helper.unsigned


def _negates_in_asm(dtype: DType, dialect_name: str) -> bool:
    return (dialect_name, dtype) == ("cuda", INT16)


# ptxas before 13.3 does not sign-extend the result of neg.s16 and abs.s16: the widened result for
# -32768 is 32768. The compiler generates these instructions for any equivalent C. CUDA C that is
# compiled for the CPU does not need the workaround.
NEG_IN_32_BITS = """
// -x; the least integer wraps to itself.
$q short neg_i16(short x) {
    int wide = -x;
#ifndef __PYCU2C_CPU__
    asm("neg.s32 %0, %1;" : "=r"(wide) : "r"((int)x));
#endif
    return (short)wide;
}
"""

FLOORDIV = Helper(
    signed="""
// a // b: rounds down; 0 where b is 0.
$q $T floordiv_$t($T a, $T b) {
    if (b == 0) return 0;
    if (b == -1) return ${n}a);
    return ($T)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}
""",
    unsigned="""
// a // b; 0 where b is 0.
$q $T floordiv_$t($T a, $T b) {
    return b == 0 ? 0 : ($T)(a / b);
}
""",
    floating="""
// a // b: the quotient rounded down, as numpy computes it.
$q $T floordiv_$t($T a, $T b) {
    if (b == 0) return a / b;
    const $T remainder = fmod$f(a, b);
    $T quotient = (a - remainder) / b;
    if (remainder != 0 && (remainder < 0) != (b < 0)) quotient -= 1;
    if (quotient == 0) return copysign$f(0.0$s, a / b);
    const $T whole = floor$f(quotient);
    return quotient - whole > 0.5$s ? whole + 1 : whole;
}
""",
    calls=("neg",),
)

MOD = Helper(
    signed="""
// a % b: has the sign of b; 0 where b is 0.
$q $T mod_$t($T a, $T b) {
    if (b == 0 || b == -1) return 0;
    const $T remainder = ($T)(a % b);
    return (remainder != 0 && (remainder < 0) != (b < 0)) ? ($T)(remainder + b) : remainder;
}
""",
    unsigned="""
// a % b; 0 where b is 0.
$q $T mod_$t($T a, $T b) {
    return b == 0 ? 0 : ($T)(a % b);
}
""",
    floating="""
// a % b: has the sign of b.
$q $T mod_$t($T a, $T b) {
    const $T remainder = fmod$f(a, b);
    if (b == 0) return remainder;
    if (remainder == 0) return copysign$f(0.0$s, b);
    return (remainder < 0) != (b < 0) ? remainder + b : remainder;
}
""",
)

_SQUARING = """
    $W result = 1, square = ($W)base;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1) result *= square;
        square *= square;
    }
    return ($T)result;
}
"""

POW = Helper(
    signed="""
// base ** exponent, wrapping; a negative exponent cuts 1 / base ** -exponent to a whole number.
$q $T pow_$t($T base, $T exponent) {
    if (exponent < 0) return base == 1 ? 1 : base != -1 ? 0 : exponent & 1 ? -1 : 1;"""
    + _SQUARING,
    unsigned="""
// base ** exponent, wrapping.
$q $T pow_$t($T base, $T exponent) {"""
    + _SQUARING,
)

_SHL = """
// a << b; 0 where b is the width or more.
$q $T shl_$t($T a, $T b) {
    return ($W)b < $bits ? ($T)(($W)a << b) : 0;
}
"""

SHL = Helper(signed=_SHL, unsigned=_SHL)

SHR = Helper(
    signed="""
// a >> b; all sign bits where b is the width or more.
$q $T shr_$t($T a, $T b) {
    return ($T)(($W)b < $bits ? a >> b : a < 0 ? -1 : 0);
}
""",
    unsigned="""
// a >> b; 0 where b is the width or more.
$q $T shr_$t($T a, $T b) {
    return ($T)(b < $bits ? a >> b : 0);
}
""",
)

TRIP_COUNT = Helper(
    signed="""
// The length of range(start, stop, step), at most the largest $T; 0 for step 0.
$q $T trip_count_$t($T start, $T stop, $T step) {
    const $W most = ($W)-1 >> 1;
    $W others = 0;  // than the first
    if (step > 0 && start < stop) others = (($W)stop - ($W)start - 1) / ($W)step;
    else if (step < 0 && start > stop) others = (($W)start - ($W)stop - 1) / (0 - ($W)step);
    else return 0;
    return ($T)(others < most ? others + 1 : most);
}
"""
)

ABS = Helper(
    signed="""
// The absolute value; the least integer wraps to itself.
$q $T abs_$t($T x) {
    return x < 0 ? ${n}x) : x;
}
""",
    calls=("neg",),
)


def _choice(name: str, comment: str, choice: str) -> str:
    return f"// {comment}\n$q $T {name}_$t($T a, $T b) {{\n    return {choice};\n}}"


def _extreme(name: str, comment: str, choice: str, floating: str = "") -> Helper:
    """A helper of one line; ``floating`` is the choice where floats differ."""
    whole = _choice(name, comment, choice)
    return Helper(whole, whole, _choice(name, comment, floating or choice))


MIN = _extreme("min", "The lesser, as Python chooses: the first where neither is.", "b < a ? b : a")
MAX = _extreme(
    "max", "The greater, as Python chooses: the first where neither is.", "b > a ? b : a"
)
MINIMUM = _extreme(
    "minimum", "The lesser, NaN where one is.", "b < a ? b : a", "a <= b || a != a ? a : b"
)
MAXIMUM = _extreme(
    "maximum", "The greater, NaN where one is.", "b > a ? b : a", "a >= b || a != a ? a : b"
)


SHARED_BYTES = Helper(
    signed="""
// The bytes of dynamic shared memory that the launch gives each block.
$q $T shared_bytes_$t() {
    unsigned int size;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    return ($T)size;
}
"""
)

SAME_BITS = Helper(
    floating="""
// NaN is like NaN, -0.0 not like 0.0.
$q int same_bits_$t($T a, $T b) {
    return __builtin_memcmp(&a, &b, sizeof a) == 0;
}
"""
)

_PICK_WHOLE = """
// a where the mask is 1, b where it is 0, without a branch.
$q $T pick_$t($T a, $T b, int32_t mask) {
    return ($T)(b ^ ((a ^ b) & -($W)mask));
}
"""

PICK = Helper(
    signed=_PICK_WHOLE,
    unsigned=_PICK_WHOLE,
    floating="""
// a where the mask is 1, b where it is 0, bit by bit: compilers make no branch of that.
$q $T pick_$t($T a, $T b, int32_t mask) {
    $W x, y;
    __builtin_memcpy(&x, &a, sizeof x);
    __builtin_memcpy(&y, &b, sizeof y);
    y ^= (x ^ y) & -($W)mask;
    __builtin_memcpy(&b, &y, sizeof y);
    return b;
}
""",
)

_OWN: dict[str, Helper] = {
    "floordiv": FLOORDIV,
    "mod": MOD,
    "pow": POW,
    "shl": SHL,
    "shr": SHR,
    "trip_count": TRIP_COUNT,
    "abs": ABS,
    "min": MIN,
    "max": MAX,
    "minimum": MINIMUM,
    "maximum": MAXIMUM,
    "same_bits": SAME_BITS,
    "pick": PICK,
    "shared_bytes": SHARED_BYTES,
}
# the tables in the order in which a name is searched
_TABLES: tuple[Callable[[], Mapping[str, Helper]], ...] = (
    lambda: _OWN,
    lambda: math_helpers.MATH_HELPERS,
    lambda: atomic_helpers.ATOMIC_HELPERS,
    lambda: warp_helpers.WARP_HELPERS,
    lambda: vector_math.VECTOR_HELPERS,
    lambda: half_helpers.HALF_HELPERS,
    lambda: bit_helpers.BIT_HELPERS,
    lambda: clock_helpers.CLOCK_HELPERS,
    lambda: cluster_helpers.CLUSTER_HELPERS,
    lambda: complex_helpers.COMPLEX_ROWS,
    lambda: conversion_helpers.CONVERSION_HELPERS,
    lambda: directed_rounding_helpers.ROUNDING_HELPERS,
    lambda: texture_helpers.TEXTURE_HELPERS,
    lambda: extended_arithmetic_helpers.WORD_HELPERS,
    lambda: float8_helpers.EIGHTH_HELPERS,
    lambda: special_helpers.SPECIAL_HELPERS,
    lambda: simd_in_word_helpers.PACKED_WORD_HELPERS,
)
