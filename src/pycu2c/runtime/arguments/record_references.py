"""View records as arrays without axes, so that a kernel writes to the memory of a record.

A record that a kernel only reads is passed by value, as the tuple of its fields.
"""

from __future__ import annotations

import ast
import ctypes
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from pycu2c.base.dtypes import DTypeKind, from_numpy
from pycu2c.base.records import replace
from pycu2c.base.types import Array, ParameterType, Scalar, Signature


def written_names(tree: ast.AST) -> set[str]:
    """Return the variables of which a function sets a field: ``p.x = 1``, ``p["x"][0] += 1``."""
    targets = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)
    )
    return {name for target in targets for name in _owners(target)}


def _owners(target: ast.expr) -> Iterator[str]:
    """Yield the variable that a target belongs to: ``p`` for ``p.x[0]``."""
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
    if isinstance(target, ast.Name):
        yield target.id


def with_references(declared: Signature) -> Signature:
    """Return a declared signature whose records are passed by reference."""
    return replace(declared, parameters=tuple(map(_reference_type, declared.parameters)))


def _reference_type(declared: ParameterType) -> ParameterType:
    if isinstance(declared, Scalar) and declared.dtype.kind is DTypeKind.RECORD:
        return Array(declared.dtype, 0, "C")
    return declared


def refer_to_records(values: Sequence[object], positions: Collection[int]) -> list[object]:
    """Return the arguments with the records at these positions as arrays without axes."""
    return [_referenced(value) if i in positions else value for i, value in enumerate(values)]


def _referenced(value: object) -> object:
    if not isinstance(value, np.void) or not value.dtype.names:
        return value
    dtype = from_numpy(value.dtype)
    if dtype is None or dtype.is_vector:
        return value
    address = np.frombuffer(value, np.uint8).__array_interface__["data"][0]
    memory: Any = (ctypes.c_char * value.dtype.itemsize).from_address(address)
    memory.owner = value  # keeps the memory alive
    array: np.ndarray[Any, Any] = np.ndarray((), value.dtype, memory)
    array.flags.writeable = value.flags.writeable
    return array
