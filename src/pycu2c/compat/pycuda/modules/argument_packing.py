"""Pack the arguments of a launch: numpy numbers, device memory, and records by value.

Python numbers are rejected, because their size in C is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.parameters import KernelParameter, ParameterKind
from pycu2c.compat.pycuda.errors import LogicError
from pycu2c.compat.pycuda.memory.allocations import PointerHolderBase, pointer
from pycu2c.compat.pycuda.memory.argument_handlers import ArgumentHandler
from pycu2c.compat.pycuda.memory.host_memory import ManagedAllocation
from pycu2c.devices.array import DeviceArray
from pycu2c.devices.interoperability import is_cuda_array

_POINTER = 8  # size in bytes


def convert_arguments(
    given: Sequence[Any], parameters: Sequence[KernelParameter] | None
) -> tuple[Any, ...]:
    """Convert the arguments of a kernel in CUDA C. Raises TypeError."""
    return tuple(_convert_argument(argument, i, parameters) for i, argument in enumerate(given))


def _convert_argument(
    argument: Any, position: int, parameters: Sequence[KernelParameter] | None
) -> Any:
    match argument:
        case np.ndarray():
            return _array_address(argument, position, parameters)
        case np.generic():
            return argument
        case PointerHolderBase():
            return int(argument)
        case ArgumentHandler():
            return int(argument.get_device_alloc())
        case bool() | int() | float() | complex():
            raise TypeError(_number_error(argument, position, parameters))
    return _address(argument, position)


def _address(argument: Any, position: int) -> int:
    """Return the address of a device array of any package."""
    if hasattr(argument, "gpudata"):
        return 0 if argument.gpudata is None else pointer(argument)
    if isinstance(argument, DeviceArray) or is_cuda_array(argument):
        return pointer(argument)
    raise TypeError(
        f"invalid type on parameter #{position} (0-based): {type(argument).__name__}. Pass a "
        "numpy number, a DeviceAllocation or a GPUArray, or In, Out or InOut of a host array"
    )


def _array_address(
    argument: Any, position: int, parameters: Sequence[KernelParameter] | None
) -> Any:
    """Convert a record, which is passed by value, or managed memory, by its address."""
    if isinstance(argument.base, ManagedAllocation):
        return int(argument.ctypes.data) if int(argument.base) else 0
    parameter = (
        parameters[position] if parameters is not None and position < len(parameters) else None
    )
    takes_pointer = parameter is not None and parameter.size == _POINTER != argument.nbytes
    if takes_pointer and parameter is not None and parameter.kind is ParameterKind.INTEGER:
        raise TypeError(
            f"invalid type on parameter #{position} (0-based): `{parameter.text}` is an address of "
            "the device, and the argument is a host array: wrap it in In, Out or "
            "InOut, or copy it there by to_device"
        )
    return np.frombuffer(argument.tobytes(), np.dtype((np.void, max(argument.nbytes, 1))))[0]


_BY_SIZE = {
    ParameterKind.INTEGER: {1: "int8", 2: "int16", 4: "int32", 8: "int64"},
    ParameterKind.FLOAT: {4: "float32", 8: "float64"},
    ParameterKind.BYTES: {8: "complex64", 16: "complex128"},
}
_BY_TYPE: tuple[tuple[type, str], ...] = (
    (bool, "int8"),
    (int, "int32"),
    (float, "float32"),
    (complex, "complex64"),
)


def _number_error(
    argument: Any, position: int, parameters: Sequence[KernelParameter] | None
) -> str:
    kind = next(name for row, name in _BY_TYPE if isinstance(argument, row))
    shown = ""
    if parameters is not None and position < len(parameters):
        parameter = parameters[position]
        kind = _BY_SIZE.get(parameter.kind, {}).get(parameter.size, kind)
        kind = "intp" if "*" in parameter.text else kind
        shown = f" `{parameter.text}`" if parameter.text else ""
    return (
        f"invalid type on parameter #{position}{shown} (0-based): a Python "
        f"{type(argument).__name__} does not say how many bytes it has in C: "
        f"pass numpy.{kind}({argument!r})"
    )


# ---- prepared calls ----------------------------------------------------------------------------

_CHARACTER = re.compile(r"(\d*)([a-zA-Z?])")


@dataclass(frozen=True, slots=True)
class ArgumentFormat:
    """The format of the arguments of a prepared call."""

    character: str
    convert: Callable[[Any], Any]


def prepared(arg_types: Iterable[Any]) -> tuple[ArgumentFormat, ...]:
    """Parse ``"PPif"``, or a list of format characters, numpy types and dtypes.

    Raises LogicError.
    """
    found: list[ArgumentFormat] = []
    for each in [arg_types] if isinstance(arg_types, str) else arg_types:
        if isinstance(each, str):
            found += _of_letters(each)
        elif isinstance(each, np.dtype):
            found.append(_of_dtype(each))
        elif isinstance(each, type) and issubclass(each, np.generic):
            found.append(_of_dtype(np.dtype(each)))
        else:
            found.append(_ADDRESS)
    return tuple(found)


def _of_letters(text: str) -> list[ArgumentFormat]:
    matches = list(_CHARACTER.finditer(text))
    if "".join(m[0] for m in matches) != text:
        raise LogicError(f"prepare: {text!r} is no list of types: 'P' is an address, 'i' an int32")
    found: list[ArgumentFormat] = []
    for match in matches:
        count, letter = int(match[1] or 1), match[2]
        if letter == "s":
            found.append(_of_dtype(np.dtype((np.void, count))))
        else:
            found += [_ADDRESS if letter == "P" else _of_letter(letter)] * count
    return found


def _of_letter(letter: str) -> ArgumentFormat:
    try:
        return _of_dtype(np.dtype(letter))
    except TypeError:
        raise LogicError(f"prepare: there is no type {letter!r}") from None


def _of_dtype(dtype: np.dtype[Any]) -> ArgumentFormat:
    if dtype.kind == "V":
        return ArgumentFormat(f"{dtype.itemsize}s", lambda given: _record(given, dtype))
    return ArgumentFormat(dtype.char, dtype.type)


def _record(given: Any, dtype: np.dtype[Any]) -> Any:
    raw = given.tobytes() if hasattr(given, "tobytes") else bytes(given)
    if len(raw) != dtype.itemsize:
        raise TypeError(f"a record of {dtype.itemsize} bytes is given as one of {len(raw)}")
    return np.frombuffer(raw, np.dtype((np.void, dtype.itemsize)))[0]


def _pointer(given: Any) -> int:
    if isinstance(given, ArgumentHandler):
        raise TypeError("a prepared call takes addresses of the device: copy the array there")
    return _address(given, 0) if not hasattr(given, "__index__") else pointer(given)


_ADDRESS = ArgumentFormat("P", _pointer)


def convert_prepared(
    formats: Sequence[ArgumentFormat], given: Sequence[Any], name: str
) -> tuple[Any, ...]:
    """Pack the arguments of a prepared call. Raises TypeError."""
    if len(formats) != len(given):
        raise TypeError(
            f"{name} was prepared for {len(formats)} arguments, "
            f"'{''.join(each.character for each in formats)}', and is given {len(given)}"
        )
    return tuple(each.convert(value) for each, value in zip(formats, given))
