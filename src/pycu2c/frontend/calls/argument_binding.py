"""Bind the arguments of a call to parameters: by position, by name, by default, starred."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import NoReturn, TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Span
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.frontend.evaluation_order import evaluate_in_order, materialize, may_have_effects
from pycu2c.frontend.expressions.array_views import record_fields
from pycu2c.frontend.function_context import FunctionContext, TupleValue, Value, describe
from pycu2c.frontend.hints import records
from pycu2c.frontend.scope.bindings import parameters

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
                hint=records.all_fields_hint(value) or "pass the values one by one",
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
