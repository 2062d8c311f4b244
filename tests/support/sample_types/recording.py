"""Record the types that the front end infers for syntax nodes, while it builds a kernel."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from pycu2c.base.records import replace
from pycu2c.base.source import Source
from pycu2c.base.types import ParameterType, Signature
from pycu2c.frontend import function_builder
from pycu2c.frontend.expressions import conditional, expression_visitor, subscripts
from pycu2c.frontend.expressions.composite_values import type_of
from pycu2c.frontend.function_context import BuildOptions, FunctionContext
from pycu2c.frontend.scope.bindings import bindings
from pycu2c.frontend.statements import statement_visitor
from pycu2c.frontend.values import Value
from pycu2c.ir.nodes import Const, Expr
from support.ast_interpreter.device_variants import kind_of_type
from support.ast_interpreter.weak_floats import ArgumentKinds, ReferenceTypes
from support.sample_types.inferred_types import (
    FunctionKey,
    InferredTypes,
    merge_types,
    number_types,
)

# functions of the front end that lower a node which joins several values
_JOINING = (
    (conditional, "_evaluate_in_statements"),
    (conditional, "_join_values"),
    (expression_visitor, "conditional"),
    (subscripts, "_computed_item"),
)


_DEFAULT_OPTIONS = BuildOptions()


def compiled_types(
    source: Source, types: Sequence[ParameterType], options: BuildOptions = _DEFAULT_OPTIONS
) -> ReferenceTypes:
    """Build a kernel; return the types of it and of the device functions that it calls."""
    inferred = _recorded(source, tuple(types), options)

    def with_local_functions(own: InferredTypes) -> InferredTypes:
        inner = [t for (s, _), t in inferred.items() if s in own.local_functions]
        return merge_types([own, *map(with_local_functions, inner)])

    def merged(group: Sequence[InferredTypes]) -> ReferenceTypes:
        found = merge_types(map(with_local_functions, group))
        return ReferenceTypes(found.local_types, found.join_types, tree=found.tree)

    groups: dict[Source, dict[ArgumentKinds, list[InferredTypes]]] = {}
    for (function, argument_types), own in inferred.items():
        kinds = tuple(map(kind_of_type, argument_types))
        groups.setdefault(function, {}).setdefault(kinds, []).append(own)
    variants = {
        function: {kinds: merged(group) for kinds, group in by_kinds.items()}
        for function, by_kinds in groups.items()
    }
    return replace(merged([inferred[source, tuple(types)]]), variants=variants)


def _recorded(
    source: Source, types: tuple[ParameterType, ...], options: BuildOptions
) -> Mapping[FunctionKey, InferredTypes]:
    recording = _Recording()
    with recording.active():
        built = function_builder.build(source, Signature(types), options)
    used = {None, *(device.name for device in built.module.device_functions)}  # None: of the kernel
    names = recording.builder.names
    return {k: t for k, t in recording.types.items() if names.get(k) in used}


@dataclass(slots=True)
class _Joins:
    """What a pass over a function has lowered."""

    context: FunctionContext
    types: dict[ast.AST, ParameterType] = field(default_factory=dict)
    mixed: set[ast.AST] = field(default_factory=set)
    returns: list[ast.AST] = field(default_factory=list)

    def add(self, node: ast.AST, value: Value) -> None:
        joined = number_types(type_of(value))
        if joined is not None and self.types.setdefault(node, joined) != joined:
            self.mixed.add(node)


@dataclass(slots=True)
class _Recording:
    builder: Any = None
    types: dict[FunctionKey, InferredTypes] = field(default_factory=dict)
    joins: dict[int, _Joins] = field(default_factory=dict)  # by the id of the context of a pass
    decided: set[ast.AST] = field(default_factory=set)  # conditions that are constants

    @contextmanager
    def active(self) -> Iterator[None]:
        with ExitStack() as patches:
            for module, name in _JOINING:
                wrapped = self._joining(getattr(module, name))
                patches.enter_context(mock.patch.object(module, name, wrapped))
            decide = self._deciding(conditional.condition)
            patches.enter_context(mock.patch.object(conditional, "condition", decide))
            lower_return = self._returning(statement_visitor._return)
            patches.enter_context(mock.patch.object(statement_visitor, "_return", lower_return))
            builder = function_builder._ModuleBuilder
            finish = self._finishing(builder._finish)
            patches.enter_context(mock.patch.object(builder, "_finish", finish))
            yield

    def _joins_of(self, context: FunctionContext) -> _Joins:
        return self.joins.setdefault(id(context), _Joins(context))

    def _joining(self, lower: Callable[..., Value]) -> Callable[..., Value]:
        def lower_and_record(context: FunctionContext, *arguments: Any) -> Value:
            value = lower(context, *arguments)
            (node,) = (a for a in arguments if isinstance(a, ast.AST))
            if getattr(node, "test", None) not in self.decided:
                self._joins_of(context).add(node, value)
            return value

        return lower_and_record

    def _deciding(self, lower: Callable[..., Expr]) -> Callable[..., Expr]:
        def lower_and_record(context: FunctionContext, node: ast.expr) -> Expr:
            condition = lower(context, node)
            (self.decided.add if isinstance(condition, Const) else self.decided.discard)(node)
            return condition

        return lower_and_record

    def _returning(self, lower: Callable[..., None]) -> Callable[..., None]:
        def lower_and_record(context: FunctionContext, node: ast.Return) -> None:
            count = len(context.returned_types)
            lower(context, node)
            if len(context.returned_types) > count:
                self._joins_of(context).returns.append(node)

        return lower_and_record

    def _finishing(self, finish: Callable[..., Any]) -> Callable[..., Any]:
        def finish_and_record(
            builder: Any, source: Source, context: FunctionContext, body: Any, types: Any
        ) -> Any:
            if self.builder is not builder:  # it starts anew if functions call each other
                self.builder, self.types = builder, {}
            result = function_builder.check_result_type(context, body)
            self.types[source, types] = _inferred_types(self._joins_of(context), result)
            return finish(builder, source, context, body, types)

        return finish_and_record


def _inferred_types(joins: _Joins, result: ParameterType) -> InferredTypes:
    """Return the types of a function whose types have settled."""
    context = joins.context
    tree, names = context.source.tree, context.ranges.names
    local_types = {
        node: variable_type
        for nodes in bindings(tree).values()
        for node in nodes
        if (variable_type := _variable_type(context, names.get(id(node)))) is not None
    }
    join_types = {k: t for k, t in joins.types.items() if k not in joins.mixed}
    result_numbers = number_types(result)
    if result_numbers is not None:
        join_types |= dict.fromkeys(joins.returns, result_numbers)
    local_functions = frozenset(function.source for function in context.local_functions.values())
    return InferredTypes(tree, local_types, join_types, frozenset(joins.mixed), local_functions)


def _variable_type(context: FunctionContext, name: str | None) -> ParameterType | None:
    if name in context.types:
        return number_types(context.types[name])
    value = None if name is None else context.bound_values.get(name)
    return None if value is None else number_types(type_of(value))
