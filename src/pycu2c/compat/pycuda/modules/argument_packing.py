"""Pack the arguments of a launch: numpy numbers, device memory, and records by value.

Python numbers are rejected, because their size in C is unknown.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from pycu2c.compat.cuda_text.arguments import POINTER_SIZE, UNKNOWN_PARAMETER, number_dtype
from pycu2c.compat.cuda_text.compiled import KernelParameter, ParameterKind
from pycu2c.compat.pycuda.errors import LogicError
from pycu2c.compat.pycuda.memory.allocations import PointerHolderBase, pointer
from pycu2c.compat.pycuda.memory.argument_handlers import ArgumentHandler
from pycu2c.compat.pycuda.memory.host_memory import ManagedAllocation
from pycu2c.devices.array import DeviceArray
from pycu2c.devices.interoperability import is_cuda_array


def convert_arguments(
    arguments: Sequence[Any], parameters: Sequence[KernelParameter] | None
) -> tuple[Any, ...]:
    """Convert the arguments of a launch to numpy numbers and addresses. Raises TypeError."""
    all_parameters = itertools.chain(parameters or (), itertools.repeat(UNKNOWN_PARAMETER))
    return tuple(
        _convert_argument(argument, f"invalid type on parameter #{i}", parameter)
        for i, (argument, parameter) in enumerate(zip(arguments, all_parameters))
    )


def _convert_argument(argument: Any, error: str, parameter: KernelParameter) -> Any:
    """Convert an argument; ``error`` is the beginning of a message."""
    match argument:
        case np.ndarray():
            return _host_array_value(argument, error, parameter)
        case np.generic():
            return argument
        case PointerHolderBase():
            return int(argument)
        case ArgumentHandler():
            return int(argument.get_device_alloc())
        case bool() | int() | float() | complex():
            dtype = number_dtype(parameter) or _default_dtype(argument)
            declaration = f" `{parameter.text}`" if parameter.text else ""
            raise TypeError(
                f"{error}{declaration} (0-based): a Python {type(argument).__name__} has no fixed "
                f"size in C: pass numpy.{dtype}({argument!r})"
            )
    return _address(argument, error)


def _default_dtype(number: complex) -> str:
    defaults = {bool: "int8", int: "int32", float: "float32", complex: "complex64"}
    return next(dtype for each, dtype in defaults.items() if isinstance(number, each))


def _address(argument: Any, error: str) -> Any:
    """Return the address of a device array of any package; textures and surfaces as they are."""
    if hasattr(argument, "gpudata"):
        return 0 if argument.gpudata is None else pointer(argument)
    if isinstance(argument, DeviceArray) or is_cuda_array(argument):
        return pointer(argument)
    if hasattr(argument, "__pycu2c_handle__"):
        return argument
    raise TypeError(
        f"{error} (0-based): {type(argument).__name__}. Pass a "
        "numpy number, a DeviceAllocation or a GPUArray, or In, Out or InOut of a host array"
    )


def _host_array_value(argument: Any, error: str, parameter: KernelParameter) -> Any:
    """Return the address of managed memory, or the bytes of a record, which is passed by value."""
    if isinstance(argument.base, ManagedAllocation):
        return int(argument.ctypes.data) if int(argument.base) else 0
    takes_pointer = parameter.size == POINTER_SIZE and parameter.kind is ParameterKind.INTEGER
    if takes_pointer and argument.nbytes != POINTER_SIZE:
        raise TypeError(
            f"{error} (0-based): `{parameter.text}` is a device address, and the argument is a "
            "host array: wrap it in In, Out or InOut, or copy it with to_device"
        )
    return np.void(argument.tobytes())


# ---- prepared calls ----------------------------------------------------------------------------

ArgumentFormat: TypeAlias = "np.dtype[Any] | None"  # None for an address
_COUNTED_LETTER = re.compile(r"(\d*)([a-zA-Z?])")


def parse_formats(arg_types: Iterable[Any]) -> tuple[ArgumentFormat, ...]:
    """Parse ``"PPif"``, or a list of format characters, numpy types and dtypes.

    Raises LogicError.
    """
    formats: list[ArgumentFormat] = []
    for each in [arg_types] if isinstance(arg_types, str) else arg_types:
        if isinstance(each, str):
            formats += _parse_letters(each)
        elif isinstance(each, np.dtype) or (
            isinstance(each, type) and issubclass(each, np.generic)
        ):
            formats.append(np.dtype(each))
        else:
            formats.append(None)
    return tuple(formats)


def _parse_letters(text: str) -> list[ArgumentFormat]:
    matches = list(_COUNTED_LETTER.finditer(text))
    if "".join(m[0] for m in matches) != text:
        raise LogicError(
            f"prepare: {text!r} is not a list of types, such as 'Pi' for an address and an int32"
        )
    formats: list[ArgumentFormat] = []
    for match in matches:
        count, letter = int(match[1] or 1), match[2]
        try:
            dtype = None if letter == "P" else np.dtype(f"V{count}" if letter == "s" else letter)
        except TypeError:
            raise LogicError(f"prepare: there is no type {letter!r}") from None
        formats += [dtype] * (1 if letter == "s" else count)
    return formats


def convert_prepared(
    formats: Sequence[ArgumentFormat], arguments: Sequence[Any], name: str
) -> tuple[Any, ...]:
    """Pack the arguments of a prepared call. Raises TypeError."""
    if len(formats) != len(arguments):
        letters = "".join("P" if dtype is None else dtype.char for dtype in formats)
        raise TypeError(
            f"{name} was prepared for {len(formats)} arguments, '{letters}', and is called with "
            f"{len(arguments)}"
        )
    return tuple(map(_convert_prepared, formats, arguments))


def _convert_prepared(dtype: ArgumentFormat, value: Any) -> Any:
    if dtype is not None:
        return _record(value, dtype) if dtype.kind == "V" else dtype.type(value)
    if isinstance(value, ArgumentHandler):
        raise TypeError("a prepared call takes device addresses: copy the array with to_device")
    return pointer(value) if hasattr(value, "__index__") else _address(value, "invalid type")


def _record(value: Any, dtype: np.dtype[Any]) -> Any:
    raw = value.tobytes() if hasattr(value, "tobytes") else bytes(value)
    if len(raw) != dtype.itemsize:
        raise TypeError(
            f"the parameter is a record of {dtype.itemsize} bytes, the argument has {len(raw)}"
        )
    return np.void(raw)
