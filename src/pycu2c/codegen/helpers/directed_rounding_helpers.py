"""Helpers for arithmetic with a rounding mode on the CPU.

The functions set the rounding mode of the processor. Volatile operands keep the operation between
the two calls that set the mode, and prevent contraction.
"""

from __future__ import annotations

from pycu2c.codegen.helpers.templates import Helper
from pycu2c.ops.intrinsics.floats.exact_rounding import MODE_TEXT, Mode

_DIRECTIONS = {"rz": "FE_TOWARDZERO", "rd": "FE_DOWNWARD", "ru": "FE_UPWARD"}


def directed(name: str, gives: str, parameters: str, formula: str, mode: Mode) -> Helper:
    """Return a function whose formula is rounded once; its parameters are volatile."""
    body = f"    const volatile {gives} result = {formula};\n"
    if mode in _DIRECTIONS:
        before = f"    const int before = fegetround();\n    fesetround({_DIRECTIONS[mode]});\n"
        body = f"{before}{body}    fesetround(before);\n"
    return Helper(
        fixed=f"""
// {formula}, rounded {MODE_TEXT[mode]}.
$q {gives} {name}({parameters}) {{
{body}    return result;
}}
"""
    )


# name, formula; f where the function for float has a suffix
_FORMULAS = (
    ("add", "a + b"),
    ("sub", "a - b"),
    ("mul", "a * b"),
    ("div", "a / b"),
    ("rcp", "1 / x"),
    ("sqrt", "sqrt@(x)"),
    ("fma", "fma@(a, b, c)"),
)


def _all() -> dict[str, Helper]:
    found: dict[str, Helper] = {}
    for kind, letter, suffix in (("float", "f", "f"), ("double", "d", "")):
        for stem, pattern in _FORMULAS:
            names = [n for n in "abcx" if n in pattern.replace("fma", "").replace("sqrt", "")]
            parameters = ", ".join(f"volatile {kind} {n}" for n in names)
            for mode in MODE_TEXT:
                own = f"fma{suffix}" if stem == "fma" else f"{letter}{stem}"
                name = f"{own}_{mode}"
                formula = pattern.replace("@", suffix)
                found[name] = directed(name, kind, parameters, formula, mode)
    return found


_INVERSE_ROOT = """
// 1 / sqrt(x), rounded to the nearest, by a Newton step in double.
$q float frsqrt_rn(float x) {
    if (!(x > 0 && x < INFINITY)) return 1 / sqrtf(x);
    const double root = sqrt((double)x), near = 1 / root;
    const double off = fma(near * near, (double)x, -1.0);
    return (float)(near - near * off / 2);
}
"""

ROUNDING_HELPERS: dict[str, Helper] = {**_all(), "frsqrt_rn": Helper(fixed=_INVERSE_ROOT)}
