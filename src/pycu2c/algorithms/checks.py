"""Checks of the arguments of algorithms, whose errors name the parameters that users see."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.parameters import OverlapRule
from pycu2c.kernels.kernel import DeviceFunction, device
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.array_overlap import violated_rule

# kinds of dtypes, as NumPy abbreviates them; v: vectors, and V: records
INTEGERS, INTEGRAL, REALS, NUMBERS, ELEMENTS = "iu", "biu", "biuf", "biufc", "biufcmMv"
_NOUNS = {
    INTEGERS: "integers",
    INTEGRAL: "integers",
    REALS: "integers or floats",
    NUMBERS: "numbers",
    ELEMENTS: "numbers, vectors or times",
}
_RANKS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}  # a number is converted to an equal or higher one

# what to pass in place of records
FIELD = 'a field, {name}["{field}"]'
FIELDS = "a tuple of its fields, ({fields})"
INDICES = "numpy.arange(len({name})), and take the elements at the indices that result"


def as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def check_vector(
    array: Any, name: str, size: int | None = None, kinds: str = NUMBERS, records: str = FIELD
) -> None:
    """Raise an error unless an array has one axis, ``size`` elements, and a dtype of these kinds.

    records: what to pass in place of records.
    """
    check_axes(array, name, 1)
    if size is not None and array.shape[0] != size:
        raise ValueError(f"{name} has {size} elements, not {array.shape[0]}")
    if _kind(array.dtype) not in kinds:
        hint = _dtype_hint(array.dtype, name, records)
        raise TypeError(f"{name} is an array of {_NOUNS[kinds]}, not of {array.dtype}{hint}")


def check_axes(array: Any, name: str, axes: int) -> None:
    """Raise an error unless an array has a number of axes."""
    if array is None:
        raise TypeError(f"{name} is an array, not None")
    if len(array.shape) != axes:
        hint = f": pass {name}.ravel()" if array.shape and axes == 1 else ""
        count = "one axis" if axes == 1 else "two axes"
        raise ValueError(f"{name} has {count}, not {len(array.shape)}{hint}")


def _kind(dtype: np.dtype[Any]) -> str:
    found = dtypes.from_numpy(dtype)
    if found is None:  # of times, which kernels process as integers
        return dtype.kind
    return "f" if found.is_float else "v" if found.is_vector else dtype.kind  # V of bfloat16


def _dtype_hint(dtype: np.dtype[Any], name: str, records: str) -> str:
    if dtype.kind in "mM":
        return f': pass {name}.view("int64")'
    if not dtype.names:
        return ""
    fields = ", ".join(f'{name}["{field}"]' for field in dtype.names)
    return f": pass {records.format(name=name, field=dtype.names[0], fields=fields)}"


def check_result_dtype(result: Any, dtype: np.dtype[Any], name: str = "out") -> None:
    """Raise TypeError if values of a dtype lose a part in ``result``, as floats in integers do."""
    ranks = [_RANKS.get(_kind(d), -1) for d in (dtype, result.dtype)]
    if dtype != result.dtype and not 0 <= ranks[0] <= ranks[1]:
        raise TypeError(
            f"{name} has the dtype {result.dtype}, to which {dtype} is not converted: "
            f"pass an array of {dtype}"
        )


def check_count_dtype(counts: Any, name: str, largest: int) -> None:
    """Raise TypeError unless integers of an array can be counts."""
    if np.iinfo(counts.dtype).max < largest:
        raise TypeError(f"{name} is an array of {counts.dtype}, which cannot hold {largest}")


def check_results(
    described: Mapping[str, ArrayArgument], results: Sequence[str], *, may_be_same: bool
) -> None:
    """Raise ValueError if results are read-only, or share memory with other arrays.

    may_be_same: whether a result may be one of the other arrays.
    """
    names, arrays = list(described), list(described.values())
    for i, name in enumerate(names):
        if name not in results:
            continue
        if arrays[i].readonly:
            raise ValueError(f"{name} is written, and it is read-only: pass a copy")
        rules = (
            OverlapRule(i, k, may_be_same and names[k] not in results)
            for k in range(len(names))
            if k != i
        )
        violated = violated_rule(rules, arrays)
        if violated is not None:
            raise ValueError(
                f"{name} shares memory with {names[violated.read]}: pass another array"
            )


def typed_value(value: Any, like: Sequence[Any]) -> Any:
    """Return an initial value, a number or a tuple of numbers, with the dtypes of arrays."""
    values = as_tuple(value)
    if len(values) != len(like):
        wanted = "one value" if len(like) == 1 else f"a tuple of {len(like)} values"
        raise ValueError(f"initial is {wanted}, not {value!r}")
    typed = tuple(_typed(item, array.dtype) for item, array in zip(values, like))
    return typed[0] if len(typed) == 1 else typed


def _typed(value: Any, dtype: np.dtype[Any]) -> Any:
    try:
        typed = dtype.type(value)
    except (TypeError, ValueError, OverflowError):
        typed = None
    if typed is None or (dtype.kind in "biu" and typed != value):
        raise ValueError(f"the initial value {value!r} is not a number of {dtype}")
    return typed


def as_operation(function: Callable[..., Any], count: int = 2) -> Any:
    """Return a function that kernels can call: a Python function is wrapped by ``device``.

    Raises TypeError if it cannot be called with ``count`` values.
    """
    if not callable(function):
        raise TypeError(f"pass a function, such as operator.add or a lambda, not {function!r}")
    if isinstance(function, FunctionType | DeviceFunction):
        return _as_device_function(function, count)
    return function


@functools.lru_cache
def _as_device_function(function: Any, count: int) -> DeviceFunction[..., Any]:
    python = function if isinstance(function, FunctionType) else function.python
    try:
        inspect.signature(python).bind(*range(count))
    except TypeError as error:
        values = "one value" if count == 1 else f"{count} values"
        raise TypeError(f"{python.__name__} is called with {values}: {error}") from None
    return device(function) if function is python else function
