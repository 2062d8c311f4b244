"""Arithmetic of float16 and bfloat16, and comparisons that Python has no operators for.

``transforms/common/legalize`` replaces operators with these intrinsics. They compute in float32
and round once, which equals rounding the exact result. CUDA's ``__hadd_rn`` and others do this in
one instruction and are never contracted.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from pycu2c.base.dtypes import BFLOAT16, FLOAT16, DType
from pycu2c.base.values import convert, scalar_of
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.floats.exact_rounding import fraction, rounded_to_odd
from pycu2c.ops.intrinsics.registry import Intrinsic, Spelling, declare
from pycu2c.ops.intrinsics.spelling import helper, overloaded
from pycu2c.ops.operators import ADD, DIV, MUL, NEG, SUB

HALVES = (FLOAT16, BFLOAT16)


def _native_or_helper(stem: str, native: str) -> Spelling:
    """Return a call of CUDA's function for float16, if there is one, else of a helper.

    For bfloat16, a helper calls it on devices that support it.
    """
    spell_native, spell_helper = overloaded(native), helper(stem)

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        return (spell_native if native and dtype is FLOAT16 else spell_helper)(a, dtype)

    return spell


def _declare(
    name: str, signature: str, compute: Callable[..., Any], doc: str, native: str, stem: str = ""
) -> Intrinsic:
    """Declare a function; ``native`` is CUDA's for float16, ``stem`` that of the helper."""
    stem = stem or name
    return declare(
        __name__,
        f"half.{name}",
        signature,
        compute,
        doc,
        dtypes=HALVES,
        cuda=_native_or_helper(stem, native),
        c=helper(stem),
    )


OPERATOR_INTRINSICS = {
    op: _declare(op.name, "a: T, b: T -> T", op.reference, f"``a {sign} b``, rounded once.", native)
    for op, sign, native in (
        (ADD, "+", "__hadd_rn"),
        (SUB, "-", "__hsub_rn"),
        (MUL, "*", "__hmul_rn"),
        (DIV, "/", ""),
    )
}


def _fused(a: Any, b: Any, term: Any) -> Any:
    kind = scalar_of(a)
    assert kind is not None
    operands = [float(n) for n in (a, b, term)]
    with np.errstate(all="ignore"):
        unrounded = operands[0] * operands[1] + operands[2]
    if not all(map(math.isfinite, operands)) or unrounded == 0:
        return convert(unrounded, kind)
    first, second, third = map(fraction, operands)
    return convert(rounded_to_odd(first * second + third), kind)


FMA = _declare(
    "fma",
    "a: T, b: T, c: T -> T",
    _fused,
    "``a * b + c``, rounded once.",
    "__hfma",
    "half_fma",
)
NEGATION = _declare("neg", "x: T -> T", NEG.reference, "``-x``.", "__hneg")


# ---- comparisons by CUDA's names -----------------------------------------------------------------


def _less_or_greater(a: Any, b: Any) -> bool:
    return bool(a < b or a > b)


# CUDA's name, the comparison, whether the result is negated (true of NaN), and the documentation
_COMPARISONS: tuple[tuple[str, Callable[[Any, Any], bool], bool, str], ...] = (
    ("ne", _less_or_greater, False, "``x < y or x > y``: false of a NaN."),
    ("equ", _less_or_greater, True, "``x == y``, or one is a NaN."),
    ("ltu", operator.ge, True, "``x < y``, or one is a NaN."),
    ("leu", operator.gt, True, "``x <= y``, or one is a NaN."),
    ("gtu", operator.le, True, "``x > y``, or one is a NaN."),
    ("geu", operator.lt, True, "``x >= y``, or one is a NaN."),
)


def _compare(comparison: Callable[[Any, Any], bool], is_negated: bool, x: Any, y: Any) -> bool:
    return bool(comparison(x, y)) != is_negated


COMPARISONS = {
    name: _declare(
        name,
        "x: T, y: T -> bool",
        partial(_compare, comparison, is_negated),
        doc,
        f"__h{name}",
        f"half_{name}",
    )
    for name, comparison, is_negated, doc in _COMPARISONS
}
