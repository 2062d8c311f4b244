"""Operators on numbers: type promotion by NEP 50, and its errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NoReturn

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import CompileError, Diagnostic, Label, fail
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import (
    WEAK_BOOL,
    WEAK_FLOAT,
    WEAK_INT,
    Scalar,
    have_common_type,
    int64,
    promote,
    uint64,
)
from pycu2c.base.values import MAX_EXACT_FLOAT_INT, fits
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.subset.unsupported_syntax import INTEGER_TOO_WIDE
from pycu2c.ir.builders import binary as binary_node
from pycu2c.ir.builders import (
    cast,
    const,
    constant_value,
    integer,
    is_atom,
    logical,
    negation,
    scalar_type,
)
from pycu2c.ir.builders import truth as truth_node
from pycu2c.ir.builders import unary as unary_node
from pycu2c.ir.nodes import Apply, Binary, Cast, Const, Expr, Let, LogicalOp, Select, Var
from pycu2c.ops.constant_folding import is_too_wide
from pycu2c.ops.intrinsics.builtins import compared_as_float
from pycu2c.ops.operators import (
    DIV,
    INVERT,
    LE,
    LT,
    MIRRORED_COMPARISONS,
    MUL,
    NE,
    NOT,
    Operator,
    UnaryOperator,
    bool_result,
)


def coerce(e: Expr, to_type: Scalar) -> Expr:
    """Convert an operand; a literal that the type cannot represent is an error, as in NumPy."""
    if not have_common_type(scalar_type(e), to_type):
        fail(
            "store-type",
            Label(e.span, f"this is `{e.type}`, here it would become `{to_type}`"),
            hint="make one from the numbers: float4(v.x, v.y, 0, 1), or take one of them, v.x",
        )
    if scalar_type(e).dtype.is_complex and not to_type.dtype.is_complex:
        fail(
            "store-type",
            Label(e.span, f"this is `{e.type}`, here it would become `{to_type}`"),
            hint="take one part: z.real, or abs(z)",
        )
    if isinstance(e, Const) and is_narrowed(e, to_type) and not constant_fits(e.value, to_type):
        raise CompileError([range_diagnostic(e, to_type, ())])
    converted = cast(e, to_type)
    if isinstance(converted, Cast) and is_narrowed(e, to_type):
        return replace(converted, must_fit=True)
    return converted


def is_narrowed(e: Expr, to_type: Scalar) -> bool:
    """Return whether a conversion takes a weak number to a strong type."""
    return scalar_type(e).weak and not to_type.weak


def constant_fits(value: float, to_type: Scalar) -> bool:
    """Return whether NumPy converts a Python number to a type; a float becomes an infinity."""
    if not to_type.dtype.is_integer:
        return True
    return math.isfinite(value) and fits(int(value), to_type)


def range_diagnostic(e: Const, to_type: Scalar, uses: Sequence[Label]) -> Diagnostic:
    """Return the error of a constant that does not fit a type."""
    label = Label(e.span, f"{e.value} does not fit `{to_type}`")
    minimum, maximum = to_type.dtype.minimum, to_type.dtype.maximum
    hint = f"use a number from {minimum} to {maximum}, or a wider type"
    return Diagnostic("constant-range", (label, *uses), hint)


def integer_hint(e: Expr) -> str:
    """Return the hint for a float in place of an integer."""
    if isinstance(e, Binary) and e.op is DIV:
        return "divide with `//`, or convert it with int(...)"
    is_literal = isinstance(e, Const) and e.type.dtype.is_float
    return "write the literal without a point" if is_literal else "convert it with int(...)"


def to_index(e: Expr) -> Expr:
    """Convert an integer to 64 bits, which a constant must fit."""
    if isinstance(e, Const) and e.type == WEAK_INT and not fits(int(e.value), WEAK_INT):
        fail(
            "constant-range",
            Label(e.span, "int64 does not hold this number"),
            hint="bounds of ranges and indices are from -2**63 to 2**63 - 1",
        )
    return cast(e, WEAK_INT)


def require_integer(e: Expr) -> Expr:
    """Return an argument as an int, or report an error."""
    if not scalar_type(e).dtype.is_integral:
        fail(
            "argument-type",
            Label(e.span, f"this is `{e.type}`; it must be an integer"),
            hint=integer_hint(e),
        )
    return to_index(e)


def evaluate_once(context: FunctionContext, e: Expr, use: Callable[[Expr], Expr]) -> Expr:
    """Return ``use(e)``; bind ``e`` to a name unless it is an atom."""
    if is_atom(e):
        return use(e)
    name = context.fresh("value")
    return Let(name, e, use(Var(name, scalar_type(e), e.span)), e.span)


def binary(context: FunctionContext, op: Operator, left: Expr, right: Expr, span: Span) -> Expr:
    """Lower ``left op right`` with Python's meaning and NumPy's type."""
    if op.result is bool_result:
        return compare(context, op, left, right, span)
    _check_integer_width(left, right)
    a, b = scalar_type(left), scalar_type(right)
    common = op.operands(a, b)
    if common is None:
        _report_no_operator(op, left, right, span)
    if op.name == "pow":
        common, right = _power_operands(left, right, common)
    if isinstance(left, Const) and isinstance(right, Const) and common == WEAK_INT:
        if is_too_wide(op, int(left.value), int(right.value)):
            INTEGER_TOO_WIDE.report(span)
    return binary_node(op, coerce(left, common), coerce(right, common), span)


def _check_integer_width(*operands: Expr) -> None:
    """Check integer constants that are combined with computed 64-bit integers."""
    if all(isinstance(e, Const) or not scalar_type(e).dtype.is_integral for e in operands):
        return
    for e in operands:
        if isinstance(e, Const) and e.type == WEAK_INT and not fits_64_bits(int(e.value)):
            INTEGER_TOO_WIDE.report(e.span)


def fits_64_bits(value: int) -> bool:
    """Return whether int64 or uint64 can represent an integer."""
    return fits(value, WEAK_INT) or fits(value, uint64)


def _power_operands(left: Expr, right: Expr, common: Scalar) -> tuple[Scalar, Expr]:
    """Return the type and exponent of a power; an int to a negative literal power is a float."""
    is_negative = isinstance(right, Const) and right.value < 0
    if is_negative and common == WEAK_INT:
        return WEAK_FLOAT, right
    if is_negative and common.dtype.is_integer:
        fail(
            "operand-type",
            Label(right.span, f"`{left.type}` to a negative power is not an integer"),
            hint="convert the base: float32(x) ** -1",
        )
    return common, right


def _report_no_operator(op: Operator, left: Expr, right: Expr, span: Span) -> NoReturn:
    if any(scalar_type(e).dtype.is_complex for e in (left, right)):
        fail(
            "operand-type",
            Label(span, f"complex numbers have no `{op.symbol}`"),
            hint="use z.real, z.imag or abs(z)",
        )
    floats = [e for e in (left, right) if scalar_type(e).dtype.is_float]
    if floats:
        fail(
            "operand-type",
            Label(floats[0].span, f"this is `{floats[0].type}`; `{op.symbol}` works on integers"),
            hint=_BITWISE_HINTS.get(op.symbol, "") + integer_hint(floats[0]),
        )
    fail(
        "operand-type",
        Label(span, f"`{left.type}` and `{right.type}` have no `{op.symbol}`"),
        hint="numpy has none for two bools; convert one: int(x)",
    )


_BITWISE_HINTS = {  # bitwise operators that users confuse with others
    "^": "a power is written `**`; of bits: ",
    "&": "join conditions with `and`; for numbers: ",
    "|": "join conditions with `or`; for numbers: ",
}


def unary(op: UnaryOperator, operand: Expr, span: Span) -> Expr:
    """Lower ``op operand``; ``not`` applies to the truth of a number."""
    if op is NOT:
        return negation(truth_node(operand))
    operand_type = scalar_type(operand)
    common = op.operand(operand_type)
    if common is None:
        fail(
            "operand-type",
            Label(operand.span, f"`{op.symbol}` has no meaning for `{operand_type}`"),
            hint="convert it with int(...)",
        )
    if op is INVERT and operand_type.dtype.kind is DTypeKind.BOOL and not operand_type.weak:
        return cast(negation(truth_node(operand)), operand_type)
    return unary_node(op, cast(operand, common), span)


def compare(context: FunctionContext, op: Operator, left: Expr, right: Expr, span: Span) -> Expr:
    """Lower a comparison, which is exact for integers of any two types and for Python numbers."""
    left, right = _out_of_range_literal(left, right), _out_of_range_literal(right, left)
    _check_integer_width(left, right)
    left, right = _matching_literal(left, right), _matching_literal(right, left)
    a, b = scalar_type(left), scalar_type(right)
    common = op.operands(a, b)
    if common is None:
        fail(
            "operand-type",
            Label(span, f"complex numbers have no `{op.symbol}`"),
            hint="compare abs(z), z.real or z.imag; np.less(z, w) has NumPy's order",
        )
    if not common.dtype.is_integral and a.dtype.is_integral and b.dtype.is_integral:
        return _compare_across_signs(context, op, left, right, span)
    if common == uint64 and int64.dtype in (a.dtype, b.dtype):
        return _compare_across_signs(context, op, left, right, span)
    if isinstance(left, Const) and isinstance(right, Const):
        return const(op.reference(constant_value(left), constant_value(right)), span, WEAK_BOOL)
    if common == WEAK_FLOAT:
        left, right = _compared_exactly(left, right), _compared_exactly(right, left)
    return binary_node(op, cast(left, common), cast(right, common), span)


def _compared_exactly(e: Expr, other: Expr) -> Expr:
    """Return a Python int in a form that compares exactly with a Python float."""
    if e.type != WEAK_INT or (isinstance(other, Const) and abs(other.value) < MAX_EXACT_FLOAT_INT):
        return e
    if isinstance(e, Const):
        value = int(e.value)
        if int(float(value)) == value or not fits(value, WEAK_INT):
            return e
    return Apply(compared_as_float, (e,), WEAK_FLOAT, e.span)


def _out_of_range_literal(e: Expr, other: Expr) -> Expr:
    """Replace a literal outside all integer types by an infinity, which compares equally."""
    if not isinstance(e, Const) or e.type != WEAK_INT or not scalar_type(other).dtype.is_integer:
        return e
    if fits(int(e.value), WEAK_INT) or fits(int(e.value), uint64) or isinstance(other, Const):
        return e
    return const(math.inf if e.value > 0 else -math.inf, e.span, WEAK_FLOAT)


def _matching_literal(e: Expr, other: Expr) -> Expr:
    """Return a weak int literal in the type of the other operand, or in uint64 above int64."""
    partner_type = scalar_type(other)
    if isinstance(e, Const) and e.type == WEAK_INT and partner_type.dtype.is_integer:
        for literal_type in (partner_type, WEAK_INT, uint64):
            if fits(int(e.value), literal_type):
                return const(e.value, e.span, literal_type)
    return e


def _compare_across_signs(
    context: FunctionContext, op: Operator, left: Expr, right: Expr, span: Span
) -> Expr:
    """Compare int64 with uint64, which have no common integer type: test the sign first."""
    if scalar_type(left).dtype is dtypes.UINT64:
        op, left, right = MIRRORED_COMPARISONS[op], right, left
    if_negative = op in (LT, LE, NE)  # the result if the signed operand is negative

    def compare_signed(signed: Expr) -> Expr:
        is_negative = binary_node(LT, signed, const(0, span, scalar_type(signed)), span)
        unsigned_result = binary_node(op, cast(signed, uint64), cast(right, uint64), span)
        if if_negative:
            return logical(LogicalOp.OR, is_negative, unsigned_result, span)
        return logical(LogicalOp.AND, negation(is_negative), unsigned_result, span)

    return evaluate_once(context, left, compare_signed)


def select(condition: Expr, then: Expr, orelse: Expr, span: Span) -> Expr:
    """Lower ``then if condition else orelse`` in the common type."""
    if not have_common_type(scalar_type(then), scalar_type(orelse)):
        fail(
            "join",
            Label(then.span, f"this is `{then.type}`"),
            Label(orelse.span, f"and this `{orelse.type}`"),
            hint="make both the same type: a vector of numbers, or one component, v.x",
        )
    common = promote(scalar_type(then), scalar_type(orelse))
    then, orelse = coerce(then, common), coerce(orelse, common)
    if isinstance(condition, Const):
        return then if condition.value else orelse
    return Select(condition, then, orelse, common, span)


def product(context: FunctionContext, factors: list[Expr], span: Span) -> Expr:
    """Return the product of weak ints; 1 without factors."""
    total: Expr = factors[0] if factors else integer(1, span)
    for factor in factors[1:]:
        total = binary(context, MUL, total, factor, span)
    return total
