"""Generic traversal of the IR."""

from __future__ import annotations

from typing import get_args

from pycu2c.base.source import Span
from pycu2c.base.types import int32
from pycu2c.ir import walk
from pycu2c.ir.expressions import Const, Expr, Pack
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
