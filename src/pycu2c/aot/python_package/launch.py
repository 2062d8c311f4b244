"""Launch the kernels of a library with arrays of NumPy, PyTorch, CuPy and others, by DLPack.

You may use, change and distribute this file freely, for any purpose and without conditions.
"""

from __future__ import annotations

import ctypes
import datetime
import functools
import operator
import os
from collections.abc import Callable, Sequence
from typing import Any

Structures = Sequence[tuple[str, Any]]  # a type of numbers, and the dtype of a structure
_RANGES = {"q": range(-1 << 63, 1 << 63), "Q": range(1 << 64)}
_ON_GPU = (2, 13)  # kDLCUDA, kDLCUDAManaged
_Capsule = type(datetime.datetime_CAPI)
_VERSION, _VERSIONED = (1, 0), b"dltensor_versioned"
_FLAGS, _TENSOR = 24, 32  # offsets of members of DLManagedTensorVersioned
_READ_ONLY = 1
_pointer_of: Callable[[object, bytes], int] = ctypes.PYFUNCTYPE(
    ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p
)(("PyCapsule_GetPointer", ctypes.pythonapi))


class LaunchError(RuntimeError):
    """Raised if a launch fails. ``status``: a ``pycu2c_status``, such as 1 for a wrong argument."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, str(self))


class _Complex(ctypes.Structure):
    _fields_ = [("real", ctypes.c_double), ("imag", ctypes.c_double)]


_NUMBER_TYPES: dict[str, Any] = {
    "D": _Complex,
    "d": ctypes.c_double,
    "q": ctypes.c_int64,
    "Q": ctypes.c_uint64,
    "?": ctypes.c_bool,
}


class _Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]


@functools.lru_cache(maxsize=1024, typed=True)
def _dim3(*lengths: Any) -> _Dim3:
    integers = tuple(map(operator.index, lengths))
    if not 1 <= len(integers) <= 3 or not all(0 <= length < 1 << 32 for length in integers):
        raise ValueError(f"a grid or block has 1 to 3 lengths below 2**32, not {integers}")
    return _Dim3(*integers, *(1,) * (3 - len(integers)))


def _extent(name: str, extent: Any) -> _Dim3:
    try:
        return _dim3(*extent) if isinstance(extent, (tuple, list)) else _dim3(extent)
    except TypeError as error:
        raise TypeError(f"{name} is {extent!r}: {error}") from None


def _number(name: str, kind: str, value: Any) -> Any:
    """Return a number that fits its type in C. Raises TypeError, OverflowError."""
    try:
        if kind == "D":
            parts = complex(value)
            return _Complex(parts.real, parts.imag)
        if kind not in _RANGES:
            return _NUMBER_TYPES[kind](value)
        number = operator.index(value)
    except TypeError as error:
        raise TypeError(f"{name} is {value!r}: {error}") from None
    if number not in _RANGES[kind]:
        first, last = _RANGES[kind][0], _RANGES[kind][-1]
        raise OverflowError(f"{name} is {number}, which is not in {first} to {last}")
    return number


def _stream_address(stream: Any) -> int:
    """Return the address of a CUDA stream, given it or an object with ``__cuda_stream__``."""
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    return int(_number("stream", "Q", stream))


def _capsule(name: str, array: Any, stream: int) -> Any:
    """Return the DLPack capsule of an array; a capsule is returned unchanged.

    stream: the stream of the launch, which waits for pending work on the array. Raises TypeError,
    BufferError.
    """
    if type(array) is _Capsule:
        return array
    if not hasattr(array, "__dlpack__"):
        raise TypeError(f"{name} is a {type(array).__name__}, which has no __dlpack__")
    try:
        if array.__dlpack_device__()[0] in _ON_GPU:
            return array.__dlpack__(stream=stream or 1)  # 1: the default stream
        try:
            return array.__dlpack__(max_version=_VERSION)
        except TypeError:  # of NumPy before 2.1
            return array.__dlpack__()
    except BufferError as error:  # of an array that DLPack cannot describe
        raise BufferError(f"{name}: {error}") from None


def _as_numbers(name: str, array: Any, structures: Structures) -> Any:
    """View an array of structures as numbers, with an additional last axis for each structure.

    Other arrays are returned unchanged. structures: those that the kernel takes. Raises TypeError.
    """
    if not getattr(getattr(array, "dtype", None), "names", None):
        return array
    import numpy as np  # the module works without it

    for number, structure in structures:
        if _layout(array.dtype) == _layout(np.dtype(structure)):
            return array[..., None].view(number)
    taken = " or ".join(str(np.dtype(structure)) for _, structure in structures) or "numbers"
    raise TypeError(f"{name} has elements of {array.dtype}, and the kernel takes {taken}")


def _layout(dtype: Any) -> object:
    """Return the fields of a dtype without their titles, or the name of a type of numbers."""
    if dtype.subdtype:
        element, shape = dtype.subdtype
        return _layout(element), shape
    if dtype.names is None:
        return dtype.name, dtype.isnative
    fields = (dtype.fields[name] for name in dtype.names)
    return dtype.itemsize, dtype.names, [(offset, _layout(d)) for d, offset, *_ in fields]


def _tensor_address(name: str, capsule: Any, is_written: bool) -> int:
    """Return the address of the DLTensor of a capsule. Raises ValueError if it is read-only."""
    try:
        address = _pointer_of(capsule, _VERSIONED)
    except ValueError:  # of a version before 1.0, which has no flags
        return _pointer_of(capsule, b"dltensor")
    if is_written and ctypes.c_uint64.from_address(address + _FLAGS).value & _READ_ONLY:
        raise ValueError(f"{name} is read-only, and the kernel writes it")
    return address + _TENSOR


class _LaunchFunction:
    """A launch function in C, which is called with converted arguments.

    kinds: the kind of each parameter. structures: the vectors and records that a parameter accepts.
    """

    def __init__(
        self, function: Any, last_error: Callable[[], bytes], kinds: dict[str, str]
    ) -> None:
        self._function, self._last_error = function, last_error
        self.kinds = kinds
        self.structures: dict[str, Structures] = {}
        types = [_NUMBER_TYPES.get(kind, ctypes.c_void_p) for kind in kinds.values()]
        function.argtypes = [*types, _Dim3, _Dim3, ctypes.c_size_t, ctypes.c_void_p]

    def __call__(self, arguments: Sequence[Any], stream: Any, *configuration: Any) -> None:
        if stream != 0:
            stream = _stream_address(stream)
        values, capsules = list(arguments), []  # capsules own their tensors
        for i, (parameter, kind) in enumerate(self.kinds.items()):
            if kind in _NUMBER_TYPES:
                values[i] = _number(parameter, kind, values[i])
                continue
            array = _as_numbers(parameter, values[i], self.structures.get(parameter, ()))
            capsule = _capsule(parameter, array, stream)
            capsules.append(capsule)
            values[i] = _tensor_address(parameter, capsule, kind != "r")
        status = self._function(*values, *configuration, stream)
        if status:
            raise LaunchError(status, self._last_error().decode())

    def bind(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """Return all arguments in order."""
        return *arguments, *(named[n] for n in [*self.kinds][len(arguments) :])


def _launch_with(call: _LaunchFunction, declaration: Callable[..., None]) -> Callable[..., None]:
    count = len(call.kinds)

    def launch(
        *arguments: Any, grid: Any, block: Any, shared_bytes: int = 0, stream: Any = 0, **named: Any
    ) -> None:
        if named or len(arguments) != count:
            declaration(*arguments, grid=grid, block=block, **named)  # raises TypeError
            arguments = call.bind(arguments, named)
        size = shared_bytes and _number("shared_bytes", "Q", shared_bytes)
        call(arguments, stream, _extent("grid", grid), _extent("block", block), size)

    return launch


class Library:
    """A shared library with launch functions: beside this file, or in ``lib`` of the build."""

    def __init__(self, name: str) -> None:
        folder = os.path.dirname(os.path.abspath(__file__))
        folders = folder, os.path.join(folder, "..", "..", "lib")
        paths = [os.path.join(each, f"lib{name}.so") for each in folders]
        self._name = name
        self._library = ctypes.CDLL(next(filter(os.path.exists, paths), paths[0]))
        self._last_error = getattr(self._library, f"{name}_last_error")
        self._last_error.restype = ctypes.c_char_p

    def kernel(self, name: str, /, **kinds: str) -> Callable[[Callable[..., None]], Any]:
        """Return a decorator, which turns the declaration of a kernel into a function.

        The attribute ``structures`` of the function has the vectors and records that parameters
        accept.

        Parameters
        ----------
        name
            The name of the kernel.
        kinds
            The kind of each parameter: ``r`` for an array that is only read, ``w`` for one that is
            only written, ``u`` for one that is read and written; ``D``, ``d``, ``q``, ``Q`` and
            ``?`` for a complex number, a double, an int64, a uint64 and a bool.
        """
        prefix = "" if name == self._name else f"{self._name}_"
        function = getattr(self._library, f"{prefix}{name}_launch")
        call = _LaunchFunction(function, self._last_error, kinds)

        def decorate(declaration: Callable[..., None]) -> Any:
            launch: Any = _launch_with(call, declaration)
            functools.update_wrapper(launch, declaration)
            launch.kernel_name = name
            launch.parameters, launch.structures = [*kinds.items()], call.structures
            return launch

        return decorate
