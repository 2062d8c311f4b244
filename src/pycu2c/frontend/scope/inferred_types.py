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

    ``names``: of the variable that an ``ast.Name`` or ``ast.arg`` assigns. ``joins``: of an
    ``ast.IfExp``, ``ast.BoolOp``, ``ast.Return`` or ``ast.Subscript``. ``mixed``: nodes with more
    than one type, for the items of a comprehension. ``tree``: with unrolled loops over tuples, each
    iteration with nodes of its own.
    """

    tree: ast.FunctionDef
    names: Mapping[int, Scalar] = field(default_factory=dict)
    joins: Mapping[int, Scalar] = field(default_factory=dict)
    mixed: frozenset[int] = frozenset()


def inferred_types(context: FunctionContext, result: ParameterType) -> InferredTypes:
    """Return the types of a function after its last pass."""
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


def merge_types(types: Iterable[InferredTypes]) -> InferredTypes:
    """Merge the types of all functions; nodes with different types become mixed."""
    all_types = list(types)
    names, names_mixed = _unambiguous(pair for one in all_types for pair in one.names.items())
    joins, joins_mixed = _unambiguous(pair for one in all_types for pair in one.joins.items())
    mixed = {key for one in all_types for key in one.mixed}
    return _without(all_types[0].tree, names, joins, mixed | names_mixed | joins_mixed)


def merge_enclosing(types: InferredTypes, everywhere: InferredTypes) -> InferredTypes:
    """Return the types of one function and of the functions defined inside it."""
    names, joins = {**everywhere.names, **types.names}, {**everywhere.joins, **types.joins}
    return _without(types.tree, names, joins, set(types.mixed))


def _unambiguous(pairs: Iterable[tuple[int, Scalar]]) -> tuple[dict[int, Scalar], set[int]]:
    kinds: dict[int, Scalar] = {}
    mixed = {key for key, kind in pairs if kinds.setdefault(key, kind) != kind}
    return kinds, mixed


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
