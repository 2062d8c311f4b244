"""Making IR nodes that are right by construction: conversions are folded, result types follow
the operator's row. The frontend and the passes build with these."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c.base.dtypes import UINT32, UINT64, Kind
from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Scalar
from pycu2c.base.values import Number, convert, scalar_of
from pycu2c.ir.nodes import (
    Apply,
    Binary,
    Cast,
    Const,
    Dim,
    Expr,
    Junction,
    Logical,
    Pack,
    Unary,
    Var,
)
from pycu2c.ops.operators import EQ, NE, NOT, Operator, UnaryOperator, folded, folded_unary


def scalar_type(e: Expr) -> Scalar:
    """The type of an expression that is known to be a number."""
    assert isinstance(e.type, Scalar), f"{e} is not a number"
    return e.type


def plain(value: Number) -> bool | int | float:
    """A numpy scalar as the Python number that a Const holds."""
    return value.item() if isinstance(value, np.generic) else value


def const(value: Number, span: Span, type: Scalar | None = None) -> Const:
    """A literal; its type is the number's own unless given."""
    own = type or scalar_of(value)
    assert own is not None
    # a literal over int64 stays whole: beside a uint64 it fits
    return Const(int(value) if own == WEAK_INT else plain(convert(value, own)), own, span)


def integer(value: int, span: Span) -> Const:
    """A weak int literal."""
    return Const(value, WEAK_INT, span)


def literal(value: object, span: Span) -> Expr:
    """Any number that a program writes; a complex one is packed of its parts, as a vector is."""
    kind = scalar_of(value)
    assert kind is not None
    number: Any = value
    if kind.dtype.is_vector:
        fields = kind.dtype.fields
        return Pack(tuple(const(number[f.name], span, Scalar(f.dtype)) for f in fields), kind, span)
    if not kind.dtype.is_complex:
        return const(number, span, kind)
    part = Scalar(kind.dtype.real, kind.weak)
    parts = (const(number.real, span, part), const(number.imag, span, part))
    return Pack(parts, kind, span)


def zero(kind: Scalar, span: Span) -> Expr:
    """The 0 of a type; of complex numbers, vectors and records, of each part."""
    if not kind.dtype.fields:
        return const(0, span, kind)
    weak = kind.weak and kind.dtype.is_complex
    parts = tuple(zero(Scalar(field.dtype, weak), span) for field in kind.dtype.fields)
    return Pack(parts, kind, span)


def number_of(e: Const) -> Number:
    """The number that a Const means: a numpy scalar if it is strong."""
    return e.value if e.type == WEAK_INT else convert(e.value, e.type)


def cast(e: Expr, to: Scalar) -> Expr:
    """``e`` converted to a type; nothing if it has it, a literal if it is one."""
    own = scalar_type(e)
    if own == to:
        return e
    if isinstance(e, Pack) and to.dtype.is_complex:
        part = Scalar(to.dtype.real, to.weak)
        return Pack(tuple(cast(p, part) for p in e.parts), to, e.span)
    if to.dtype.is_complex and not own.dtype.is_complex:
        part = Scalar(to.dtype.real, to.weak)
        return Pack((cast(e, part), const(0, e.span, part)), to, e.span)
    if isinstance(e, Const):
        return Const(plain(convert(number_of(e), to)), to, e.span)
    if isinstance(e, Cast) and (_changes_nothing(e) or (to.dtype.is_integer and _is_detour(e, to))):
        return cast(e.operand, to)
    return Cast(e, to, e.span)


def standing_at(e: Expr, span: Span) -> Expr:
    """A conversion that the user wrote stands where the call does, not where its operand does."""
    return replace(e, span=span) if isinstance(e, Cast) else e


def _changes_nothing(e: Cast) -> bool:
    """Whether a number became weak, or strong, and stayed what it is."""
    return scalar_type(e.operand).dtype == scalar_type(e).dtype


def _is_detour(e: Cast, to: Scalar) -> bool:
    """Whether converting the operand of a conversion straight to ``to`` gives the same: integers
    keep their low bits, and what was widened kept its value."""
    source, between = scalar_type(e.operand), scalar_type(e)
    if _widens(source, between):
        return True
    both_whole = source.dtype.is_integer and between.dtype.is_whole
    return both_whole and between.dtype.bits >= to.dtype.bits


def _widens(a: Scalar, b: Scalar) -> bool:
    """Whether every integer of ``a`` stays what it is in ``b``."""
    kinds = (Kind.SIGNED, Kind.UNSIGNED, Kind.BOOL)
    if a.dtype.kind not in kinds or b.dtype.kind not in kinds or b.dtype.kind is Kind.BOOL:
        return False
    return b.dtype.minimum <= a.dtype.minimum and a.dtype.maximum <= b.dtype.maximum


def binary(op: Operator, left: Expr, right: Expr, span: Span) -> Expr:
    """An operator on two operands of one type; folded if both are literals."""
    if isinstance(left, Const) and isinstance(right, Const):
        value = folded(op, number_of(left), number_of(right))
        return const(value, span, op.result(left.type))
    return Binary(op, left, right, op.result(scalar_type(left)), span)


def in_unsigned(op: Operator, left: Expr, right: Expr, span: Span) -> Expr:
    """``+``, ``-`` or ``*`` of whole numbers of 32 or 64 bits that may wrap, as ``int(unsigned(a) +
    unsigned(b))``: C leaves open what signed numbers do beyond their ends."""
    own = scalar_type(left)
    if not own.dtype.is_signed:
        return binary(op, left, right, span)
    unsigned = Scalar(UINT32 if own.dtype.bits == 32 else UINT64)
    return cast(binary(op, cast(left, unsigned), cast(right, unsigned), span), own)


def unary(op: UnaryOperator, operand: Expr, span: Span) -> Expr:
    """A unary operator on an operand of the type it works in; folded on literals."""
    if isinstance(operand, Const):
        return const(folded_unary(op, number_of(operand)), span, op.result(operand.type))
    return Unary(op, operand, op.result(scalar_type(operand)), span)


def truth(e: Expr) -> Expr:
    """``bool(e)``: e itself if it is a bool, else ``e != 0``."""
    own = scalar_type(e)
    if isinstance(e, Const):
        return Const(bool(e.value), WEAK_BOOL, e.span)
    if own.dtype.kind is Kind.BOOL:
        return cast(e, WEAK_BOOL)
    if isinstance(e, Cast) and scalar_type(e.operand).dtype.kind is Kind.BOOL:
        return truth(e.operand)
    if own.dtype.is_complex:
        zero = cast(const(0, e.span), own)
        return Binary(NE, e, zero, WEAK_BOOL, e.span)
    return Binary(NE, e, Const(plain(convert(0, own)), own, e.span), WEAK_BOOL, e.span)


def negation(e: Expr) -> Expr:
    """``not e`` of a condition; comparisons of integers are turned round."""
    if isinstance(e, Const):
        return Const(not e.value, WEAK_BOOL, e.span)
    if isinstance(e, Unary) and e.op is NOT:
        return e.operand
    if isinstance(e, Binary) and e.op in (EQ, NE):
        return Binary(NE if e.op is EQ else EQ, e.left, e.right, WEAK_BOOL, e.span)
    return Unary(NOT, e, WEAK_BOOL, e.span)


def both(op: Junction, left: Expr, right: Expr, span: Span) -> Expr:
    """``left and right`` or ``left or right`` of conditions; folded where one decides."""
    decides = op is Junction.OR
    if isinstance(left, Const):
        return left if bool(left.value) is decides else right
    if isinstance(right, Const) and bool(right.value) is not decides:
        return left
    return Logical(op, left, right, span)


def is_atom(e: Expr) -> bool:
    """Whether an expression costs nothing to write twice: a literal, a variable, a coordinate,
    a dimension, or a conversion of one."""
    match e:
        case Const() | Var() | Dim():
            return True
        case Apply(intrinsic=row, arguments=()):
            return row.is_value
        case Cast(operand=inner):
            return is_atom(inner)
        case _:
            return False
