"""The arguments of a launch taken apart: their types, and the numbers and arrays in them.

A tuple is passed item by item; what is known when the kernel is compiled (None, a string, a
function, a dtype) is part of the type, and nothing of it is passed.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from operator import itemgetter
from types import BuiltinFunctionType, FunctionType
from typing import Any, NoReturn

import numpy as np

from pycu2c.base import vector_types
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.dtypes import Kind
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
from pycu2c.runtime.arguments.arguments import describe, described_handle
from pycu2c.runtime.arguments.array_argument import Argument


@dataclass(frozen=True, slots=True)
class Given:
    """What a launch was given. ``leaves`` are the numbers and arrays, in order, depth first."""

    types: tuple[ParameterType, ...]
    leaves: tuple[Argument, ...]


def taken_apart(values: Sequence[object], names: Sequence[str]) -> Given:
    """The types and leaves of a launch's arguments; ``names`` are for errors."""
    leaves: list[Argument] = []
    types = tuple(_taken(value, name, leaves) for value, name in zip(values, names, strict=True))
    return Given(types, tuple(leaves))


def _taken(value: Any, name: str, leaves: list[Argument]) -> ParameterType:
    """The type of one value; its leaves are appended."""
    scalar = scalar_of(value)
    if isinstance(value, np.void) and value.dtype.names and not _is_vector(scalar):
        fields = [_by_value(value[field]) for field in value.dtype.names]
        return _tuple(fields, value.dtype.names, name, leaves)
    if scalar is not None:
        leaves.append(value)
        return scalar
    handle = described_handle(value)
    if handle is not None:
        leaves.append(handle)
        return handle.type
    array = None if isinstance(value, type) else describe(value, name)
    if array is not None:
        leaves.append(array)
        return array.type
    if isinstance(value, tuple):
        return _tuple(value, getattr(value, "_fields", ()), name, leaves)
    constant = _constant(value)
    if constant is not None:
        return constant
    if hasattr(type(value), "__dataclass_params__"):  # not a type of this package's
        return _of_dataclass(value, name, leaves)
    _refuse(value, name)


def _is_vector(scalar: Scalar | None) -> bool:
    return scalar is not None and scalar.dtype.is_vector


def item_name(name: str, step: str) -> str:
    """``argument 2 (p)`` and ``1`` -> ``argument 2 (p), item 1``."""
    return f"{name}, item {step}"


def leaf_names(names: Sequence[str], signature: Signature) -> tuple[str, ...]:
    """What errors call each number and array of the arguments."""
    return tuple(
        functools.reduce(item_name, path, name)
        for name, kind in zip(names, signature.parameters, strict=True)
        for path, _ in leaf_paths(kind)
    )


def _tuple(
    items: Iterable[object], names: tuple[str, ...], name: str, leaves: list[Argument]
) -> Tuple:
    types = [
        _taken(item, item_name(name, names[i] if names else str(i + 1)), leaves)
        for i, item in enumerate(items)
    ]
    return Tuple(tuple(types), tuple(names))


def _by_value(field: object) -> object:
    """A record's field; an array inside of a record is passed as a tuple, not by its place."""
    return tuple(map(_by_value, field)) if isinstance(field, np.ndarray) else field


def _of_dataclass(value: Any, name: str, leaves: list[Argument]) -> Tuple:
    if not type(value).__dataclass_params__.frozen:
        raise LaunchError(
            f"{name} is a {type(value).__name__}, which can change: "
            "freeze it with @dataclass(frozen=True)"
        )
    names = tuple(field.name for field in dataclasses.fields(value))
    return _tuple([getattr(value, n) for n in names], names, name, leaves)


_FUNCTIONS = (FunctionType, BuiltinFunctionType, np.ufunc)


def _constant(value: object) -> Constant | None:
    """The type of what is known when the kernel is compiled; None for anything else."""
    if value is None:
        return NONE
    if isinstance(value, str):
        return Constant(str(value))
    if isinstance(value, _FUNCTIONS) or hasattr(value, "__pycu2c_device__"):
        return Constant(value)
    if numba_function(value) is not None:
        return Constant(value)
    scalar: Scalar | None = scalar_named(value)
    if scalar is None or scalar.dtype.kind is Kind.RECORD:
        return None
    if scalar.dtype.is_vector:
        return Constant(getattr(vector_types, scalar.dtype.name))
    # numpy makes a dtype anew for each request; its scalar class is one object
    return Constant(scalar.dtype.numpy.type)


def _cure(value: object) -> str:
    match value:
        case list():
            return ": pass a tuple, or numpy.array(…)"
        case dict():
            return ": pass a named tuple or a frozen dataclass"
        case Enum():
            return ": pass its value, or make it an IntEnum"
        case bytes() | bytearray():
            return ": pass numpy.frombuffer(…, dtype), which shares its memory"
        case _ if _is_buffer(value):
            return ": pass numpy.asarray(…), which shares its memory"
        case _ if hasattr(type(value), "__array__"):  # tables and series of other packages
            return ": pass numpy.asarray(…)"
        case _ if hasattr(value, "__dict__"):
            return ": pass its fields, or make it a frozen dataclass"
        case _:
            return ""


def _refuse(value: object, name: str) -> NoReturn:
    raise LaunchError(
        f"{name} is a {type(value).__name__}; kernels take numpy arrays, arrays with "
        "__cuda_array_interface__, numbers, tuples of these, None, strings, functions and "
        f"dtypes{_cure(value)}"
    )


def _is_buffer(value: object) -> bool:
    try:
        with memoryview(value):  # type: ignore[arg-type]
            return True
    except TypeError:
        return False


# ---- and back, for the reference -----------------------------------------------------------------


def put_together(kind: ParameterType, leaves: Iterator[Any]) -> Any:
    """A value of a type, made of leaves in order."""
    match kind:
        case Tuple(items, names):
            values = [put_together(item, leaves) for item in items]
            return _class_of(names)._make(values) if names else tuple(values)
        case Constant(value=value):
            return value
        case _:
            return next(leaves)


@functools.cache
def _class_of(names: tuple[str, ...]) -> Any:
    """A class of tuples whose items have names: ``p.x``, and ``p["x"]`` as of a record."""

    def item(self: tuple[Any, ...], key: Any) -> Any:
        return tuple.__getitem__(self, names.index(key) if isinstance(key, str) else key)

    parts: dict[str, Any] = {name: property(itemgetter(i)) for i, name in enumerate(names)}
    parts["_make"] = classmethod(lambda cls, items: tuple.__new__(cls, items))
    return type("Fields", (tuple,), {**parts, "__getitem__": item})
