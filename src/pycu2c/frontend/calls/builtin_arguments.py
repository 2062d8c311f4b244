"""Arguments of calls of built-in functions: by position and by name, evaluated in source order."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import WEAK_INT, Scalar
from pycu2c.frontend.evaluation_order import (
    evaluate_in_order,
    has_effect,
    materialize,
    may_have_effects,
)
from pycu2c.frontend.function_context import (
    FunctionContext,
    StaticObject,
    Value,
    describe,
    require_number,
)
from pycu2c.frontend.hints import replacements
from pycu2c.ir.nodes import Binary, Const, Expr, Unary, Var
from pycu2c.ir.walk import expressions
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.names.dtype_names import scalar_named

IntrinsicLowering: TypeAlias = Callable[
    [FunctionContext, Intrinsic, ast.Call], Value
]  # lowers the calls of an intrinsic

NO_DEFAULTS: Mapping[str, int] = {}


def argument_nodes(
    context: FunctionContext,
    node: ast.Call,
    names: tuple[str, ...],
    what: str,
    defaults: Mapping[str, int] = NO_DEFAULTS,
) -> list[ast.expr]:
    """Return the arguments of a call in the order of the parameters."""
    given: dict[str, ast.expr] = dict(zip(names, node.args))
    for keyword in node.keywords:
        name = keyword.arg or "**"
        if name not in names or name in given:
            fail(
                "argument-count",
                Label(context.span(keyword), _no_parameter(what, name, name in names)),
                hint=did_you_mean(name, names, f"it takes ({', '.join(names)})"),
            )
        given[name] = keyword.value
    for name, value in defaults.items():
        given.setdefault(name, ast.copy_location(ast.Constant(value), node))
    missing = [n for n in names if n not in given]
    count = len(node.args) + len(node.keywords)
    if missing or len(node.args) > len(names):
        fail(
            "argument-count",
            Label(context.span(node), replacements.count_phrase(count, "argument", "arguments")),
            hint=f"{what} takes {_amounts(names, defaults)}: ({_shown(names, defaults)})",
        )
    return [given[n] for n in names]


def _amounts(names: tuple[str, ...], defaults: Mapping[str, int]) -> str:
    least = len(names) - len(defaults)
    return f"{least} to {len(names)}" if defaults else f"{least}"


def _shown(names: tuple[str, ...], defaults: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={defaults[name]}" if name in defaults else name for name in names)


def _no_parameter(what: str, name: str, is_given: bool) -> str:
    return f"`{name}` is given twice" if is_given else f"{what} has no parameter `{name}`"


def argument_values(
    context: FunctionContext,
    node: ast.Call,
    names: tuple[str, ...],
    what: str,
    defaults: Mapping[str, int] = NO_DEFAULTS,
) -> list[Value]:
    """Return the values of the arguments in the order of the parameters."""
    nodes = argument_nodes(context, node, names, what, defaults)
    written = [*node.args, *(keyword.value for keyword in node.keywords)]
    written += [n for n in nodes if n not in written]
    found = evaluate_in_order(context, written)
    if nodes != written and any(map(may_have_effects, found)):
        found = [materialize(context, value, "given") for value in found]
    by_node = dict(zip(map(id, written), found))
    return [by_node[id(n)] for n in nodes]


def operator_operands(
    context: FunctionContext, node: ast.Call, names: tuple[str, ...], what: str
) -> list[Expr]:
    """Return the operands of a function that is lowered to operators, each evaluated once."""
    if what == "numpy.round":
        names = names[: max(len(node.args) + len(node.keywords), 1)]
    given = [require_number(v) for v in argument_values(context, node, names, what)]
    if any(has_effect(e) for argument in given for e in expressions(argument)):
        return [require_number(materialize(context, e, "value")) for e in given]
    return given


def constant_integer(context: FunctionContext, node: ast.expr, what: str) -> int:
    """Return an integer that must be known at compile time."""
    known = constant_int(context, context.value(node))
    if known is not None:
        return known
    fail(
        "constant-needed",
        Label(context.span(node), what),
        hint="use a literal, a variable that is only assigned that, or a global that holds an int",
    )


def constant_int(context: FunctionContext, value: Value) -> int | None:
    """Return an integer that is known at compile time, or None.

    Variables with one constant value count, as in ``TILE + 2`` with ``TILE = 16``.
    """
    match value:
        case Const() if value.type.dtype.is_integral:
            return int(value.value)
        case Var() if value.name in context.constant_variables:
            return constant_int(context, context.constant_variables[value.name])
        case Unary() if value.type == WEAK_INT:
            known = constant_int(context, value.operand)
            return None if known is None else int(value.op.reference(known))
        case Binary() if value.type == WEAK_INT:
            sides = [constant_int(context, e) for e in (value.left, value.right)]
            numbers = [n for n in sides if n is not None]
            return int(value.op.reference(*numbers)) if len(numbers) == 2 else None
        case _:
            return None


def named_scalar(context: FunctionContext, node: ast.expr) -> Scalar:
    """Return the type that an argument names."""
    named = context.value(node)
    scalar = scalar_named(named.value) if isinstance(named, StaticObject) else None
    if scalar is None or scalar.weak:
        fail(
            "dtype",
            Label(context.span(node), f"{describe(named)} names no dtype"),
            hint=replacements.instead_of_dtype(getattr(named, "value", None)),
        )
    return scalar
