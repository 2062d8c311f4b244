"""Complex arithmetic by components, in IR nodes; the same formulas as in ``complex_helpers``.

Each rule takes the call and the components of its arguments, which may occur twice in the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, const, logical, scalar_type, unary
from pycu2c.ops.intrinsics.floats.complex import EQUALITY, NEGATION, OPERATOR_INTRINSICS
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import ADD, DIV, EQ, GE, MUL, NEG, SUB, Operator

Bind: TypeAlias = Callable[[ir.Expr], ir.Var]  # binds a value that occurs twice to a variable
Components: TypeAlias = tuple[ir.Expr, ...]

_FABS = REGISTRY["math.fabs"]


def _component_op(op: Operator, a: ir.Expr, b: ir.Expr) -> ir.Expr:
    return binary(op, a, cast(b, scalar_type(a)), a.span)


def _componentwise(op: Operator) -> Callable[[ir.Apply, Bind, Components, Components], Components]:
    def rule(e: ir.Apply, _: Bind, a: Components, b: Components) -> Components:
        return tuple(_component_op(op, x, y) for x, y in zip(a, b))

    return rule


def _multiply(e: ir.Apply, _: Bind, a: Components, b: Components) -> Components:
    return (
        _component_op(SUB, _component_op(MUL, a[0], b[0]), _component_op(MUL, a[1], b[1])),
        _component_op(ADD, _component_op(MUL, a[0], b[1]), _component_op(MUL, a[1], b[0])),
    )


def _divide(e: ir.Apply, bind: Bind, a: Components, b: Components) -> Components:
    """Divide by Smith's method; ``ratio`` is the smaller component of b over the larger one."""

    def magnitude(component: ir.Expr) -> ir.Expr:
        return ir.Apply(_FABS, (component,), scalar_type(component), e.span)

    def select(condition: ir.Expr, then: ir.Expr, orelse: ir.Expr) -> ir.Expr:
        return ir.Select(
            condition, then, cast(orelse, scalar_type(then)), scalar_type(then), e.span
        )

    zero, one = (const(n, e.span, scalar_type(b[0])) for n in (0, 1))
    is_zero = bind(
        logical(
            ir.LogicalOp.AND, _component_op(EQ, b[0], zero), _component_op(EQ, b[1], zero), e.span
        )
    )
    first_is_larger = bind(_component_op(GE, magnitude(b[0]), magnitude(b[1])))
    larger, smaller = bind(select(first_is_larger, *b)), bind(select(first_is_larger, *reversed(b)))
    ratio = bind(_component_op(DIV, smaller, larger))
    scale = bind(
        _component_op(DIV, one, _component_op(ADD, larger, _component_op(MUL, smaller, ratio)))
    )
    x = _component_op(
        ADD,
        select(first_is_larger, *a),
        _component_op(MUL, select(first_is_larger, *reversed(a)), ratio),
    )
    y = select(
        first_is_larger,
        _component_op(SUB, a[1], _component_op(MUL, a[0], ratio)),
        _component_op(SUB, _component_op(MUL, a[1], ratio), a[0]),
    )
    by_zero = [_component_op(DIV, component, magnitude(b[0])) for component in a]
    return tuple(
        select(is_zero, quotient_by_zero, _component_op(MUL, component, scale))
        for quotient_by_zero, component in zip(by_zero, (x, y))
    )


def _negate(e: ir.Apply, _: Bind, a: Components) -> Components:
    return tuple(unary(NEG, component, e.span) for component in a)


def _conjugate(e: ir.Apply, _: Bind, a: Components) -> Components:
    return (a[0], unary(NEG, a[1], e.span))


COMPONENT_RULES: dict[object, Callable[..., Components]] = {
    OPERATOR_INTRINSICS[ADD]: _componentwise(ADD),
    OPERATOR_INTRINSICS[SUB]: _componentwise(SUB),
    OPERATOR_INTRINSICS[MUL]: _multiply,
    OPERATOR_INTRINSICS[DIV]: _divide,
    NEGATION: _negate,
    REGISTRY["complex.conjugate"]: _conjugate,
}


def _equal(e: ir.Apply, a: Components, b: Components) -> ir.Expr:
    return logical(
        ir.LogicalOp.AND, _component_op(EQ, a[0], b[0]), _component_op(EQ, a[1], b[1]), e.span
    )


SCALAR_RESULT_RULES: dict[object, Callable[..., ir.Expr]] = {EQUALITY: _equal}
