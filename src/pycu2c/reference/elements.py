"""Loads and stores of array elements and record fields in the reference interpreter."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from pycu2c.base.dtypes import from_numpy
from pycu2c.base.types import Scalar
from pycu2c.base.values import convert, scalar_of
from pycu2c.base.vectors import Vector, vector
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE
from pycu2c.runtime.thread_exceptions import exception_of_thread


class AccessLocation(NamedTuple):
    """``file:line``, and the array as the kernel names it, for errors."""

    where: str
    array: str = ""

    def __str__(self) -> str:
        return self.where


Location: TypeAlias = str | AccessLocation


class UnsupportedByReference(TypeError):
    """A kernel uses what the reference interpreter does not support."""


def type_of(value: object) -> Scalar:
    found = scalar_of(value)
    if found is None:
        raise UnsupportedByReference(f"{value!r} is not a number that kernels have")
    return found


def to_scalar(found: Any) -> Any:
    """Return a 0-d array as a scalar, and a vector in an array as a value."""
    scalar = found[()] if isinstance(found, np.ndarray) and not found.ndim else found
    if not isinstance(scalar, np.void):
        return scalar
    kind = type_of(scalar)
    return convert(scalar, kind) if kind.dtype.is_vector else scalar


def subscript(index: Any) -> Any:
    """Return an index as NumPy takes it; numbers of any integer type count."""
    if isinstance(index, tuple):
        return tuple(subscript(part) for part in index)
    if isinstance(index, (slice, str)) or index is ...:
        return index
    return operator.index(index)


def make_slice(*bounds: Any) -> slice:
    return slice(*(None if b is None else operator.index(b) for b in bounds))


def out_of_bounds_error(error: IndexError, where: Location) -> IndexError:
    """Return the IndexError with the location, the array and the thread."""
    at = REFERENCE_STATE.thread
    assert at is not None, "a kernel runs"
    whose = f" of {where.array}" if isinstance(where, AccessLocation) and where.array else ""
    return IndexError(f"{where}: {error}{whose}, in thread {at.threadIdx} of block {at.blockIdx}")


def exception_of(where: Location, kind: Any, *given: Any) -> BaseException:
    """Return the exception that a thread raises."""
    at = REFERENCE_STATE.thread
    assert at is not None, "a kernel runs"
    return exception_of_thread(
        kind, given, str(where), f"thread {at.threadIdx} of block {at.blockIdx}"
    )


def load(owner: Any, index: Any, where: Location) -> Any:
    return to_scalar(element_or_field(owner, index, where))


def element_or_field(owner: Any, index: Any, where: Location) -> Any:
    """Return an element or field in place: a vector is not loaded from its array."""
    try:
        if isinstance(owner, tuple) and isinstance(index, tuple):  # nested tuples
            return reduce(lambda rows, n: rows[subscript(n)], index, owner)
        return owner[subscript(index)]
    except IndexError as error:
        raise out_of_bounds_error(error, where) from None


def with_component(value: Any, name: str, new: Any, where: Location) -> Any:
    """Return the variable's value after ``v.x = new``.

    A vector is replaced; a record is changed in place.
    """
    if not isinstance(value, Vector):
        store(value, name, new, where)
        return value
    fields = value.vector_type.fields
    parts = [convert(new if f.name == name else value[f.name], Scalar(f.dtype)) for f in fields]
    return vector(value.vector_type, parts)


def iterable(value: Any) -> Any:
    """Return the iterable of a loop."""
    return value


def store(array: Any, index: Any, value: Any, where: Location) -> None:
    """Convert as ``ndarray.astype`` does, and assign."""
    try:
        if isinstance(value, tuple):
            _store_items(element_or_field(array, index, where), value, where)
        elif isinstance(value, (np.void, Vector)) or scalar_of(value) is None:
            array[subscript(index)] = value
        else:
            array[subscript(index)] = convert(value, _element(array, index))
    except IndexError as error:
        raise out_of_bounds_error(error, where) from None


def _store_items(place: Any, items: tuple[Any, ...], where: Location) -> None:
    """Store a tuple in the fields of a record or the elements of an array.

    A tuple of one item is broadcast.
    """
    if getattr(place, "ndim", 0) and len(items) == 1:
        items = items * len(place)
    names = place.dtype.names if not getattr(place, "ndim", 0) else range(len(place))
    if len(items) != len(names):
        raise UnsupportedByReference(f"{where}: {len(items)} values for {len(names)} places")
    for name, item in zip(names, items):
        store(place, name, item, where)


def _element(array: Any, index: Any) -> Scalar:
    """Return the type of an element or field."""
    is_field = isinstance(index, str) or isinstance(array, np.void)
    return scalar_type(array.dtype[index].base if is_field else array.dtype)


def scalar_type(dtype: np.dtype[Any]) -> Scalar:
    found = from_numpy(dtype)
    assert found is not None
    return Scalar(found)
