"""Generic traversal of the IR."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from pycu2c.base.source import Span
from pycu2c.base.types import int32
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.expressions import Const, Expr, Pack, Var
from pycu2c.ir.walk import expressions

SPAN = Span("kernel.py", 1, 0, 1, 1)


def number(value: int) -> Expr:
    return Const(value, int32, SPAN)


def test_expressions_are_in_preorder() -> None:
    first, second, third = number(1), number(2), number(3)
    inner = Pack((first, second), int32, SPAN)
    outer = Pack((inner, third), int32, SPAN)
    assert list(expressions(outer)) == [outer, inner, first, second, third]


def test_nesting_of_any_depth_is_traversed() -> None:
    e, depth = number(0), 5000
    for _ in range(depth):
        e = Pack((e,), int32, SPAN)
    assert sum(1 for _ in expressions(e)) == depth + 1


def test_each_kind_of_expression_has_its_fields() -> None:
    assert walk._EXPRESSION_FIELDS.keys() == set(get_args(Expr))


def node(kind: type[Any]) -> Any:
    """A node with an object of its own in each field: expressions where it has expressions."""

    def value(annotation: str) -> object:
        match annotation:
            case "Expr" | "Expr | None":
                return number(0)
            case "Var":
                return Var("a", int32, SPAN)
            case "tuple[Expr, ...]":
                return number(1), number(2)
            case "Path":
                return "x", number(3), "y"
            case "Body":
                return (ir.Break(SPAN),)
            case _:
                return object()

    return kind(*(value(kind.__annotations__[name]) for name in kind.__match_args__))


EXPRESSIONS, STATEMENTS = get_args(Expr), get_args(ir.Stmt)
PARTS = {
    "children": (walk.children, walk.with_children, walk._EXPRESSION_FIELDS, EXPRESSIONS),
    "operands": (walk.operands, walk.with_operands, walk._OPERAND_FIELDS, STATEMENTS),
    "bodies": (walk.bodies, walk.with_bodies, walk._BODY_FIELDS, STATEMENTS),
}
CASES = [(name, kind) for name, (*_, kinds) in PARTS.items() for kind in kinds]


@pytest.mark.parametrize(
    ("name", "kind"),
    [case for case in CASES if case[1] is not ir.BarrierWait],  # its contributions have others
)
def test_a_node_is_rebuilt_with_other_parts(name: str, kind: type[Any]) -> None:
    get, rebuild, fields, _ = PARTS[name]
    old, other = node(kind), get(node(kind))
    assert rebuild(old, (*get(old),)) is old
    new = rebuild(old, other)
    assert type(new) is kind
    assert get(new) == other
    changed = {n for n in kind.__match_args__ if getattr(new, n) is not getattr(old, n)}
    assert changed == {*fields.get(kind, ())}


def test_what_does_not_change_stays_the_same_object() -> None:
    inner = ir.If(number(1), (ir.Evaluate(number(2), SPAN),), (), SPAN)
    function = ir.Function("k", "k", (), int32, (inner,), SPAN)
    module = ir.Module(function, (function,))
    assert walk.map_expr(function.body, lambda e: e) is function.body
    assert walk.map_stmt(function.body, lambda s: (s,)) is function.body
    assert walk.map_functions(module, lambda f: walk.with_body(f, (inner,))) is module
    changed = walk.map_functions(module, lambda f: walk.with_body(f, (inner, inner)))
    assert changed.kernel.body == (inner, inner)
    assert changed.device_functions[0].body == (inner, inner)
