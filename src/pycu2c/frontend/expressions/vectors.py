"""CUDA's vectors: construction, components, and replacement of a component.

A vector is a value: ``v.x = 1`` assigns a new vector to ``v``.
"""

from __future__ import annotations

import ast
from typing import NoReturn

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import Scalar
from pycu2c.frontend.calls.arguments import call_arguments
from pycu2c.frontend.evaluation_order import evaluate_in_order, materialize
from pycu2c.frontend.expressions.arithmetic import binary, coerce
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.variables import set_variable
from pycu2c.frontend.value_checks import is_vector, require_number
from pycu2c.frontend.values import StaticObject, Value
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.nodes import Expr, Member, Pack, Var
from pycu2c.ops.operators import Operator


def construct_vector(context: FunctionContext, vector_type: Scalar, node: ast.Call) -> Expr:
    """Lower ``float4(x, y, z, w)`` and ``float4(v, z, w)``."""
    arguments = call_arguments(context, node)
    keyword_spans = [span for name, _, span in arguments if name is not None]
    if keyword_spans:
        fail(
            "argument-count",
            Label(keyword_spans[0], f"{vector_type} takes its components by position"),
            hint=f"write {vector_type}({', '.join(f.name for f in vector_type.dtype.fields)})",
        )
    numbers: list[Expr] = []
    for _, value, _ in arguments:
        numbers += components(context, value) if is_vector(value) else [require_number(value)]
    fields = vector_type.dtype.fields
    if len(numbers) != len(fields):
        fail(
            "argument-count",
            Label(context.span(node), f"{len(numbers)} components are given"),
            hint=f"{vector_type} takes {len(fields)}: numbers, or vectors that have as many in all",
        )
    converted = tuple(coerce(e, Scalar(f.dtype)) for e, f in zip(numbers, fields))
    return Pack(converted, vector_type, context.span(node))


def components(context: FunctionContext, value: Value) -> list[Expr]:
    """Return the numbers of a vector, which is evaluated once."""
    if isinstance(value, Pack):
        return list(value.parts)
    vector = value if isinstance(value, Var) else materialize(context, value, "vector")
    assert isinstance(vector, Var)
    return [
        Member(vector, f.name, Scalar(f.dtype), value.span)
        for f in scalar_type(vector).dtype.fields
    ]


def component(vector: Expr, name: str, span: Span) -> Expr:
    """Lower ``v.x``."""
    field = scalar_type(vector).dtype.field(name)
    if field is None:
        _report_no_component(vector, name, span)
    return Member(vector, name, Scalar(field.dtype), span)


def with_component(vector: Var, name: str, value: Expr, span: Span) -> Expr:
    """Return the vector ``v`` with a component replaced."""
    component(vector, name, span)  # checks that it exists
    numbers = [
        coerce(value, Scalar(f.dtype)) if f.name == name else component(vector, f.name, span)
        for f in scalar_type(vector).dtype.fields
    ]
    return Pack(tuple(numbers), scalar_type(vector), span)


def component_name(context: FunctionContext, node: ast.Subscript) -> str:
    """Return the component that ``v['x']`` names."""
    key = context.value(node.slice)
    if isinstance(key, StaticObject) and isinstance(key.value, str):
        return key.value
    fail(
        "index-type",
        Label(context.span(node), "a vector has components, not items"),
        hint="write v.x, or keep the numbers in an array: cuda.local.array",
    )


def _report_no_component(vector: Expr, name: str, span: Span) -> NoReturn:
    names = [f.name for f in scalar_type(vector).dtype.fields]
    fail(
        "name",
        Label(span, f"`{vector.type}` has no component `{name}`"),
        hint=did_you_mean(name, names, f"its components are {', '.join(names)}"),
    )


# ---- variables ---------------------------------------------------------------------------------


def vector_variable(context: FunctionContext, target: ast.Subscript | ast.Attribute) -> Var | None:
    """Return the vector variable ``v`` of a target ``v.x``, or None."""
    owner = target.value
    if not isinstance(owner, ast.Name) or id(owner) not in context.ranges.names:
        return None
    value = context.value(owner)
    return value if isinstance(value, Var) and is_vector(value) else None


def assign_component(
    context: FunctionContext, target: ast.Subscript | ast.Attribute, value: Expr
) -> None:
    """Lower ``v.x = value``."""
    vector, span = vector_variable(context, target), context.span(target)
    assert vector is not None
    assert isinstance(target.value, ast.Name)
    if target.value.id in context.source.captured:
        fail(
            "assignment-target",
            Label(span, f"`{target.value.id}` belongs to the enclosing function"),
            hint="return the new vector, and assign it there",
        )
    name = target.attr if isinstance(target, ast.Attribute) else component_name(context, target)
    set_variable(context, vector.name, with_component(vector, name, value, span), span)


def augmented_component(
    context: FunctionContext,
    node: ast.AugAssign,
    target: ast.Subscript | ast.Attribute,
    operator: Operator,
) -> None:
    """Lower ``v.x += value``."""
    old, right = map(require_number, evaluate_in_order(context, [target, node.value]))
    assign_component(context, target, binary(context, operator, old, right, context.span(node)))
