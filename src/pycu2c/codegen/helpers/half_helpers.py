"""Helpers for float16 and bfloat16.

Placeholders: ``$T`` the type, ``$wide`` the conversion to float, ``$round`` the conversion from
float, ``$q`` the qualifiers, ``$t`` the type in names.
"""

from __future__ import annotations

from string import Template

from pycu2c.base.dtypes import BFLOAT16, FLOAT32, FLOAT64, DType
from pycu2c.codegen.half_types import conversion
from pycu2c.codegen.helpers.templates import Helper, c_definition

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

# devices before sm_80 have no bfloat16 arithmetic, and older headers have no functions for it;
# _FUSED rounds to odd in double, so that the second rounding is correct
_COMPARISON, _COMPUTED_IN_FLOAT, _NATIVE_FROM_SM_80, _FUSED, _FUSED_FROM_SM_80, _ROUND_DIGITS = (
    c_definition("c/half").split("\n\n")
)


def _fused(dtype: DType, dialect: str) -> str:
    text = Template(_FUSED).safe_substitute(
        wide=conversion(dtype, FLOAT32, dialect), round=conversion(FLOAT64, dtype, dialect)
    )
    is_native = dialect == "cuda" and dtype is BFLOAT16
    return Template(_FUSED_FROM_SM_80).safe_substitute(fused=text) if is_native else text


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
