"""What the reference interpreter follows of the types that were found: by the ``id`` of syntax
nodes, for each function and each combination of argument types."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from pycu2c.base.records import dataclass, field
from pycu2c.base.types import ParameterType, Scalar
from pycu2c.frontend.function_context import Frame
from pycu2c.frontend.scope.bindings import parameters


@dataclass(frozen=True, slots=True)
class NotedTypes:
    """``names``: of the variable that an ``ast.Name`` or ``ast.arg`` assigns. ``joins``: of an
    ``ast.IfExp``, ``ast.BoolOp``, ``ast.Return`` or ``ast.Subscript``. ``mixed`` are the nodes with
    several types, for the items of a comprehension. ``tree``: with loops over tuples written out,
    each round with nodes of its own."""

    tree: ast.FunctionDef
    names: Mapping[int, Scalar] = field(default_factory=dict)
    joins: Mapping[int, Scalar] = field(default_factory=dict)
    mixed: frozenset[int] = frozenset()


def noted(frame: Frame, result: ParameterType) -> NotedTypes:
    """The types of a function that has settled."""
    stores = {key: frame.types[name] for key, name in frame.store_types.items()}
    for node in parameters(frame.source.tree.args):
        name = frame.ranges.names[id(node)]
        if name in frame.types:
            stores[id(node)] = frame.types[name]
    joins = dict(frame.join_types)
    if isinstance(result, Scalar):
        joins |= dict.fromkeys(frame.returns, result)
    mixed = {*frame.untyped, *frame.mixed_joins}
    return _without(frame.source.tree, stores, joins, mixed)


def together(found: Iterable[NotedTypes]) -> NotedTypes:
    """What holds of a node in all functions."""
    every = list(found)
    names, names_mixed = _agreed(pair for types in every for pair in types.names.items())
    joins, joins_mixed = _agreed(pair for types in every for pair in types.joins.items())
    mixed = {key for types in every for key in types.mixed}
    return _without(every[0].tree, names, joins, mixed | names_mixed | joins_mixed)


def within(own: NotedTypes, everywhere: NotedTypes) -> NotedTypes:
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
) -> NotedTypes:
    return NotedTypes(
        tree,
        {key: kind for key, kind in names.items() if key not in mixed},
        {key: kind for key, kind in joins.items() if key not in mixed},
        frozenset(mixed),
    )
