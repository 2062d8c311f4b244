"""Helpers for arithmetic with a rounding mode on the CPU.

The functions set the rounding mode of the processor. Volatile operands keep the operation between
the two calls that set the mode, and prevent contraction.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.codegen.helpers.templates import Helper
from pycu2c.ops.intrinsics.floats.exact_rounding import MODE_TEXT, RoundingMode

_DIRECTIONS = {"rz": "FE_TOWARDZERO", "rd": "FE_DOWNWARD", "ru": "FE_UPWARD"}


def rounding_helper(
    name: str, result: str, parameters: str, formula: str, mode: RoundingMode
) -> Helper:
    """Return a helper whose formula is rounded once; its parameters are volatile."""
    body = f"    const volatile {result} result = {formula};\n"
    if mode in _DIRECTIONS:
        prologue = f"    const int before = fegetround();\n    fesetround({_DIRECTIONS[mode]});\n"
        body = f"{prologue}{body}    fesetround(before);\n"
    return Helper(
        fixed=f"""
// {formula}, rounded {MODE_TEXT[mode]}.
$q {result} {name}({parameters}) {{
{body}    return result;
}}
"""
    )


# name in CUDA for float and double, operands, formula with @ for the suffix of float functions
_OPERATIONS = (
    ("fadd", "dadd", "ab", "a + b"),
    ("fsub", "dsub", "ab", "a - b"),
    ("fmul", "dmul", "ab", "a * b"),
    ("fdiv", "ddiv", "ab", "a / b"),
    ("frcp", "drcp", "x", "1 / x"),
    ("fsqrt", "dsqrt", "x", "sqrt@(x)"),
    ("fmaf", "fma", "abc", "fma@(a, b, c)"),
)


def _operations(mode: RoundingMode) -> Iterator[tuple[str, Helper]]:
    for float_name, double_name, operands, pattern in _OPERATIONS:
        for stem, c_type, suffix in ((float_name, "float", "f"), (double_name, "double", "")):
            parameters = ", ".join(f"volatile {c_type} {operand}" for operand in operands)
            name, formula = f"{stem}_{mode}", pattern.replace("@", suffix)
            yield name, rounding_helper(name, c_type, parameters, formula, mode)


ROUNDING_HELPERS = {name: helper for mode in MODE_TEXT for name, helper in _operations(mode)}
