"""Inferred types that the reference interpreter follows, by the ``id`` of syntax nodes.

There is one record for each function and each combination of argument types.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TypeVar

from pycu2c.base.records import dataclass, field
from pycu2c.base.types import ParameterType, Scalar
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.bindings import parameters

T = TypeVar("T", bound=ParameterType)


@dataclass(frozen=True, slots=True)
class InferredTypes:
    """The types of syntax nodes in one function.

    ``local_types``: the type of the variable that an ``ast.Name`` or ``ast.arg`` assigns.
    ``join_types``: the type of a node that joins several values: an ``ast.IfExp``, ``ast.BoolOp``,
    ``ast.Return`` or ``ast.Subscript``. ``mixed``: nodes without a single type, which keep the
    types of their values: items of a comprehension or several specializations give them different
    types. ``tree``: the function with unrolled loops over tuples, where each iteration has its own
    nodes.
    """

    tree: ast.FunctionDef
    local_types: Mapping[int, ParameterType] = field(default_factory=dict)
    join_types: Mapping[int, Scalar] = field(default_factory=dict)
    mixed: frozenset[int] = frozenset()


def inferred_types(context: FunctionContext, result: ParameterType) -> InferredTypes:
    """Return the types of a function after type inference has converged."""
    local_types = {key: context.types[name] for key, name in context.store_types.items()}
    for node in parameters(context.source.tree.args):
        name = context.ranges.names[id(node)]
        if name in context.types:
            local_types[id(node)] = context.types[name]
    join_types = dict(context.join_types)
    if isinstance(result, Scalar):
        join_types |= dict.fromkeys(context.return_node_ids, result)
    mixed = {*context.nodes_without_variable, *context.mixed_joins}
    return _without_mixed(context.source.tree, local_types, join_types, mixed)


def merge_types(types: Iterable[InferredTypes]) -> InferredTypes:
    """Merge the types of all functions; nodes with different types become mixed."""
    all_types = list(types)
    local_types, local_mixed = _first_types_and_mixed(t.local_types for t in all_types)
    join_types, join_mixed = _first_types_and_mixed(t.join_types for t in all_types)
    mixed = {key for t in all_types for key in t.mixed} | local_mixed | join_mixed
    return _without_mixed(all_types[0].tree, local_types, join_types, mixed)


def with_inner_functions(types: InferredTypes, all_types: InferredTypes) -> InferredTypes:
    """Return the types of one function, and of functions inside it from ``all_types``."""
    local_types = {**all_types.local_types, **types.local_types}
    join_types = {**all_types.join_types, **types.join_types}
    return _without_mixed(types.tree, local_types, join_types, set(types.mixed))


def _first_types_and_mixed(all_types: Iterable[Mapping[int, T]]) -> tuple[dict[int, T], set[int]]:
    first_types: dict[int, T] = {}
    pairs = (pair for types in all_types for pair in types.items())
    mixed = {key for key, node_type in pairs if first_types.setdefault(key, node_type) != node_type}
    return first_types, mixed


def _without_mixed(
    tree: ast.FunctionDef,
    local_types: Mapping[int, ParameterType],
    join_types: Mapping[int, Scalar],
    mixed: set[int],
) -> InferredTypes:
    return InferredTypes(
        tree,
        {key: node_type for key, node_type in local_types.items() if key not in mixed},
        {key: node_type for key, node_type in join_types.items() if key not in mixed},
        frozenset(mixed),
    )
