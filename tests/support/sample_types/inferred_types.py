"""The types of syntax nodes, which the compiler and samples give."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Source
from pycu2c.base.types import NONE, ParameterType, Scalar, Tuple

FunctionKey: TypeAlias = tuple[Source, tuple[ParameterType, ...]]
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
