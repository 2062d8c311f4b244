"""Inferred types that the reference interpreter follows, by the ``id`` of syntax nodes.

There is one record for each function and each combination of argument types.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TypeVar

from pycu2c.base.records import dataclass, field
from pycu2c.base.types import ParameterType

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
    join_types: Mapping[int, ParameterType] = field(default_factory=dict)
    mixed: frozenset[int] = frozenset()


def merge_types(types: Iterable[InferredTypes]) -> InferredTypes:
    """Merge types of one function; nodes with different types become mixed."""
    all_types = list(types)
    mixed = {key for t in all_types for key in t.mixed}
    local_types = _first_types([t.local_types for t in all_types], mixed)
    join_types = _first_types([t.join_types for t in all_types], mixed)
    return InferredTypes(all_types[0].tree, local_types, join_types, frozenset(mixed))


def _first_types(all_types: Iterable[Mapping[int, T]], mixed: set[int]) -> dict[int, T]:
    """Return the types that all agree on, and add the other nodes to ``mixed``."""
    first_types: dict[int, T] = {}
    pairs = (pair for types in all_types for pair in types.items())
    mixed |= {k for k, node_type in pairs if first_types.setdefault(k, node_type) != node_type}
    return {key: node_type for key, node_type in first_types.items() if key not in mixed}
