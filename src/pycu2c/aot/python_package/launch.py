"""Launch the kernels of a library with NumPy arrays, or with arrays of GPUs.

You may use, change and distribute this file freely, for any purpose and without conditions.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_CPU, _CUDA = 1, 2


class LaunchError(RuntimeError):
    """Raised if a launch fails. ``status``: a ``pycu2c_status``, such as 1 for a wrong argument."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]


class Tensor(ctypes.Structure):
    """A DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]

    @classmethod
    def of(
        cls,
        address: int,
        device: tuple[int, int],
        dtype: tuple[int, int],
        shape: Sequence[int],
        strides: Sequence[int] | None,
    ) -> Tensor:
        """Describe an array. dtype: its code and its bits. strides: in elements."""
        own = _lengths(tuple(strides)) if strides is not None else None
        return cls(address, *device, len(shape), *dtype, 1, _lengths(tuple(shape)), own, 0)


@functools.lru_cache(maxsize=1024)
def _lengths(lengths: tuple[int, ...]) -> Any:
    return (ctypes.c_int64 * len(lengths))(*lengths)


def _tensor(array: Any, is_written: bool, name: str) -> Tensor:
    if isinstance(array, Tensor):
        return array
    interface = getattr(array, "__cuda_array_interface__", None)
    device = (_CPU, 0)
    if interface is not None:
        device = (_CUDA, getattr(getattr(array, "device", None), "id", 0))
    elif isinstance(array, np.ndarray):
        interface = array.__array_interface__
    else:
        raise TypeError(
            f"{name} is neither a NumPy array nor an array of a GPU: {type(array).__name__}"
        )
    address, is_read_only = interface["data"]
    if is_written and is_read_only:
        raise ValueError(f"{name} is read-only, and the kernel writes it")
    dtype, shape = np.dtype(interface["typestr"]), interface["shape"]
    if not dtype.isnative or dtype.kind not in _CODES:
        raise TypeError(f"{name} has dtype {dtype}, which kernels do not support")
    strides = interface.get("strides")
    if strides is not None:
        if any(s % dtype.itemsize for s, n in zip(strides, shape) if n > 1):
            raise ValueError(
                f"the strides of {name} are not multiples of its elements: pass a copy"
            )
        strides = tuple(s // dtype.itemsize for s in strides)
    return Tensor.of(address, device, (_CODES[dtype.kind], 8 * dtype.itemsize), shape, strides)


@functools.lru_cache(maxsize=1024)
def _dim3(extent: Any) -> _Dim3:
    lengths = extent if isinstance(extent, tuple) else (extent,)
    if not 1 <= len(lengths) <= 3 or min(lengths) < 0:
        raise ValueError(f"a grid or block has 1 to 3 lengths of at least 1, not {extent!r}")
    return _Dim3(*lengths, *(1,) * (3 - len(lengths)))


def _grid_block_and_memory(*, grid: Any, block: Any, shared_bytes: int = 0) -> tuple[Any, ...]:
    return _dim3(_hashable(grid)), _dim3(_hashable(block)), shared_bytes


def _hashable(extent: Any) -> Any:
    return tuple(extent) if isinstance(extent, list) else extent


def _nothing() -> tuple[Any, ...]:
    return ()


class Library:
    """A shared library with launch functions: beside this file, or in ``lib`` of the build."""

    def __init__(self, name: str) -> None:
        folder = os.path.dirname(os.path.abspath(__file__))
        places = folder, os.path.join(folder, "..", "..", "lib")
        paths = [os.path.join(place, f"lib{name}.so") for place in places]
        self._library = ctypes.CDLL(next(filter(os.path.exists, paths), paths[0]))
        self._last_error = getattr(self._library, f"{name}_last_error")
        self._last_error.restype = ctypes.c_char_p

    def kernel(
        self, name: str, parameters: Sequence[tuple[str, str]], has_grid: bool
    ) -> Callable[..., None]:
        """Return the function that launches a kernel.

        parameters: a letter for each: ``r`` for an array, ``w`` for one that is written, ``u`` for
        one that is also read, ``d``, ``q`` and ``?`` for a double, an int64 and a bool. has_grid:
        whether a launch has a grid; otherwise it follows from the arrays.
        """
        function = getattr(self._library, f"{name}_launch")
        numbers = {"d": ctypes.c_double, "q": ctypes.c_int64, "?": ctypes.c_bool}
        types = [numbers.get(kind, ctypes.POINTER(Tensor)) for _, kind in parameters]
        configuration_types = [_Dim3, _Dim3, ctypes.c_size_t] if has_grid else []
        function.argtypes = [*types, *configuration_types, ctypes.c_void_p]
        names = ", ".join(parameter for parameter, _ in parameters)

        def launch(*arguments: Any, stream: int = 0, **configuration: Any) -> None:
            if len(arguments) != len(parameters):
                raise TypeError(f"{name} takes ({names}), not {len(arguments)} arguments")
            tensors = [  # alive until the launch has read them
                _tensor(a, kind in "wu", n) if kind in "rwu" else a
                for a, (n, kind) in zip(arguments, parameters)
            ]
            status = function(*tensors, *of_configuration(**configuration), stream)
            if status:
                raise LaunchError(status, self._last_error().decode())

        launch.parameters = parameters  # type: ignore[attr-defined]
        of_configuration = _grid_block_and_memory if has_grid else _nothing
        launch.__name__ = launch.__qualname__ = name
        return launch
