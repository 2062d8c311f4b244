"""Items of tiles: elements of one array, or tuples of the elements of several arrays."""

from __future__ import annotations

from typing import Any

from pycu2c.cuda import block
from pycu2c.kernels.kernel import device


@device
def load_items(arrays: Any, index: Any) -> Any:
    """Return the element of the only array, or a tuple of the elements of several arrays."""
    if len(arrays) == 1:
        return arrays[0][index]
    return tuple(array[index] for array in arrays)


@device
def store_items(arrays: Any, index: Any, value: Any) -> None:
    """Store a value in the only array, or the items of a tuple in several arrays."""
    if len(arrays) == 1:
        arrays[0][index] = value
    else:
        for array, item in zip(arrays, value):
            array[index] = item


@device
def as_types_of(arrays: Any, value: Any) -> Any:
    """Return a value, or the items of a tuple, converted to the dtypes of arrays."""
    if len(arrays) == 1:
        return arrays[0].dtype.type(value)
    return tuple(array.dtype.type(item) for array, item in zip(arrays, value))


@device
def load_tile(items: Any, arrays: Any, threads: Any, start: Any) -> None:
    """Load blocked items by coalesced accesses; those beyond the end repeat the first one."""
    for local, array in zip(items, arrays):
        if start + threads * len(local) <= len(array):
            block.load_transposed(local, array, threads, start)
        else:
            block.load_transposed(local, array, threads, start, local.dtype.type(array[start]))


@device
def store_tile(arrays: Any, items: Any, threads: Any, start: Any) -> None:
    """Store blocked items by coalesced accesses; those beyond the end are dropped."""
    for array, local in zip(arrays, items):
        block.store_transposed(array, local, threads, start)
