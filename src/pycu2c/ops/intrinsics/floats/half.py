"""Arithmetic of float16 and bfloat16, and comparisons that Python has no operators for.

``transforms/common/legalize`` replaces operators with these intrinsics. They compute in float32
and round once, which equals rounding the exact result. CUDA's ``__hadd_rn`` and others do this in
one instruction and are never contracted.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pycu2c.base.dtypes import BFLOAT16, FLOAT16, DType
from pycu2c.base.values import convert, scalar_of
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.floats.exact_rounding import fraction, rounded_to_odd
from pycu2c.ops.intrinsics.kinds import T
from pycu2c.ops.intrinsics.registry import Intrinsic, Spelling, intrinsic
from pycu2c.ops.intrinsics.spelling import helper, overloaded
from pycu2c.ops.operators import ADD, DIV, MUL, NEG, SUB, Operator

HALVES = (FLOAT16, BFLOAT16)


def _native_or_helper(stem: str, native: str) -> Spelling:
    """Return a call of CUDA's function for float16, if there is one, else of a helper.

    For bfloat16, a helper calls it on devices that support it.
    """
    spell_native, spell_helper = overloaded(native), helper(stem)

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        return (spell_native if native and dtype is FLOAT16 else spell_helper)(a, dtype)

    return spell


def _declare_operator(op: Operator, native: str, doc: str) -> Intrinsic:
    def body(a: T, b: T) -> T:
        return op.reference(a, b)

    body.__doc__ = doc
    stem = op.name
    return intrinsic(
        f"half.{stem}", dtypes=HALVES, cuda=_native_or_helper(stem, native), c=helper(stem)
    )(body)


OPERATOR_INTRINSICS = {
    ADD: _declare_operator(ADD, "__hadd_rn", "``a + b``, rounded once."),
    SUB: _declare_operator(SUB, "__hsub_rn", "``a - b``, rounded once."),
    MUL: _declare_operator(MUL, "__hmul_rn", "``a * b``, rounded once."),
    DIV: _declare_operator(DIV, "", "``a / b``, rounded once."),
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


@intrinsic(
    "half.fma", dtypes=HALVES, cuda=_native_or_helper("half_fma", "__hfma"), c=helper("half_fma")
)
def FMA(a: T, b: T, c: T) -> T:
    """``a * b + c``, rounded once."""
    return _fused(a, b, c)


@intrinsic("half.neg", dtypes=HALVES, cuda=_native_or_helper("neg", "__hneg"), c=helper("neg"))
def NEGATION(x: T) -> T:
    """``-x``."""
    return NEG.reference(x)


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


def _declare_comparison(
    name: str, comparison: Callable[[Any, Any], bool], is_negated: bool, doc: str
) -> Intrinsic:
    def body(x: T, y: T) -> bool:
        return bool(comparison(x, y)) != is_negated

    body.__doc__ = doc
    stem = f"half_{name}"
    return intrinsic(
        f"half.{name}", dtypes=HALVES, cuda=_native_or_helper(stem, f"__h{name}"), c=helper(stem)
    )(body)


COMPARISONS = {entry[0]: _declare_comparison(*entry) for entry in _COMPARISONS}
