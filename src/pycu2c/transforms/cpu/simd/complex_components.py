"""Complex arithmetic, part by part: what ``codegen/helpers/complex_helpers.py`` says in C, in nodes of the IR.
Knows nothing of variables.

Each rule gets the call and the parts of its arguments, which may be written twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pycu2c.ir.builders import binary, cast, const, logical, scalar_type, unary
from pycu2c.ir.nodes import Apply, Expr, LogicalOp, Select, Var
from pycu2c.ops.intrinsics.floats.complex import EQUAL, NEGATED, OF_OPERATOR
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import ADD, DIV, EQ, GE, MUL, NEG, SUB, Operator

Bind: TypeAlias = Callable[[Expr], Var]  # keeps a value that is written twice
Parts: TypeAlias = tuple[Expr, ...]

_FABS = REGISTRY["math.fabs"]


def _of(op: Operator, a: Expr, b: Expr) -> Expr:
    return binary(op, a, cast(b, scalar_type(a)), a.span)


def _each(op: Operator) -> Callable[[Apply, Bind, Parts, Parts], Parts]:
    def rule(e: Apply, _: Bind, a: Parts, b: Parts) -> Parts:
        return tuple(_of(op, x, y) for x, y in zip(a, b))

    return rule


def _product(e: Apply, _: Bind, a: Parts, b: Parts) -> Parts:
    return (
        _of(SUB, _of(MUL, a[0], b[0]), _of(MUL, a[1], b[1])),
        _of(ADD, _of(MUL, a[0], b[1]), _of(MUL, a[1], b[0])),
    )


def _quotient(e: Apply, bind: Bind, a: Parts, b: Parts) -> Parts:
    """By Smith's method: with ``ratio`` the lesser part of b by the greater."""

    def size(part: Expr) -> Expr:
        return Apply(_FABS, (part,), scalar_type(part), e.span)

    def chosen(condition: Expr, then: Expr, orelse: Expr) -> Expr:
        return Select(condition, then, cast(orelse, scalar_type(then)), scalar_type(then), e.span)

    zero, one = (const(n, e.span, scalar_type(b[0])) for n in (0, 1))
    nothing = bind(logical(LogicalOp.AND, _of(EQ, b[0], zero), _of(EQ, b[1], zero), e.span))
    wide = bind(_of(GE, size(b[0]), size(b[1])))
    great, less = bind(chosen(wide, *b)), bind(chosen(wide, *reversed(b)))
    ratio = bind(_of(DIV, less, great))
    scale = bind(_of(DIV, one, _of(ADD, great, _of(MUL, less, ratio))))
    x = _of(ADD, chosen(wide, *a), _of(MUL, chosen(wide, *reversed(a)), ratio))
    y = chosen(wide, _of(SUB, a[1], _of(MUL, a[0], ratio)), _of(SUB, _of(MUL, a[1], ratio), a[0]))
    by_zero = [_of(DIV, part, size(b[0])) for part in a]
    return tuple(
        chosen(nothing, infinite, _of(MUL, part, scale)) for infinite, part in zip(by_zero, (x, y))
    )


def _negated(e: Apply, _: Bind, a: Parts) -> Parts:
    return tuple(unary(NEG, part, e.span) for part in a)


def _conjugate(e: Apply, _: Bind, a: Parts) -> Parts:
    return (a[0], unary(NEG, a[1], e.span))


PARTS_OF: dict[object, Callable[..., Parts]] = {
    OF_OPERATOR[ADD]: _each(ADD),
    OF_OPERATOR[SUB]: _each(SUB),
    OF_OPERATOR[MUL]: _product,
    OF_OPERATOR[DIV]: _quotient,
    NEGATED: _negated,
    REGISTRY["complex.conjugate"]: _conjugate,
}


def _equal(e: Apply, a: Parts, b: Parts) -> Expr:
    return logical(LogicalOp.AND, _of(EQ, a[0], b[0]), _of(EQ, a[1], b[1]), e.span)


VALUE_OF: dict[object, Callable[..., Expr]] = {EQUAL: _equal}
