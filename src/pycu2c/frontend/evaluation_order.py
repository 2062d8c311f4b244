"""Order of evaluation: what one part of an expression writes out as statements comes after the
parts to its left, and only where Python evaluates it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from pycu2c.base.records import replace
from pycu2c.base.types import Scalar
from pycu2c.frontend.function_context import (
    Chosen,
    Closure,
    Frame,
    Items,
    Static,
    Value,
    is_array,
    number,
)
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Body,
    Call,
    Cast,
    Const,
    Dim,
    Expr,
    Load,
    Stmt,
    Store,
    Var,
    View,
)
from pycu2c.ir.walk import all_expressions, children, expressions, statements, with_children


def in_order(
    frame: Frame, nodes: Sequence[ast.expr], evaluate: Callable[[ast.expr], Value] | None = None
) -> list[Value]:
    """The values of expressions, evaluated from left to right."""
    return one_by_one(frame, map(evaluate or frame.value, nodes))


def one_by_one(frame: Frame, values: Iterator[Value]) -> list[Value]:
    """Values that are evaluated as they are taken."""
    out: list[Value] = []
    while True:
        with frame.block() as written:
            value = next(values, None)
        if written:
            out = [before(frame, earlier, tuple(written)) for earlier in out]
            frame.emit_all(written)
        if value is None:
            return out
        out.append(value)


def settled(frame: Frame, value: Value) -> Value:
    """A tuple whose items can be read any number of times, in any order: if one of them acts
    they are all evaluated now."""
    return kept(frame, value, "item") if acts(value) else value


def acts(value: Value) -> bool:
    """Whether evaluating a value may do more than give it."""
    match value:
        case Static():
            return False
        case Items():
            return any(map(acts, value.items))
        case Closure() | Chosen():
            return acts(value.inside)
        case _:
            return any(map(has_effect, expressions(value)))


def before(frame: Frame, value: Value, later: Body) -> Value:
    """A value that statements after it could change, kept in a variable before them."""
    match value:
        case Static() | Const():
            return value
        case Items():
            items = tuple(before(frame, item, later) for item in value.items)
            return Items(items, value.span, value.names)
        case Closure() | Chosen():
            return with_inside(value, before(frame, value.inside, later))
        case _ if _may_change(value, later):
            return kept(frame, value, "first")
        case _:
            return value


def with_inside(value: Closure | Chosen, inside: Value) -> Closure | Chosen:
    """The same local function with its defaults and variables in other places; the same arrays
    to choose from."""
    assert isinstance(inside, Items)
    if isinstance(value, Chosen):
        which, *options = inside.items
        return Chosen(number(which), tuple(o for o in options if is_array(o)), value.span)
    defaults, variables = inside.items
    assert isinstance(defaults, Items)
    assert isinstance(variables, Items)
    return replace(value, defaults=defaults, variables=variables)


def _may_change(value: Expr, later: Body) -> bool:
    # by Python's names: live ranges of one name may become one variable again
    assigned = {s.var.name.split(".", 1)[0] for s in statements(later) if isinstance(s, Assign)}
    acts = any(acts_on_memory(s) for s in statements(later)) or any(
        has_effect(e) for e in all_expressions(later)
    )
    for e in expressions(value):
        if isinstance(e, Var) and e.name.split(".", 1)[0] in assigned:
            return True
        if has_effect(e) or (acts and isinstance(e, (Load, Call))):
            return True
    return False


def acts_on_memory(s: Stmt) -> bool:
    return isinstance(s, Store)


def has_effect(e: Expr) -> bool:
    """Whether a node may do more than give a value."""
    return isinstance(e, Call) or (isinstance(e, Apply) and e.intrinsic.has_effect)


def kept(frame: Frame, value: Value, hint: str) -> Value:
    """The value in variables that nothing else assigns."""
    match value:
        case Items():
            items = tuple(kept(frame, item, hint) for item in value.items)
            return Items(items, value.span, value.names)
        case Closure() | Chosen():
            return with_inside(value, kept(frame, value.inside, hint))
        case Static() | Const():
            return value
        case View():
            return kept_view(frame, value, hint)
        case _ if isinstance(value.type, Scalar):
            return variable_of(frame, value, hint)
        case _:
            return value


def kept_view(frame: Frame, view: View, hint: str) -> View:
    """A view whose numbers are computed now, not where it is read."""
    parts = children(view)[1:]
    new = tuple(p if is_steady(frame, p) else variable_of(frame, p, hint) for p in parts)
    made = with_children(view, (view.array, *new))
    assert isinstance(made, View)
    return made


def is_steady(frame: Frame, e: Expr) -> bool:
    """Whether an expression is the same wherever it is read, and costs nothing."""
    match e:
        case Const() | Dim():
            return True
        case Var():
            return e.name in frame.ranges.steady
        case Cast():
            return is_steady(frame, e.operand)
        case _:
            return False


def variable_of(frame: Frame, value: Expr, hint: str) -> Var:
    """A fresh variable that holds a number from here on."""
    var = Var(frame.fresh(hint), scalar_type(value), value.span)
    frame.emit(Assign(var, value, value.span))
    return var
