"""What the reference interpreter follows of the types that were found: by the ``id`` of syntax
nodes, for each function and each combination of argument types."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from pycu2c.base.records import dataclass, field
from pycu2c.base.types import ParameterType, Scalar
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.bindings import parameters


@dataclass(frozen=True, slots=True)
class InferredTypes:
    """``names``: of the variable that an ``ast.Name`` or ``ast.arg`` assigns. ``joins``: of an
    ``ast.IfExp``, ``ast.BoolOp``, ``ast.Return`` or ``ast.Subscript``. ``mixed`` are the nodes with
    several types, for the items of a comprehension. ``tree``: with loops over tuples written out,
    each round with nodes of its own."""

    tree: ast.FunctionDef
    names: Mapping[int, Scalar] = field(default_factory=dict)
    joins: Mapping[int, Scalar] = field(default_factory=dict)
    mixed: frozenset[int] = frozenset()


def inferred_types(context: FunctionContext, result: ParameterType) -> InferredTypes:
    """The types of a function that has settled."""
    stores = {key: context.types[name] for key, name in context.store_types.items()}
    for node in parameters(context.source.tree.args):
        name = context.ranges.names[id(node)]
        if name in context.types:
            stores[id(node)] = context.types[name]
    joins = dict(context.join_types)
    if isinstance(result, Scalar):
        joins |= dict.fromkeys(context.returns, result)
    mixed = {*context.nodes_without_variable, *context.mixed_joins}
    return _without(context.source.tree, stores, joins, mixed)


def merge_types(found: Iterable[InferredTypes]) -> InferredTypes:
    """What holds of a node in all functions."""
    every = list(found)
    names, names_mixed = _agreed(pair for types in every for pair in types.names.items())
    joins, joins_mixed = _agreed(pair for types in every for pair in types.joins.items())
    mixed = {key for types in every for key in types.mixed}
    return _without(every[0].tree, names, joins, mixed | names_mixed | joins_mixed)


def merge_enclosing(own: InferredTypes, everywhere: InferredTypes) -> InferredTypes:
    """What holds in one function, and in those that are defined inside of it."""
    names, joins = {**everywhere.names, **own.names}, {**everywhere.joins, **own.joins}
    return _without(own.tree, names, joins, set(own.mixed))


def _agreed(pairs: Iterable[tuple[int, Scalar]]) -> tuple[dict[int, Scalar], set[int]]:
    found: dict[int, Scalar] = {}
    mixed = {key for key, kind in pairs if found.setdefault(key, kind) != kind}
    return found, mixed


def _without(
    tree: ast.FunctionDef,
    names: Mapping[int, Scalar],
    joins: Mapping[int, Scalar],
    mixed: set[int],
) -> InferredTypes:
    return InferredTypes(
        tree,
        {key: kind for key, kind in names.items() if key not in mixed},
        {key: kind for key, kind in joins.items() if key not in mixed},
        frozenset(mixed),
    )
