"""Pack the arguments of a launch: numpy numbers, device memory, and records by value.

Python numbers are rejected, because their size in C is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.compiled import KernelParameter, ParameterKind
from pycu2c.compat.pycuda.errors import LogicError
from pycu2c.compat.pycuda.memory.allocations import PointerHolderBase, pointer
from pycu2c.compat.pycuda.memory.argument_handlers import ArgumentHandler
from pycu2c.compat.pycuda.memory.host_memory import ManagedAllocation
from pycu2c.devices.array import DeviceArray
from pycu2c.devices.interoperability import is_cuda_array

_POINTER_SIZE = 8  # bytes


def convert_arguments(
    arguments: Sequence[Any], parameters: Sequence[KernelParameter] | None
) -> tuple[Any, ...]:
    """Convert the arguments of a launch to numpy numbers and addresses. Raises TypeError."""
    return tuple(_convert_argument(argument, i, parameters) for i, argument in enumerate(arguments))


def _convert_argument(
    argument: Any, position: int, parameters: Sequence[KernelParameter] | None
) -> Any:
    match argument:
        case np.ndarray():
            return _host_array_value(argument, position, parameters)
        case np.generic():
            return argument
        case PointerHolderBase():
            return int(argument)
        case ArgumentHandler():
            return int(argument.get_device_alloc())
        case bool() | int() | float() | complex():
            raise TypeError(_number_error(argument, position, parameters))
    return _address(argument, position)


def _address(argument: Any, position: int) -> Any:
    """Return the address of a device array of any package; textures and surfaces as they are."""
    if hasattr(argument, "gpudata"):
        return 0 if argument.gpudata is None else pointer(argument)
    if isinstance(argument, DeviceArray) or is_cuda_array(argument):
        return pointer(argument)
    if hasattr(argument, "__pycu2c_handle__"):
        return argument
    raise TypeError(
        f"invalid type on parameter #{position} (0-based): {type(argument).__name__}. Pass a "
        "numpy number, a DeviceAllocation or a GPUArray, or In, Out or InOut of a host array"
    )


def _host_array_value(
    argument: Any, position: int, parameters: Sequence[KernelParameter] | None
) -> Any:
    """Return the address of managed memory, or the bytes of a record, which is passed by value."""
    if isinstance(argument.base, ManagedAllocation):
        return int(argument.ctypes.data) if int(argument.base) else 0
    parameter = (
        parameters[position] if parameters is not None and position < len(parameters) else None
    )
    takes_pointer = parameter is not None and parameter.size == _POINTER_SIZE != argument.nbytes
    if takes_pointer and parameter is not None and parameter.kind is ParameterKind.INTEGER:
        raise TypeError(
            f"invalid type on parameter #{position} (0-based): `{parameter.text}` is a device "
            "address, and the argument is a host array: wrap it in In, Out or InOut, or copy it "
            "with to_device"
        )
    return np.frombuffer(argument.tobytes(), np.dtype((np.void, max(argument.nbytes, 1))))[0]


_DTYPES_BY_SIZE = {
    ParameterKind.INTEGER: {1: "int8", 2: "int16", 4: "int32", 8: "int64"},
    ParameterKind.FLOAT: {4: "float32", 8: "float64"},
    ParameterKind.BYTES: {8: "complex64", 16: "complex128"},
}
_DEFAULT_DTYPES: tuple[tuple[type, str], ...] = (
    (bool, "int8"),
    (int, "int32"),
    (float, "float32"),
    (complex, "complex64"),
)


def _number_error(
    argument: Any, position: int, parameters: Sequence[KernelParameter] | None
) -> str:
    dtype = next(name for python_type, name in _DEFAULT_DTYPES if isinstance(argument, python_type))
    declaration = ""
    if parameters is not None and position < len(parameters):
        parameter = parameters[position]
        dtype = _DTYPES_BY_SIZE.get(parameter.kind, {}).get(parameter.size, dtype)
        dtype = "intp" if "*" in parameter.text else dtype
        declaration = f" `{parameter.text}`" if parameter.text else ""
    return (
        f"invalid type on parameter #{position}{declaration} (0-based): a Python "
        f"{type(argument).__name__} has no fixed size in C: "
        f"pass numpy.{dtype}({argument!r})"
    )


# ---- prepared calls ----------------------------------------------------------------------------

_COUNTED_LETTER = re.compile(r"(\d*)([a-zA-Z?])")


@dataclass(frozen=True, slots=True)
class ArgumentFormat:
    """The format of the arguments of a prepared call."""

    character: str
    convert: Callable[[Any], Any]


def parse_formats(arg_types: Iterable[Any]) -> tuple[ArgumentFormat, ...]:
    """Parse ``"PPif"``, or a list of format characters, numpy types and dtypes.

    Raises LogicError.
    """
    formats: list[ArgumentFormat] = []
    for each in [arg_types] if isinstance(arg_types, str) else arg_types:
        if isinstance(each, str):
            formats += _parse_letters(each)
        elif isinstance(each, np.dtype):
            formats.append(_dtype_format(each))
        elif isinstance(each, type) and issubclass(each, np.generic):
            formats.append(_dtype_format(np.dtype(each)))
        else:
            formats.append(_ADDRESS_FORMAT)
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
        if letter == "s":
            formats.append(_dtype_format(np.dtype((np.void, count))))
        else:
            formats += [_ADDRESS_FORMAT if letter == "P" else _letter_format(letter)] * count
    return formats


def _letter_format(letter: str) -> ArgumentFormat:
    try:
        return _dtype_format(np.dtype(letter))
    except TypeError:
        raise LogicError(f"prepare: there is no type {letter!r}") from None


def _dtype_format(dtype: np.dtype[Any]) -> ArgumentFormat:
    if dtype.kind == "V":
        return ArgumentFormat(f"{dtype.itemsize}s", lambda value: _pack_record(value, dtype))
    return ArgumentFormat(dtype.char, dtype.type)


def _pack_record(value: Any, dtype: np.dtype[Any]) -> Any:
    raw = value.tobytes() if hasattr(value, "tobytes") else bytes(value)
    if len(raw) != dtype.itemsize:
        raise TypeError(
            f"the parameter is a record of {dtype.itemsize} bytes, the argument has {len(raw)}"
        )
    return np.frombuffer(raw, np.dtype((np.void, dtype.itemsize)))[0]


def _prepared_address(argument: Any) -> int:
    if isinstance(argument, ArgumentHandler):
        raise TypeError("a prepared call takes device addresses: copy the array with to_device")
    return pointer(argument) if hasattr(argument, "__index__") else _address(argument, 0)


_ADDRESS_FORMAT = ArgumentFormat("P", _prepared_address)


def convert_prepared(
    formats: Sequence[ArgumentFormat], arguments: Sequence[Any], name: str
) -> tuple[Any, ...]:
    """Pack the arguments of a prepared call. Raises TypeError."""
    if len(formats) != len(arguments):
        raise TypeError(
            f"{name} was prepared for {len(formats)} arguments, "
            f"'{''.join(each.character for each in formats)}', and is called with {len(arguments)}"
        )
    return tuple(each.convert(value) for each, value in zip(formats, arguments))
