"""Loads, stores and element-wise operations on arrays and records in the oracle."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base.dtypes import from_numpy
from pycu2c.base.types import Scalar
from pycu2c.base.values import convert, scalar_of
from pycu2c.base.vectors import Vector, vector
from pycu2c.interpreter import memory
from pycu2c.interpreter.functions import UnsupportedByReferenceError
from pycu2c.interpreter.memory import AccessLocation
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE
from pycu2c.runtime.findings import exception_of_thread

Location: TypeAlias = str | AccessLocation


class ThreadEnds(Exception):
    """``raise`` in a kernel ends the thread."""


def type_of(value: object) -> Scalar:
    scalar = scalar_of(value)
    if scalar is None:
        raise UnsupportedByReferenceError(f"{value!r} is not a number that kernels have")
    return scalar


def to_scalar(value: Any) -> Any:
    """Return a 0-d array as a scalar, and a vector element of an array as a vector value."""
    scalar = value[()] if isinstance(value, np.ndarray) and not value.ndim else value
    if not isinstance(scalar, np.void):
        return scalar
    value_type = type_of(scalar)
    return convert(scalar, value_type) if value_type.dtype.is_vector else scalar


def subscript(index: Any) -> Any:
    """Return an index as NumPy takes it; integers of any type are accepted."""
    if isinstance(index, tuple):
        return tuple(subscript(item) for item in index)
    if isinstance(index, (slice, str)) or index is ...:
        return index
    return operator.index(index)


def make_slice(*bounds: Any) -> slice:
    return slice(*(None if b is None else operator.index(b) for b in bounds))


def out_of_bounds_error(error: IndexError, location: Location) -> IndexError:
    """Return the IndexError with the location, the array and the thread."""
    is_access = isinstance(location, AccessLocation)
    return memory.out_of_bounds_error(error, location if is_access else AccessLocation(location))


def exception_of(location: Location, exception: Any, *arguments: Any) -> BaseException:
    """Return the exception that a thread raises."""
    thread = REFERENCE_STATE.thread
    assert thread is not None, "no kernel is running"
    return exception_of_thread(
        exception, arguments, str(location), f"thread {thread.threadIdx} of block {thread.blockIdx}"
    )


def load(owner: Any, index: Any, location: Location) -> Any:
    return to_scalar(element_or_field(owner, index, location))


def element_or_field(owner: Any, index: Any, location: Location) -> Any:
    """Return an element or field in place: a vector is not loaded from its array."""
    try:
        if isinstance(owner, tuple) and isinstance(index, tuple):  # nested tuples
            return reduce(lambda rows, n: rows[subscript(n)], index, owner)
        return owner[subscript(index)]
    except IndexError as error:
        raise out_of_bounds_error(error, location) from None


def with_component(value: Any, name: str, component: Any, location: Location) -> Any:
    """Return the variable's value after ``v.x = component``.

    A vector is replaced; a record is changed in place.
    """
    if not isinstance(value, Vector):
        store(value, name, component, location)
        return value
    fields = value.vector_type.fields
    components = [
        convert(component if f.name == name else value[f.name], Scalar(f.dtype)) for f in fields
    ]
    return vector(value.vector_type, components)


def store(array: Any, index: Any, value: Any, location: Location) -> None:
    """Convert as ``ndarray.astype`` does, and assign."""
    try:
        if isinstance(value, tuple):
            _store_items(element_or_field(array, index, location), value, location)
        elif isinstance(value, (np.void, Vector)) or scalar_of(value) is None:
            array[subscript(index)] = value
        else:
            array[subscript(index)] = convert(value, _element_type(array, index))
    except IndexError as error:
        raise out_of_bounds_error(error, location) from None


def _store_items(destination: Any, items: tuple[Any, ...], location: Location) -> None:
    """Store a tuple in the fields of a record or the elements of an array.

    A tuple of one item is broadcast.
    """
    if getattr(destination, "ndim", 0) and len(items) == 1:
        items = items * len(destination)
    names = (
        destination.dtype.names if not getattr(destination, "ndim", 0) else range(len(destination))
    )
    if len(items) != len(names):
        raise ValueError(f"{location}: {len(items)} values for {len(names)} fields or elements")
    for name, item in zip(names, items):
        store(destination, name, item, location)


def _element_type(array: Any, index: Any) -> Scalar:
    """Return the type of an element or field."""
    is_field = isinstance(index, str) or isinstance(array, np.void)
    return scalar_type(array.dtype[index].base if is_field else array.dtype)


def scalar_type(dtype: np.dtype[Any]) -> Scalar:
    element = from_numpy(dtype)
    assert element is not None
    return Scalar(element)


# ---- NumPy ufuncs on whole arrays ----------------------------------------------------------------


def lift_to_arrays(function: object, compute: Callable[..., Any]) -> Callable[..., Any]:
    """Return a ufunc as kernels call it: on numbers, or with output arrays."""
    if not isinstance(function, np.ufunc):
        return compute
    ufunc = function

    def call(*arguments: Any, out: Any = None, **keywords: Any) -> Any:
        outputs = arguments[ufunc.nin :] or (out if isinstance(out, tuple) else (out,))
        if outputs[0] is None:
            return compute(*arguments, **keywords)
        shape = outputs[0].shape
        for other in outputs[1:]:
            np.broadcast_to(other, shape)  # raises ValueError for another shape
        operands = [_element_getter(value, shape) for value in arguments[: ufunc.nin]]
        for index in np.ndindex(shape):
            result = compute(*(v(index) for v in operands))
            results = result if isinstance(result, tuple) else (result,)
            for array, value in zip(outputs, results, strict=True):
                store(array, index, value, "")
        return outputs[0] if ufunc.nout == 1 else tuple(outputs)

    return call


def _element_getter(value: Any, shape: tuple[int, ...]) -> Callable[[tuple[int, ...]], Any]:
    """Return the function from an index to an operand's number (broadcast)."""
    if not isinstance(value, np.ndarray) or not value.ndim:
        return lambda _: value
    broadcast = np.broadcast_to(value.copy(), shape)
    return lambda index: broadcast[index]
