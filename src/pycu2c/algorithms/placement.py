"""Where the arrays of a call are, which back end runs its kernels, and memory for its results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pycu2c.algorithms.checks import FIELDS, check_result_dtype, check_results, check_vector
from pycu2c.base.backends import default_backend
from pycu2c.base.records import dataclass
from pycu2c.devices.array import DeviceArray, as_device_array
from pycu2c.devices.interoperability import is_on_device
from pycu2c.runtime.arguments.arguments import describe
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.call_binding import times_as_integers
from pycu2c.runtime.arguments.conversion_hints import described, host_array
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


def place(
    arrays: Mapping[str, Any],
    results: Mapping[str, Any],
    stream: object = None,
    *,
    may_be_same: bool = False,
) -> tuple[CallPlacement, tuple[Any, ...]]:
    """Return where the arrays of a call are, and the arrays as NumPy arrays or as device arrays.

    arrays, results: by the names of parameters; a call writes to results. None stays None.
    may_be_same: whether a result may be one of ``arrays``. Raises an error if kernels cannot use an
    array, and ValueError if the arrays are not all on one device.
    """
    found = {name: _as_array(array) for name, array in arrays.items()}
    found |= {name: _as_result(array, name) for name, array in results.items()}
    given = {name: a for name, a in found.items() if a is not None}
    check_results(
        {name: _describe(a, name) for name, a in given.items()},
        list(results),
        may_be_same=may_be_same,
    )
    ordinals = {a.device if isinstance(a, DeviceArray) else HOST for a in given.values()} or {HOST}
    if len(ordinals) > 1:
        raise ValueError("the arrays of a call are on one device: copy them, cuda.to_device(a)")
    (ordinal,) = ordinals
    backend = default_backend()
    if ordinal != HOST:
        backend = "cuda"
    elif backend in ("auto", "cuda"):
        backend = "cpu"
    is_numpy = not any(isinstance(a, DeviceArray) for a in given.values())
    return CallPlacement(ordinal, backend, is_numpy, stream), tuple(found.values())


def _describe(array: Any, name: str) -> ArrayArgument:
    (viewed,) = times_as_integers((array,), (name,))
    argument = describe(viewed, name)
    assert argument is not None
    return argument


def _as_array(value: Any) -> Any:
    if value is None:
        return None
    return as_device_array(value) if is_on_device(value) else host_array(value)


def _as_result(value: Any, name: str) -> Any:
    """Return an array of the same memory. Raises TypeError if that needs a copy."""
    array = _as_array(value)
    if isinstance(array, np.ndarray):
        try:
            np.asarray(value, copy=False)
        except ValueError:
            raise TypeError(f"{name} is an array, not {described(value)}") from None
    return array


def place_with_results(
    a: Any, out: Any, stream: object, shape: Shape | None = None
) -> tuple[CallPlacement, tuple[Any, ...], tuple[Any, ...]]:
    """Return where arrays are, the arrays, and their results: ``out``, or new arrays.

    a: an array, or a tuple of arrays. shape: of the results; by default that of the arrays.
    """
    inputs = _by_name("a", a)
    given = dict.fromkeys(map(str, range(len(inputs)))) if out is None else _by_name("out", out)
    if not inputs:
        raise ValueError("a is an array, or a tuple of arrays, not an empty tuple")
    if len(inputs) != len(given):
        raise ValueError(f"out has {len(given)} arrays for {len(inputs)} arrays")
    where, arrays = place(inputs, given, stream, may_be_same=True)
    x, results = arrays[: len(inputs)], arrays[len(inputs) :]
    size = None
    for name, array in zip(inputs, x):
        check_vector(array, name, size, records=FIELDS)
        size = array.shape[0]
    for name, result, array in zip(given, results, x):
        if result is None:
            continue
        if shape is None:
            check_vector(result, name, size)
        elif result.size != 1:
            raise ValueError(f"{name} has 1 element, not {result.size}")
        check_result_dtype(result, array.dtype, name)
    shape = x[0].shape if shape is None else shape
    placed = []
    for array, result in zip(x, results):
        if result is None:
            placed.append(where.empty(shape, array.dtype))
        else:  # reshape takes 10 µs
            placed.append(result if result.shape == shape else result.reshape(shape))
    return where, x, tuple(placed)


def _by_name(name: str, value: Any) -> dict[str, Any]:
    """Return the arrays of a parameter by their names."""
    if isinstance(value, tuple):
        return {f"{name}[{i}]": array for i, array in enumerate(value)}
    return {name: value}
