"""Arrays in the interpreter: loads, stores, views and allocation. All indices are checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, MemorySpace, Scalar
from pycu2c.base.values import as_vector
from pycu2c.ops.intrinsics.memory.allocation import uninitialised
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE

DYNAMIC_SHARED = "dynamic"  # the key of a block's dynamic shared memory

Indices: TypeAlias = tuple[Any, ...]


class AccessLocation(NamedTuple):
    """``file:line``, and the array as the kernel names it, for errors."""

    file_line: str
    array: str = ""

    def __str__(self) -> str:
        return self.file_line


def out_of_bounds_error(error: IndexError, location: AccessLocation) -> IndexError:
    """Return the IndexError with the location, the array and the thread."""
    thread = REFERENCE_STATE.current()
    array_name = location.array and f" of {location.array}"
    return IndexError(
        f"{location}: {error}{array_name}, in thread {thread.threadIdx} of block {thread.blockIdx}"
    )


def loader(element: Scalar, location: AccessLocation) -> Callable[[Any, Indices], Any]:
    """Return the function that loads an element of an array."""
    is_copied = element.dtype.kind is DTypeKind.RECORD
    is_vector = element.dtype.is_vector

    def load(array: Any, indices: Indices) -> Any:
        try:
            value = array[indices]
        except IndexError as error:
            raise out_of_bounds_error(error, location) from None
        if is_vector:
            return as_vector(value, element.dtype)
        return value.copy() if is_copied else value

    return load


def storer(location: AccessLocation) -> Callable[[Any, Any, Indices], None]:
    """Return the function that stores a value in an array."""

    def store(value: Any, array: Any, indices: Indices) -> None:
        try:
            array[indices] = value
        except IndexError as error:
            raise out_of_bounds_error(error, location) from None

    return store


def field_of(owner: Any, name: str) -> Any:
    """Return a field of a record or vector, or a component of complex numbers."""
    if isinstance(owner, complex) or owner.dtype.kind == "c":
        return owner.real if name == "x" else owner.imag
    return owner[name]


def flat(array: Any) -> Any:
    """Return a contiguous array with a linear index."""
    return array.reshape(-1)


@dataclass(frozen=True, slots=True, eq=False)
class ViewBuilder:
    """Builds views that follow certain axes of an array, which may be those of its fields.

    ``followed`` has the position of the start index of each axis of the view.
    """

    dtype: np.dtype[Any]
    followed: tuple[int, ...]
    location: AccessLocation

    def __call__(self, array: Any, starts: Indices, steps: Indices, lengths: Indices) -> Any:
        shape = tuple(max(int(n), 0) for n in lengths)
        strides = tuple(array.strides[p] * int(n) for p, n in zip(self.followed, steps))
        starts = tuple(map(int, starts))
        if 0 not in shape:
            starts = self._checked(array, starts, steps, shape)
        origin = array[tuple(slice(start, start + 1) for start in starts)]
        view = np.lib.stride_tricks.as_strided(origin, shape, strides)
        return view if view.dtype == self.dtype else view.view(self.dtype)

    def _checked(
        self, array: Any, starts: Indices, steps: Indices, shape: tuple[int, ...]
    ) -> Indices:
        """Return the start indices from the start; raise IndexError if an element is outside."""
        spans = [(p, int(step) * (n - 1)) for p, step, n in zip(self.followed, steps, shape)]
        from_start = []
        for position, (start, length) in enumerate(zip(starts, array.shape)):
            first = start + length if start < 0 else start
            offsets = [offset for p, offset in spans if p == position]
            last = first + sum(n for n in offsets if n > 0)
            for index in (first + sum(n for n in offsets if n < 0), last):
                if not 0 <= index < length:
                    wrong = start if index == first else index
                    text = f"index {wrong} is out of bounds for axis {position} with size {length}"
                    raise out_of_bounds_error(IndexError(text), self.location)
            from_start.append(first)
        return tuple(from_start)


def allocate(key: object, array_type: Array) -> Any:
    """Return a local array, or the shared array of the block with this key."""
    dtype = array_type.dtype.numpy
    if array_type.space is MemorySpace.LOCAL:
        return uninitialised(array_type.shape, dtype)
    shared = REFERENCE_STATE.current().memory
    if array_type.shape is None:
        size = len(shared[DYNAMIC_SHARED]) // dtype.itemsize * dtype.itemsize
        return shared[DYNAMIC_SHARED][:size].view(dtype)
    if key not in shared:
        shared[key] = uninitialised(array_type.shape, dtype)
    return shared[key]
