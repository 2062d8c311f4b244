"""C functions of float16 and bfloat16, as templates: ``$T`` the type, ``$float`` the function that
makes a float of it, ``$round`` the one that rounds a float to it."""

from __future__ import annotations

from string import Template

from pycu2c.dtypes import BFLOAT16, FLOAT32, DType
from pycu2c.emit.half_types import conversion

# name -> what it computes of floats, and CUDA's own function of the type
_OPERATORS = {
    "add": ("a + b", "__hadd_rn"),
    "sub": ("a - b", "__hsub_rn"),
    "mul": ("a * b", "__hmul_rn"),
    "div": ("a / b", ""),
    "neg": ("-a", "__hneg"),
}

_PLAIN = """
// $formula$rounded
$q $T ${name}_$t($parameters) {
    return $round($computed);
}
"""

# devices before sm_80 have no arithmetic of bfloat16, nor older headers functions for them
_BY_DEVICE = """
// $formula$rounded
$q $T ${name}_$t($parameters) {
#if __CUDA_ARCH__ >= 800
    return $native($names);
#else
    return $round($computed);
#endif
}
"""


def half_text(name: str, dtype: DType, dialect: str) -> str:
    """The template of helper ``name``: its qualifiers and type are left open."""
    formula, native = _OPERATORS[name]
    names = [operand for operand in "ab" if operand in formula]
    wide = conversion(dtype, FLOAT32, dialect)
    by_device = dialect == "cuda" and dtype is BFLOAT16 and native
    return Template(_BY_DEVICE if by_device else _PLAIN).safe_substitute(
        name=name,
        formula=formula,
        rounded="" if name == "neg" else ", rounded once",
        parameters=", ".join(f"$T {operand}" for operand in names),
        names=", ".join(names),
        computed="".join(f"{wide}({part})" if part in names else part for part in formula),
        native=native,
        round=conversion(FLOAT32, dtype, dialect),
    )
