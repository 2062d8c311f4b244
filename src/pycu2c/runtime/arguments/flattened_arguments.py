"""Flatten the arguments of a launch into types and leaves (numbers and arrays).

Tuples are passed item by item. Compile-time constants (None, strings, functions, dtypes) are part
of the type, and are not passed.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from types import BuiltinFunctionType, FunctionType
from typing import Any, NoReturn

import numpy as np

from pycu2c.base import vector_types
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.records import dataclass
from pycu2c.base.types import (
    NONE,
    Constant,
    ParameterType,
    Scalar,
    Signature,
    Tuple,
    leaf_paths,
    scalar_of,
)
from pycu2c.ops.names.dtype_names import scalar_named
from pycu2c.ops.names.numba_names import numba_function
from pycu2c.runtime.arguments.arguments import describe, describe_handle
from pycu2c.runtime.arguments.array_argument import Argument
from pycu2c.runtime.arguments.conversion_hints import conversion_hint, described


@dataclass(frozen=True, slots=True)
class FlattenedArguments:
    """The flattened arguments of a launch. ``leaves``: numbers and arrays, depth first."""

    types: tuple[ParameterType, ...]
    leaves: tuple[Argument, ...]


def flatten_arguments(values: Sequence[object], names: Sequence[str]) -> FlattenedArguments:
    """Flatten the arguments of a launch; ``names`` are used in errors."""
    leaves: list[Argument] = []
    types = tuple(_flatten(value, name, leaves) for value, name in zip(values, names, strict=True))
    return FlattenedArguments(types, tuple(leaves))


def _flatten(value: Any, name: str, leaves: list[Argument]) -> ParameterType:
    """Return the type of a value; append its leaves."""
    scalar = scalar_of(value)
    if isinstance(value, np.void) and value.dtype.names and not _is_vector(scalar):
        fields = [_field_value(value[field]) for field in value.dtype.names]
        return _flatten_items(fields, value.dtype.names, name, leaves)
    if scalar is not None:
        leaves.append(value)
        return scalar
    handle = describe_handle(value)
    if handle is not None:
        leaves.append(handle)
        return handle.type
    array = None if isinstance(value, type) else describe(value, name)
    if array is not None:
        leaves.append(array)
        return array.type
    if isinstance(value, tuple):
        return _flatten_items(value, getattr(value, "_fields", ()), name, leaves)
    constant = _constant(value)
    if constant is not None:
        return constant
    if dataclasses.is_dataclass(type(value)) and not type(value).__module__.startswith("pycu2c."):
        return _flatten_dataclass(value, name, leaves)
    _reject(value, name)


def _is_vector(scalar: Scalar | None) -> bool:
    return scalar is not None and scalar.dtype.is_vector


def item_name(name: str, step: str) -> str:
    """Return ``argument 2 (p), item 1`` for ``argument 2 (p)`` and ``1``."""
    return f"{name}, item {step}"


def leaf_names(names: Sequence[str], signature: Signature) -> tuple[str, ...]:
    """Return the names of the leaves in errors."""
    return tuple(
        functools.reduce(item_name, path, name)
        for name, parameter_type in zip(names, signature.parameters, strict=True)
        for path, _ in leaf_paths(parameter_type)
    )


def _flatten_items(
    items: Iterable[object], names: tuple[str, ...], name: str, leaves: list[Argument]
) -> Tuple:
    types = [
        _flatten(item, item_name(name, names[i] if names else str(i + 1)), leaves)
        for i, item in enumerate(items)
    ]
    return Tuple(tuple(types), tuple(names))


def _field_value(field: object) -> object:
    """Return a field of a record; array fields are passed by value, as tuples."""
    return tuple(map(_field_value, field)) if isinstance(field, np.ndarray) else field


def _flatten_dataclass(value: Any, name: str, leaves: list[Argument]) -> Tuple:
    if not type(value).__dataclass_params__.frozen:
        raise LaunchError(
            f"{name} is a {type(value).__name__}, which can change: "
            "freeze it with @dataclass(frozen=True)"
        )
    names = tuple(field.name for field in dataclasses.fields(value))
    return _flatten_items([getattr(value, n) for n in names], names, name, leaves)


_FUNCTION_TYPES = (FunctionType, BuiltinFunctionType, np.ufunc)


def _constant(value: object) -> Constant | None:
    """Return the type of a compile-time constant; None for other values."""
    if value is None:
        return NONE
    if isinstance(value, str):
        return Constant(str(value))
    if isinstance(value, _FUNCTION_TYPES) or hasattr(value, "__pycu2c_device__"):
        return Constant(value)
    if numba_function(value) is not None:
        return Constant(value)
    scalar: Scalar | None = scalar_named(value)
    if scalar is None or scalar.dtype.kind is DTypeKind.RECORD:
        return None
    if scalar.dtype.is_vector:
        return Constant(getattr(vector_types, scalar.dtype.name))
    # numpy may create a dtype for each access, but its scalar class is a single object
    return Constant(scalar.dtype.numpy.type)


def _reject(value: object, name: str) -> NoReturn:
    raise LaunchError(
        f"{name} is {described(value)}; kernels take numpy arrays, arrays with "
        "__cuda_array_interface__, numbers, tuples of these, None, strings, functions and "
        f"dtypes{conversion_hint(value)}"
    )


# ---- inverse, for the reference interpreter ------------------------------------------------------


def unflatten(parameter_type: ParameterType, leaves: Iterator[Any]) -> Any:
    """Build a value of a type from leaves, in order."""
    match parameter_type:
        case Tuple(items, names):
            values = [unflatten(item, leaves) for item in items]
            return _named_tuple_class(names)._make(values) if names else tuple(values)
        case Constant(value=value):
            return value
        case _:
            return next(leaves)


@functools.cache
def _named_tuple_class(names: tuple[str, ...]) -> Any:
    """Return a tuple class with named items: ``p.x``, and ``p["x"]`` as in a numpy record."""

    def item(self: tuple[Any, ...], key: Any) -> Any:
        return tuple.__getitem__(self, names.index(key) if isinstance(key, str) else key)

    attributes: dict[str, Any] = {name: property(itemgetter(i)) for i, name in enumerate(names)}
    attributes["_make"] = classmethod(lambda cls, items: tuple.__new__(cls, items))
    return type("Fields", (tuple,), {**attributes, "__getitem__": item})
