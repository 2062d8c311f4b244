"""The types that the front end infers for syntax nodes, which tests compare with their own."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Source
from pycu2c.base.types import NONE, ParameterType, Scalar, Tuple
from pycu2c.frontend.expressions.composite_values import type_of
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.bindings import bindings
from pycu2c.frontend.values import Value

TypesByNode: TypeAlias = Mapping[ast.AST, ParameterType]


@dataclass(frozen=True, slots=True)
class InferredTypes:
    """The types of syntax nodes in one function, for one combination of argument types.

    ``local_types``: the type of the variable that an ``ast.Name`` or ``ast.arg`` assigns.
    ``join_types``: the type of a node that joins several values: an ``ast.IfExp``, ``ast.BoolOp``,
    ``ast.Return`` or ``ast.Subscript``. ``mixed``: nodes without a single type, which keep the
    types of their values: items of a comprehension or several specializations give them different
    types. ``tree``: the function with unrolled loops over tuples, where each iteration has its own
    nodes. ``local_functions``: the functions that it defines.
    """

    tree: ast.FunctionDef
    local_types: TypesByNode = field(default_factory=dict)
    join_types: TypesByNode = field(default_factory=dict)
    mixed: frozenset[ast.AST] = frozenset()
    local_functions: frozenset[Source] = frozenset()


def record_join(context: FunctionContext, node: ast.AST, value: Value) -> Value:
    """Record the type of a node that joins values, and return its value."""
    joined = number_types(type_of(value))
    if joined is not None and context.join_types.setdefault(node, joined) != joined:
        context.mixed_joins.add(node)
    return value


def inferred_types(context: FunctionContext, result: ParameterType) -> InferredTypes:
    """Return the types of a function whose types have settled."""
    tree, names = context.source.tree, context.ranges.names
    local_types = {
        node: variable_type
        for nodes in bindings(tree).values()
        for node in nodes
        if (variable_type := _variable_type(context, names.get(id(node)))) is not None
    }
    join_types = {k: t for k, t in context.join_types.items() if k not in context.mixed_joins}
    result_numbers = number_types(result)
    if result_numbers is not None:
        join_types |= dict.fromkeys(context.returns, result_numbers)
    local_functions = frozenset(function.source for function in context.local_functions.values())
    mixed = frozenset(context.mixed_joins)
    return InferredTypes(tree, local_types, join_types, mixed, local_functions)


def _variable_type(context: FunctionContext, name: str | None) -> ParameterType | None:
    if name in context.types:
        return number_types(context.types[name])
    value = None if name is None else context.bound_values.get(name)
    return None if value is None else number_types(type_of(value))


def number_types(value_type: ParameterType) -> ParameterType | None:
    """Return the type of a number or vector; in a tuple, NONE stands for other items."""
    match value_type:
        case Scalar(dtype):
            is_record = dtype.fields and not dtype.is_complex and not dtype.is_vector
            return None if is_record or dtype.handle else value_type
        case Tuple(items, names) if not names or names[0][:1] != "<":
            return Tuple(tuple(number_types(item) or NONE for item in items))
        case _:
            return None


def merge_types(types: Iterable[InferredTypes]) -> InferredTypes:
    """Merge types of one function; nodes with different types become mixed."""
    all_types = list(types)
    mixed = {node for t in all_types for node in t.mixed}
    local_types = _first_types([t.local_types for t in all_types], mixed)
    join_types = _first_types([t.join_types for t in all_types], mixed)
    return InferredTypes(all_types[0].tree, local_types, join_types, frozenset(mixed))


def _first_types(all_types: Iterable[TypesByNode], mixed: set[ast.AST]) -> TypesByNode:
    """Return the types that all agree on, and add the other nodes to ``mixed``."""
    first_types: dict[ast.AST, ParameterType] = {}
    pairs = (pair for types in all_types for pair in types.items())
    mixed |= {k for k, node_type in pairs if first_types.setdefault(k, node_type) != node_type}
    return {node: node_type for node, node_type in first_types.items() if node not in mixed}
