"""Helpers for Python's operators and comparisons, where C has another meaning.

Signed arithmetic that may overflow is done in ``$W``, an unsigned type that C does not promote.
"""

from __future__ import annotations

from pycu2c.base.dtypes import INT16, DType
from pycu2c.codegen.helpers.templates import Helper, floating_helpers, integer_helpers


def negates_in_asm(dtype: DType, dialect_name: str) -> bool:
    """Return whether the negation of a type needs ``NEG_IN_32_BITS``."""
    return (dialect_name, dtype) == ("cuda", INT16)


# ptxas before 13.3 does not sign-extend the result of neg.s16 and abs.s16: the widened result for
# -32768 is 32768. NVRTC generates these instructions for any equivalent C. CUDA C that is
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
// base ** exponent, wrapping; truncated to an integer for a negative exponent.
$q $T pow_$t($T base, $T exponent) {
    if (exponent < 0) return base == 1 ? 1 : base != -1 ? 0 : exponent & 1 ? -1 : 1;"""
    + _SQUARING,
    unsigned="""
// base ** exponent, wrapping.
$q $T pow_$t($T base, $T exponent) {"""
    + _SQUARING,
)

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


_PICK_INTEGER = """
// a where the mask is 1, b where it is 0, without a branch.
$q $T pick_$t($T a, $T b, int32_t mask) {
    return ($T)(b ^ ((a ^ b) & -($W)mask));
}
"""

PICK = Helper(
    signed=_PICK_INTEGER,
    unsigned=_PICK_INTEGER,
    floating="""
// a where the mask is 1, b where it is 0, bit by bit, without a branch.
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


def _choice(name: str, comment: str, choice: str) -> str:
    return f"// {comment}\n$q $T {name}_$t($T a, $T b) {{\n    return {choice};\n}}"


def _extreme(name: str, comment: str, choice: str, floating: str = "") -> Helper:
    """Return a helper of one line; ``floating`` is the choice where floats differ."""
    text = _choice(name, comment, choice)
    return Helper(text, text, _choice(name, comment, floating or choice))


ARITHMETIC_HELPERS: dict[str, Helper] = {
    "floordiv": FLOORDIV,
    "mod": MOD,
    "pow": POW,
    "shr": SHR,
    "abs": ABS,
    "min": _extreme("min", "min(a, b) as in Python: a unless b < a.", "b < a ? b : a"),
    "max": _extreme("max", "max(a, b) as in Python: a unless b > a.", "b > a ? b : a"),
    "minimum": _extreme(
        "minimum",
        "The minimum; NaN if an argument is NaN.",
        "b < a ? b : a",
        "a <= b || a != a ? a : b",
    ),
    "maximum": _extreme(
        "maximum",
        "The maximum; NaN if an argument is NaN.",
        "b > a ? b : a",
        "a >= b || a != a ? a : b",
    ),
    "pick": PICK,
    "trip_count": TRIP_COUNT,
    **integer_helpers(
        """
// a << b; 0 where b is the width or more.
$q $T shl_$t($T a, $T b) {
    return ($W)b < $bits ? ($T)(($W)a << b) : 0;
}
"""
    ),
    **floating_helpers(
        """
// Whether a and b have the same bits: NaN equals NaN, -0.0 differs from 0.0.
$q int same_bits_$t($T a, $T b) {
    return __builtin_memcmp(&a, &b, sizeof a) == 0;
}

// x, with 0.0 in place of -0.0.
$q $T positive_zero_$t($T x) {
    return x + 0;
}
"""
    ),
}
