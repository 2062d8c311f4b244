"""Bind the arguments of calls to parameters: by position, by name, by default, starred."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Span
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import WEAK_INT, Scalar
from pycu2c.frontend import hints
from pycu2c.frontend.evaluation_order import (
    evaluate_in_order,
    has_effect,
    materialize,
    may_have_effects,
)
from pycu2c.frontend.expressions.array_views import record_fields
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.bindings import parameters
from pycu2c.frontend.value_checks import describe, require_number
from pycu2c.frontend.values import StaticObject, TupleValue, Value
from pycu2c.ir.nodes import Binary, Const, Expr, Unary, Var
from pycu2c.ir.walk import expressions
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.names.dtype_names import scalar_named

CallArgument: TypeAlias = tuple[str | None, Value, Span]  # keyword or None, value, span


def call_arguments(context: FunctionContext, node: ast.Call) -> list[CallArgument]:
    """Return the arguments of a call in order; ``*t`` gives each item of a tuple."""
    nodes = [a.value if isinstance(a, ast.Starred) else a for a in node.args]
    values = evaluate_in_order(context, [*nodes, *(k.value for k in node.keywords)])
    given: list[CallArgument] = []
    for argument, value in zip(node.args, values):
        span = context.span(argument)
        if not isinstance(argument, ast.Starred):
            given.append((None, value, span))
        elif (fields := record_fields(value)) is not None:
            given += [(None, item, span) for item in fields.items]
        elif isinstance(value, TupleValue):
            given += [(None, item, item.span) for item in value.items]
        else:
            fail(
                "starred",
                Label(span, f"this is {describe(value)}, no tuple"),
                hint=hints.all_fields_hint(value) or "pass the values one by one",
            )
    for keyword, value in zip(node.keywords, values[len(node.args) :]):
        given.append((keyword.arg or "**", value, context.span(keyword)))
    return given


def in_call_order(
    context: FunctionContext, own: ast.arguments, given: list[CallArgument]
) -> list[CallArgument]:
    """Evaluate arguments first whose keywords are in another order than the parameters."""
    names = [parameter.arg for parameter in parameters(own)]
    positions = [names.index(keyword) for keyword, _, _ in given if keyword in names]
    if positions == sorted(positions) or not any(may_have_effects(value) for _, value, _ in given):
        return given
    return [
        (keyword, materialize(context, value, keyword or "given"), at)
        for keyword, value, at in given
    ]


@dataclass(slots=True)
class ArgumentBinder:
    """Binds the arguments of one call of a function."""

    own: ast.arguments
    defaults: Mapping[str, Value]
    name: str
    span: Span
    by_name: dict[str, Value] = field(default_factory=dict)
    rest: list[Value] = field(default_factory=list)

    def bind(self, given: Sequence[CallArgument]) -> list[Value]:
        """Return one value for each parameter, in the order of ``bindings.parameters``."""
        positional = [a.arg for a in (*self.own.posonlyargs, *self.own.args)]
        for position, (keyword, value, span) in enumerate(given):
            if keyword is None and position >= len(positional):
                if self.own.vararg is None:
                    self._refuse(span, "one too many")
                self.rest.append(value)
                continue
            name = keyword or positional[position]
            if keyword:
                self._check(keyword, span)
            if name in self.by_name:
                before = Label(self.by_name[name].span, "and here")
                fail(
                    "argument-count",
                    Label(span, f"`{name}` is given here"),
                    before,
                    hint=f"write one of them: {self.name} takes ({self._known()})",
                )
            self.by_name[name] = value
        return [self._value(parameter) for parameter in parameters(self.own)]

    def _value(self, parameter: ast.arg) -> Value:
        if parameter is self.own.vararg:
            return TupleValue(tuple(self.rest), self.span)
        found = self.by_name.get(parameter.arg) or self.defaults.get(parameter.arg)
        if found is None:
            self._refuse(self.span, f"`{parameter.arg}` is given nothing")
        return found

    def _check(self, keyword: str, span: Span) -> None:
        known = [a.arg for a in (*self.own.args, *self.own.kwonlyargs)]
        if keyword in known:
            return
        hint = did_you_mean(keyword, known, "")
        self._refuse(span, f"{self.name} has no parameter `{keyword}`", hint)

    def _refuse(self, span: Span, text: str, hint: str = "") -> NoReturn:
        hint = hint or f"{self.name} takes ({self._known()})"
        fail("argument-count", Label(span, text), hint=hint)

    def _known(self) -> str:
        return ", ".join(a.arg for a in parameters(self.own))


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
            Label(context.span(node), hints.count_phrase(count, "argument", "arguments")),
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
            hint=hints.instead_of_dtype(getattr(named, "value", None)),
        )
    return scalar
