"""Bind the arguments of calls to parameters: by position, by name, by default, starred."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import WEAK_INT, Scalar
from pycu2c.frontend import hints
from pycu2c.frontend.evaluation_order import evaluate_in_order, materialize, may_have_effects
from pycu2c.frontend.expressions.array_views import record_fields
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.bindings import parameters
from pycu2c.frontend.value_checks import describe, require_number
from pycu2c.frontend.values import StaticObject, TupleValue, Value
from pycu2c.ir.nodes import Binary, Const, Expr, Unary, Var
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.names.dtype_names import scalar_named

CallArgument: TypeAlias = tuple[str | None, Value, Span]  # keyword or None, value, span


def call_arguments(context: FunctionContext, node: ast.Call) -> list[CallArgument]:
    """Return the arguments of a call in order; ``*t`` gives each item of a tuple."""
    nodes = [a.value if isinstance(a, ast.Starred) else a for a in node.args]
    values = evaluate_in_order(context, [*nodes, *(k.value for k in node.keywords)])
    arguments: list[CallArgument] = []
    for argument, value in zip(node.args, values):
        span = context.span(argument)
        if not isinstance(argument, ast.Starred):
            arguments.append((None, value, span))
        elif (fields := record_fields(value)) is not None:
            arguments += [(None, item, span) for item in fields.items]
        elif isinstance(value, TupleValue):
            arguments += [(None, item, item.span) for item in value.items]
        else:
            reject_unpacking(value, span, hints.all_fields_hint(value))
    for keyword, value in zip(node.keywords, values[len(node.args) :]):
        arguments.append((keyword.arg or "**", value, context.span(keyword)))
    return arguments


def reject_unpacking(value: Value, span: Span, hint: str = "") -> NoReturn:
    """Report ``*value`` of a value that is not a tuple."""
    fail(
        "starred",
        Label(span, f"this is {describe(value)}, not a tuple"),
        hint=hint or "write the items one by one",
    )


def evaluate_in_call_order(
    context: FunctionContext, signature: ast.arguments, arguments: list[CallArgument]
) -> list[CallArgument]:
    """Evaluate the arguments now if their order is not that of the parameters."""
    names = [parameter.arg for parameter in parameters(signature)]
    positions = [names.index(keyword) for keyword, _, _ in arguments if keyword in names]
    has_effects = any(may_have_effects(value) for _, value, _ in arguments)
    if positions == sorted(positions) or not has_effects:
        return arguments
    return [
        (keyword, materialize(context, value, keyword or "given"), span)
        for keyword, value, span in arguments
    ]


def bind_arguments(
    signature: ast.arguments,
    defaults: Mapping[str, Value],
    function: str,
    arguments: Sequence[CallArgument],
    span: Span,
) -> list[Value]:
    """Return one value for each parameter, in the order of ``bindings.parameters``."""
    accepted = f"{function} takes ({', '.join(a.arg for a in parameters(signature))})"
    positional = [a.arg for a in (*signature.posonlyargs, *signature.args)]
    keywords = [a.arg for a in (*signature.args, *signature.kwonlyargs)]
    values: dict[str, Value] = {}
    variadic: list[Value] = []
    for position, (keyword, value, argument_span) in enumerate(arguments):
        if keyword is None and position >= len(positional):
            if signature.vararg is None:
                label = Label(argument_span, "one argument too many")
                fail("argument-count", label, hint=accepted)
            variadic.append(value)
            continue
        if keyword and keyword not in keywords:
            label = Label(argument_span, f"{function} has no parameter `{keyword}`")
            fail("argument-count", label, hint=did_you_mean(keyword, keywords, accepted))
        name = keyword or positional[position]
        if name in values:
            fail(
                "argument-count",
                Label(argument_span, f"`{name}` is given here"),
                Label(values[name].span, "and here"),
                hint=f"write one of them: {accepted}",
            )
        values[name] = value
    if signature.vararg is not None:
        values[signature.vararg.arg] = TupleValue(tuple(variadic), span)
    values = {**defaults, **values}
    for parameter in parameters(signature):
        if parameter.arg not in values:
            label = Label(span, f"`{parameter.arg}` has no argument")
            fail("argument-count", label, hint=accepted)
    return [values[parameter.arg] for parameter in parameters(signature)]


# ---- calls of built-in functions and intrinsics ------------------------------------------------

# lowers the calls of an intrinsic
IntrinsicLowering: TypeAlias = Callable[[FunctionContext, Intrinsic, ast.Call], Value]

NO_DEFAULTS: Mapping[str, int] = {}


def argument_nodes(
    context: FunctionContext,
    node: ast.Call,
    names: tuple[str, ...],
    function: str,
    defaults: Mapping[str, int] = NO_DEFAULTS,
) -> list[ast.expr]:
    """Return the arguments of a call in the order of the parameters."""
    by_name: dict[str, ast.expr] = dict(zip(names, node.args))
    for keyword in node.keywords:
        name = keyword.arg or "**"
        if name not in names or name in by_name:
            is_repeated = name in names
            text = (
                f"`{name}` is given twice"
                if is_repeated
                else f"{function} has no parameter `{name}`"
            )
            fail(
                "argument-count",
                Label(context.span(keyword), text),
                hint=did_you_mean(name, names, f"it takes ({', '.join(names)})"),
            )
        by_name[name] = keyword.value
    for name, value in defaults.items():
        by_name.setdefault(name, ast.copy_location(ast.Constant(value), node))
    if len(by_name) < len(names) or len(node.args) > len(names):
        count_text = hints.count_phrase(len(node.args) + len(node.keywords), "argument")
        required = len(names) - len(defaults)
        accepted_counts = f"{required} to {len(names)}" if defaults else f"{required}"
        parameter_list = ", ".join(f"{n}={defaults[n]}" if n in defaults else n for n in names)
        fail(
            "argument-count",
            Label(context.span(node), count_text),
            hint=f"{function} takes {accepted_counts}: ({parameter_list})",
        )
    return [by_name[name] for name in names]


def argument_values(
    context: FunctionContext,
    node: ast.Call,
    names: tuple[str, ...],
    function: str,
    defaults: Mapping[str, int] = NO_DEFAULTS,
) -> list[Value]:
    """Return the values of the arguments in the order of the parameters."""
    nodes = argument_nodes(context, node, names, function, defaults)
    call_nodes = [*node.args, *(keyword.value for keyword in node.keywords)]
    call_nodes += [n for n in nodes if n not in call_nodes]
    values = evaluate_in_order(context, call_nodes)
    if nodes != call_nodes and any(map(may_have_effects, values)):
        values = [materialize(context, value, "given") for value in values]
    values_by_node = dict(zip(map(id, call_nodes), values))
    return [values_by_node[id(n)] for n in nodes]


def operator_operands(
    context: FunctionContext, node: ast.Call, names: tuple[str, ...], function: str
) -> list[Expr]:
    """Return the operands of a function that is lowered to operators, each evaluated once."""
    if function == "numpy.round":  # ``decimals`` is optional and has no default operand
        names = names[: max(len(node.args) + len(node.keywords), 1)]
    operands = [require_number(v) for v in argument_values(context, node, names, function)]
    if any(map(may_have_effects, operands)):
        return [require_number(materialize(context, e, "value")) for e in operands]
    return operands


def require_constant_int(context: FunctionContext, node: ast.expr, description: str) -> int:
    """Return an integer that must be known at compile time."""
    integer = constant_int(context, context.value(node))
    if integer is not None:
        return integer
    fail(
        "constant-needed",
        Label(context.span(node), description),
        hint="use a literal, a variable with one constant value, or a global int",
    )


def constant_int(context: FunctionContext, value: Value) -> int | None:
    """Return an integer that is known at compile time, or None.

    A variable with one constant value is known, as in ``TILE + 2`` with ``TILE = 16``.
    """
    match value:
        case Const() if value.type.dtype.is_integral:
            return int(value.value)
        case Var() if value.name in context.constant_variables:
            return constant_int(context, context.constant_variables[value.name])
        case Unary() if value.type == WEAK_INT:
            operand = constant_int(context, value.operand)
            return None if operand is None else int(value.op.reference(operand))
        case Binary() if value.type == WEAK_INT:
            operands = [constant_int(context, e) for e in (value.left, value.right)]
            numbers = [n for n in operands if n is not None]
            return int(value.op.reference(*numbers)) if len(numbers) == 2 else None
        case _:
            return None


def named_scalar(context: FunctionContext, node: ast.expr) -> Scalar:
    """Return the type that an argument names."""
    dtype_value = context.value(node)
    scalar = scalar_named(dtype_value.value) if isinstance(dtype_value, StaticObject) else None
    if scalar is None or scalar.weak:
        fail(
            "dtype",
            Label(context.span(node), f"{describe(dtype_value)} is not a dtype"),
            hint=hints.instead_of_dtype(getattr(dtype_value, "value", None)),
        )
    return scalar
