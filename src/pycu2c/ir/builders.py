"""Build IR nodes: fold constants and conversions, and derive the types of results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c.base.dtypes import FLOAT64, UINT32, UINT64, DType, DTypeKind
from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Array, Scalar
from pycu2c.base.values import Number, convert, scalar_of
from pycu2c.ir import nodes as ir
from pycu2c.ops.constant_folding import fold_binary, fold_unary
from pycu2c.ops.operators import EQ, NE, NOT, Operator, UnaryOperator


def scalar_type(e: ir.Expr) -> Scalar:
    """Return the type of an expression that is a scalar."""
    assert isinstance(e.type, Scalar), f"{e} is not a number"
    return e.type


def array_type(array: ir.Var) -> Array:
    """Return the type of an array."""
    assert isinstance(array.type, Array), f"{array} is not an array"
    return array.type


def python_number(value: Number) -> bool | int | float:
    """Return a number as the Python number that a Const holds."""
    return value.item() if isinstance(value, np.generic) else value


def const(value: Number, span: Span, type: Scalar | None = None) -> ir.Const:
    """Return a literal of type ``type``, by default the type of the number."""
    scalar = type or scalar_of(value)
    assert scalar is not None
    # an int beyond int64 is not wrapped: it may be the operand of a uint64
    return ir.Const(
        int(value) if scalar == WEAK_INT else python_number(convert(value, scalar)), scalar, span
    )


def integer(value: int, span: Span) -> ir.Const:
    """Return a weak int literal."""
    return ir.Const(value, WEAK_INT, span)


def literal(value: object, span: Span) -> ir.Expr:
    """Return any number as a literal; complex numbers, vectors and records are Packs."""
    scalar = scalar_of(value)
    assert scalar is not None
    if scalar.dtype.kind is DTypeKind.RECORD:
        return _element_literal(value, scalar.dtype, span)
    number: Any = value
    if scalar.dtype.is_vector:
        fields = scalar.dtype.fields
        return ir.Pack(
            tuple(const(number[f.name], span, Scalar(f.dtype)) for f in fields), scalar, span
        )
    if not scalar.dtype.is_complex:
        return const(number, span, scalar)
    part = Scalar(scalar.dtype.real, scalar.weak)
    parts = (const(number.real, span, part), const(number.imag, span, part))
    return ir.Pack(parts, scalar, span)


def _element_literal(value: Any, dtype: DType, span: Span) -> ir.Expr:
    """Return an element of a NumPy array as a literal: a Pack of fields or of array elements."""
    if dtype.kind is DTypeKind.RECORD:
        parts = [_element_literal(value[f.name], f.dtype, span) for f in dtype.fields]
    elif dtype.element is not None:
        parts = [_element_literal(item, dtype.element, span) for item in value]
    else:
        return literal(value, span)
    return ir.Pack(tuple(parts), Scalar(dtype), span)


def zero(scalar: Scalar, span: Span) -> ir.Expr:
    """Return the zero of a type; a Pack of zeros for complex numbers, vectors and records."""
    if scalar.dtype.element is not None:
        return ir.Pack(
            (zero(Scalar(scalar.dtype.element), span),) * scalar.dtype.extents[0], scalar, span
        )
    if not scalar.dtype.fields:
        return const(0, span, scalar)
    weak = scalar.weak and scalar.dtype.is_complex
    parts = tuple(zero(Scalar(field.dtype, weak), span) for field in scalar.dtype.fields)
    return ir.Pack(parts, scalar, span)


def constant_value(e: ir.Const) -> Number:
    """Return the value of a Const, as a numpy scalar if its type is strong."""
    return e.value if e.type == WEAK_INT else convert(e.value, e.type)


def cast(e: ir.Expr, to: Scalar) -> ir.Expr:
    """Convert ``e`` to a type; fold literals and redundant conversions."""
    source = scalar_type(e)
    if source == to:
        return e
    if isinstance(e, ir.Pack) and to.dtype.is_complex:
        part = Scalar(to.dtype.real, to.weak)
        return ir.Pack(tuple(cast(p, part) for p in e.parts), to, e.span)
    if to.dtype.is_complex and not source.dtype.is_complex:
        part = Scalar(to.dtype.real, to.weak)
        return ir.Pack((cast(e, part), const(0, e.span, part)), to, e.span)
    if isinstance(e, ir.Const):
        return ir.Const(python_number(convert(constant_value(e), to)), to, e.span)
    if isinstance(e, ir.Cast) and (
        _keeps_dtype(e)
        or (to.dtype.is_integer and _is_redundant(e, to))
        or (to.dtype.is_float and _is_round_trip(e, to))
    ):
        return cast(e.operand, to)
    return ir.Cast(e, to, e.span)


def with_cast_span(e: ir.Expr, span: Span) -> ir.Expr:
    """Return a conversion with the span of the call that the user wrote."""
    return replace(e, span=span) if isinstance(e, ir.Cast) else e


def _keeps_dtype(e: ir.Cast) -> bool:
    """Return whether a conversion only changes between a weak and a strong type."""
    return scalar_type(e.operand).dtype == scalar_type(e).dtype


def _is_round_trip(e: ir.Cast, to: Scalar) -> bool:
    """Return whether a conversion to float64 and back keeps the value: ``(float)(double)x``."""
    return scalar_type(e).dtype == FLOAT64 and scalar_type(e.operand).dtype == to.dtype


def _is_redundant(e: ir.Cast, to: Scalar) -> bool:
    """Return whether converting the operand of ``e`` directly to ``to`` has the same result.

    A widening conversion keeps the value; integer conversions keep the low bits.
    """
    source, between = scalar_type(e.operand), scalar_type(e)
    if _widens(source, between):
        return True
    are_integers = source.dtype.is_integer and between.dtype.is_integral
    return are_integers and between.dtype.bits >= to.dtype.bits


def _widens(a: Scalar, b: Scalar) -> bool:
    """Return whether ``b`` represents every value of the integer type ``a``."""
    kinds = (DTypeKind.SIGNED, DTypeKind.UNSIGNED, DTypeKind.BOOL)
    if a.dtype.kind not in kinds or b.dtype.kind not in kinds or b.dtype.kind is DTypeKind.BOOL:
        return False
    return b.dtype.minimum <= a.dtype.minimum and a.dtype.maximum <= b.dtype.maximum


def binary(op: Operator, left: ir.Expr, right: ir.Expr, span: Span) -> ir.Expr:
    """Apply an operator to two operands of one type; fold two literals."""
    if isinstance(left, ir.Const) and isinstance(right, ir.Const):
        value = fold_binary(op, constant_value(left), constant_value(right))
        return const(value, span, op.result(left.type))
    return ir.Binary(op, left, right, op.result(scalar_type(left)), span)


def wrapping_arithmetic(op: Operator, left: ir.Expr, right: ir.Expr, span: Span) -> ir.Expr:
    """Return ``+``, ``-`` or ``*`` with wraparound: ``int(unsigned(a) + unsigned(b))``.

    Signed overflow is undefined in C. The operands are integers of 32 or 64 bits.
    """
    scalar = scalar_type(left)
    if not scalar.dtype.is_signed:
        return binary(op, left, right, span)
    unsigned = Scalar(UINT32 if scalar.dtype.bits == 32 else UINT64)
    return cast(binary(op, cast(left, unsigned), cast(right, unsigned), span), scalar)


def unary(op: UnaryOperator, operand: ir.Expr, span: Span) -> ir.Expr:
    """Apply a unary operator to an operand of its type; fold a literal."""
    if isinstance(operand, ir.Const):
        return const(fold_unary(op, constant_value(operand)), span, op.result(operand.type))
    return ir.Unary(op, operand, op.result(scalar_type(operand)), span)


def truth(e: ir.Expr) -> ir.Expr:
    """Return ``bool(e)``: ``e`` if it is a bool, else ``e != 0``."""
    scalar = scalar_type(e)
    if isinstance(e, ir.Const):
        return ir.Const(bool(e.value), WEAK_BOOL, e.span)
    if scalar.dtype.kind is DTypeKind.BOOL:
        return cast(e, WEAK_BOOL)
    if isinstance(e, ir.Cast) and scalar_type(e.operand).dtype.kind is DTypeKind.BOOL:
        return truth(e.operand)
    if scalar.dtype.is_complex:
        complex_zero = cast(const(0, e.span), scalar)
        return ir.Binary(NE, e, complex_zero, WEAK_BOOL, e.span)
    return ir.Binary(
        NE, e, ir.Const(python_number(convert(0, scalar)), scalar, e.span), WEAK_BOOL, e.span
    )


def negation(e: ir.Expr) -> ir.Expr:
    """Return ``not e`` of a condition; ``==`` and ``!=`` are exchanged."""
    if isinstance(e, ir.Const):
        return ir.Const(not e.value, WEAK_BOOL, e.span)
    if isinstance(e, ir.Unary) and e.op is NOT:
        return e.operand
    if isinstance(e, ir.Binary) and e.op in (EQ, NE):
        return ir.Binary(NE if e.op is EQ else EQ, e.left, e.right, WEAK_BOOL, e.span)
    return ir.Unary(NOT, e, WEAK_BOOL, e.span)


def logical(op: ir.LogicalOp, left: ir.Expr, right: ir.Expr, span: Span) -> ir.Expr:
    """Return ``left and right`` or ``left or right``; fold an operand that is a literal."""
    deciding_value = op is ir.LogicalOp.OR
    if isinstance(left, ir.Const):
        return left if bool(left.value) is deciding_value else right
    if isinstance(right, ir.Const) and bool(right.value) is not deciding_value:
        return left
    return ir.Logical(op, left, right, span)


def let(
    e: ir.Expr, hint: str, fresh: Callable[[str], str], compute: Callable[[ir.Expr], ir.Expr]
) -> ir.Expr:
    """Return what is computed from an expression that occurs twice, but is evaluated once.

    ``compute`` takes the expression if it is an atom, else a variable, which ``fresh`` names.
    """
    if is_atom(e):
        return compute(e)
    var = ir.Var(fresh(hint), scalar_type(e), e.span)
    result = compute(var)
    return ir.Let(var.name, e, result, result.span)


def is_atom(e: ir.Expr) -> bool:
    """Return whether duplicating an expression costs nothing.

    Literals, variables, thread coordinates, array lengths and conversions of these are atoms.
    """
    match e:
        case ir.Const() | ir.Var() | ir.Dim():
            return True
        case ir.Apply(intrinsic=intrinsic, arguments=()):
            return intrinsic.is_special_register
        case ir.Cast(operand=inner):
            return is_atom(inner)
        case _:
            return False
