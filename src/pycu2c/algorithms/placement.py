"""Where the arrays of a call are, which back end runs its kernels, and memory for its results."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from pycu2c.base.backends import default_backend
from pycu2c.base.records import dataclass
from pycu2c.devices.array import DeviceArray, as_device_array
from pycu2c.devices.interoperability import is_on_device
from pycu2c.kernels.kernel import DeviceFunction, device
from pycu2c.runtime.arguments.conversion_hints import host_array
from pycu2c.runtime.arguments.strides import Shape
from pycu2c.runtime.cuda.memory import HOST

CPU_THREADS, CPU_TILE_BYTES = 1, 1 << 14


@dataclass(frozen=True, slots=True)
class CallPlacement:
    """Where the arrays of a call are.

    ordinal: of the GPU, or ``HOST``. backend: of the kernels. is_numpy: whether results are NumPy
    arrays. stream: of the launches.
    """

    ordinal: int
    backend: str
    is_numpy: bool
    stream: object

    @property
    def is_gpu(self) -> bool:
        return self.ordinal != HOST

    def empty(self, shape: Shape, dtype: Any) -> Any:
        """Return an uninitialized array."""
        if self.is_numpy:
            return np.empty(shape, dtype)
        return DeviceArray.empty(shape, np.dtype(dtype), self.ordinal, stream=self.stream)

    def zeros(self, shape: Shape, dtype: Any) -> Any:
        """Return an array of zeros."""
        array = self.empty(shape, dtype)
        self.fill(array, 0)
        return array

    def fill(self, array: Any, value: Any) -> None:
        """Assign a value to all elements."""
        if self.is_numpy:
            array[...] = value
        else:
            array.setitem(..., value, self.stream)

    def tile_shape(self, on_gpu: tuple[int, int], item_size: int) -> tuple[int, int]:
        """Return the threads of a block, and the items of a thread.

        on_gpu: these for items of 4 bytes; the number of items is odd, so that threads use
        different banks of shared memory. On the CPU, a block is one thread, whose items fit in the
        L1 cache.
        """
        if not self.is_gpu:
            return CPU_THREADS, max(CPU_TILE_BYTES // (CPU_THREADS * item_size), 1)
        threads, items = on_gpu
        return threads, min(items * 4 // item_size, 2 * items) | 1


def place(arrays: Sequence[Any], stream: object = None) -> tuple[CallPlacement, tuple[Any, ...]]:
    """Return where arrays are, and the arrays as NumPy arrays or as device arrays.

    None stays None. Raises ValueError if they are not all on one device.
    """
    found = [
        a if a is None else as_device_array(a) if is_on_device(a) else host_array(a) for a in arrays
    ]
    given = [a for a in found if a is not None]
    ordinals = {a.device if isinstance(a, DeviceArray) else HOST for a in given}
    if len(ordinals) > 1:
        raise ValueError("the arrays of a call are on one device: copy them, cuda.to_device(a)")
    (ordinal,) = ordinals
    backend = default_backend()
    if ordinal != HOST:
        backend = "cuda"
    elif backend in ("auto", "cuda"):
        backend = "cpu"
    is_numpy = not any(isinstance(a, DeviceArray) for a in given)
    return CallPlacement(ordinal, backend, is_numpy, stream), tuple(found)


def place_with_results(
    a: Any, out: Any, stream: object, shape: Shape | None = None
) -> tuple[CallPlacement, tuple[Any, ...], tuple[Any, ...]]:
    """Return where arrays are, the arrays, and their results: ``out``, or new arrays.

    a: an array, or a tuple of arrays. shape: of the results; by default that of the arrays.
    """
    x = as_tuple(a)
    given = (None,) * len(x) if out is None else as_tuple(out)
    where, arrays = place((*x, *given), stream)
    x, given = arrays[: len(x)], arrays[len(x) :]
    if len(x) != len(given):
        raise ValueError(f"out has {len(given)} arrays for {len(x)} arrays")
    for array in x:
        check_vector(array, "a", x[0].shape[0])
    for result in given:
        if result is not None and shape is None:
            check_vector(result, "out", x[0].shape[0])
    shape = x[0].shape if shape is None else shape
    results = tuple(
        where.empty(shape, array.dtype) if result is None else result.reshape(shape)
        for array, result in zip(x, given, strict=True)
    )
    return where, x, results


def as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def check_vector(array: Any, name: str, size: int | None = None, kinds: str = "") -> None:
    """Raise an error unless an array has one axis, ``size`` elements, and a dtype of these kinds.

    kinds: of NumPy's dtypes; any by default.
    """
    if len(array.shape) != 1:
        hint = f": pass {name}.ravel()" if array.shape else ""
        raise ValueError(f"{name} has one axis, not {len(array.shape)}{hint}")
    if size is not None and array.shape[0] != size:
        raise ValueError(f"{name} has {size} elements, not {array.shape[0]}")
    if kinds and (array.dtype.kind not in kinds or array.dtype.names):  # V has records, too
        numbers = "integers or floats" if "f" in kinds else "integers"
        raise TypeError(f"{name} is an array of {numbers}, not of {array.dtype}")


def as_operation(function: Callable[..., Any]) -> Any:
    """Return a function that kernels can call: a Python function is wrapped by ``device``."""
    if not callable(function):
        raise TypeError(f"pass a function, such as operator.add or a lambda, not {function!r}")
    return _as_device_function(function) if isinstance(function, FunctionType) else function


@functools.lru_cache
def _as_device_function(function: FunctionType) -> DeviceFunction[..., Any]:
    return device(function)


def typed_value(value: Any, like: Sequence[Any]) -> Any:
    """Return a number, or a tuple of numbers, with the dtypes of arrays."""
    values = tuple(a.dtype.type(item) for a, item in zip(like, as_tuple(value), strict=True))
    for typed, item in zip(values, as_tuple(value), strict=True):
        if isinstance(typed, np.integer) and typed != item:
            raise ValueError(f"the initial value {item} is not a number of {typed.dtype}")
    return values[0] if len(values) == 1 else values
