"""Inferred types that the reference interpreter follows, by the ``id`` of syntax nodes.

There is one record for each function and each combination of argument types.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from pycu2c.base.records import dataclass, field
from pycu2c.base.types import ParameterType, Scalar
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.bindings import parameters


@dataclass(frozen=True, slots=True)
class InferredTypes:
    """The types of syntax nodes in one function.

    ``names``: the type of the variable that an ``ast.Name`` or ``ast.arg`` assigns. ``joins``: the
    type of an ``ast.IfExp``, ``ast.BoolOp``, ``ast.Return`` or ``ast.Subscript``. ``mixed``: nodes
    without a single type, which keep the types of their values: items of a comprehension or several
    specializations give them different types. ``tree``: the function with unrolled loops over
    tuples, where each iteration has its own nodes.
    """

    tree: ast.FunctionDef
    names: Mapping[int, Scalar] = field(default_factory=dict)
    joins: Mapping[int, Scalar] = field(default_factory=dict)
    mixed: frozenset[int] = frozenset()


def inferred_types(context: FunctionContext, result: ParameterType) -> InferredTypes:
    """Return the types of a function after type inference has converged."""
    names = {key: context.types[name] for key, name in context.store_types.items()}
    for node in parameters(context.source.tree.args):
        name = context.ranges.names[id(node)]
        if name in context.types:
            names[id(node)] = context.types[name]
    joins = dict(context.join_types)
    if isinstance(result, Scalar):
        joins |= dict.fromkeys(context.return_node_ids, result)
    mixed = {*context.nodes_without_variable, *context.mixed_joins}
    return _without_mixed(context.source.tree, names, joins, mixed)


def merge_types(types: Iterable[InferredTypes]) -> InferredTypes:
    """Merge the types of all functions; nodes with different types become mixed."""
    all_types = list(types)
    names, names_mixed = _first_types_and_mixed(pair for t in all_types for pair in t.names.items())
    joins, joins_mixed = _first_types_and_mixed(pair for t in all_types for pair in t.joins.items())
    mixed = {key for t in all_types for key in t.mixed}
    return _without_mixed(all_types[0].tree, names, joins, mixed | names_mixed | joins_mixed)


def with_inner_functions(types: InferredTypes, all_types: InferredTypes) -> InferredTypes:
    """Return the types of one function, and of functions inside it from ``all_types``."""
    names, joins = {**all_types.names, **types.names}, {**all_types.joins, **types.joins}
    return _without_mixed(types.tree, names, joins, set(types.mixed))


def _first_types_and_mixed(
    pairs: Iterable[tuple[int, Scalar]],
) -> tuple[dict[int, Scalar], set[int]]:
    first_types: dict[int, Scalar] = {}
    mixed = {key for key, node_type in pairs if first_types.setdefault(key, node_type) != node_type}
    return first_types, mixed


def _without_mixed(
    tree: ast.FunctionDef,
    names: Mapping[int, Scalar],
    joins: Mapping[int, Scalar],
    mixed: set[int],
) -> InferredTypes:
    return InferredTypes(
        tree,
        {key: node_type for key, node_type in names.items() if key not in mixed},
        {key: node_type for key, node_type in joins.items() if key not in mixed},
        frozenset(mixed),
    )
