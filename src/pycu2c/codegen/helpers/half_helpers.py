"""Helpers for float16 and bfloat16.

Placeholders: ``$T`` the type, ``$wide`` the conversion to float, ``$round`` the conversion from
float, ``$q`` the qualifiers, ``$t`` the type in names.
"""

from __future__ import annotations

from string import Template

from pycu2c.base.dtypes import BFLOAT16, FLOAT32, FLOAT64, DType
from pycu2c.codegen.half_types import conversion
from pycu2c.codegen.helpers.templates import Helper

# name -> formula on floats, and CUDA's function for the type
_OPERATORS = {
    "add": ("a + b", "__hadd_rn"),
    "sub": ("a - b", "__hsub_rn"),
    "mul": ("a * b", "__hmul_rn"),
    "div": ("a / b", ""),
    "neg": ("-a", "__hneg"),
}

# comparisons of two floats; with the suffix u (unordered) also true if an operand is NaN
_COMPARISONS = {
    "half_ne": "x < y || x > y",
    "half_equ": "!(x < y || x > y)",
    "half_ltu": "!(x >= y)",
    "half_leu": "!(x > y)",
    "half_gtu": "!(x <= y)",
    "half_geu": "!(x < y)",
}

_COMPARISON = """
// $formula
$q bool ${name}_$t($T a, $T b) {
    const float x = $wide(a), y = $wide(b);
    return $formula;
}
"""

_COMPUTED_IN_FLOAT = """
// $formula$rounded
$q $T ${name}_$t($parameters) {
    return $round($computed);
}
"""

# devices before sm_80 have no bfloat16 arithmetic, and older headers have no functions for it
_NATIVE_FROM_SM_80 = """
// $formula$rounded
$q $T ${name}_$t($parameters) {
#if __CUDA_ARCH__ >= 800
    return $native($names);
#else
    return $round($computed);
#endif
}
"""


# rounds to odd in double, so that the second rounding is correct
_FUSED = """
// a * b + c, rounded once.
$q $T half_fma_$t($T a, $T b, $T c) {
    const double product = (double)$wide(a) * (double)$wide(b), term = $wide(c);
    double sum = product + term;
    const double part = sum - product, rest = (product - (sum - part)) + (term - part);
    if (rest != 0) {
        const double up = nextafter(sum, rest > 0 ? 1e308 : -1e308);
        const int is_odd = fmod(ldexp(sum, 52 - ilogb(sum)), 2.0) != 0;
        if (rest - rest == 0 && !is_odd) sum = up;  // rest is finite
    }
    return $round(sum);
}
"""
_FUSED_FROM_SM_80 = """
#if __CUDA_ARCH__ >= 800
// a * b + c, rounded once.
$q $T half_fma_$t($T a, $T b, $T c) {
    return __hfma(a, b, c);
}
#else
$fused
#endif
"""


def _fused(dtype: DType, dialect: str) -> str:
    text = Template(_FUSED.strip("\n")).safe_substitute(
        wide=conversion(dtype, FLOAT32, dialect), round=conversion(FLOAT64, dtype, dialect)
    )
    is_native = dialect == "cuda" and dtype is BFLOAT16
    return Template(_FUSED_FROM_SM_80).safe_substitute(fused=text) if is_native else text


_ROUND_DIGITS = """
// x rounded to decimal digits, ties to even, as numpy computes it: each step is rounded.
$q $T round_digits_$t($T x, long long digits) {
    const long long count = digits < -400 ? 400 : digits < 0 ? -digits : digits;
    double power = 1;
    for (long long i = 0; i < count && i < 400; i++) power *= 10;
    const double value = $wide(x), scale = $scale;
    const float scaled = $wide($round(digits < 0 ? value / scale : value * scale));
    const double whole = rintf(scaled);
    return $round(digits < 0 ? whole * scale : whole / scale);
}
"""

# without text: ``half_text`` generates it for a type and a dialect
HALF_HELPERS = dict.fromkeys(("half_fma", *_COMPARISONS), Helper())


def half_text(name: str, dtype: DType, dialect: str) -> str:
    """Return the template of helper ``name``, with placeholders for qualifiers and type."""
    if name == "half_fma":
        return _fused(dtype, dialect)
    if name in _COMPARISONS:
        wide = conversion(dtype, FLOAT32, dialect)
        return Template(_COMPARISON).safe_substitute(
            name=name, formula=_COMPARISONS[name], wide=wide
        )
    if name == "round_digits":
        wide, narrow = conversion(dtype, FLOAT32, dialect), conversion(FLOAT64, dtype, dialect)
        # NumPy converts the power to float16, but not to bfloat16
        scale = "power" if dtype is BFLOAT16 else f"{wide}({narrow}(power))"
        return Template(_ROUND_DIGITS).safe_substitute(wide=wide, round=narrow, scale=scale)
    formula, native = _OPERATORS[name]
    names = [operand for operand in "ab" if operand in formula]
    wide = conversion(dtype, FLOAT32, dialect)
    is_native = dialect == "cuda" and dtype is BFLOAT16 and native
    return Template(_NATIVE_FROM_SM_80 if is_native else _COMPUTED_IN_FLOAT).safe_substitute(
        name=name,
        formula=formula,
        rounded="" if name == "neg" else ", rounded once",
        parameters=", ".join(f"$T {operand}" for operand in names),
        names=", ".join(names),
        computed="".join(f"{wide}({char})" if char in names else char for char in formula),
        native=native,
        round=conversion(FLOAT32, dtype, dialect),
    )
