"""Bind the arguments of a CUDA C kernel to its parameters and pack them.

An array is passed as the address of its first element. A number is converted to the type of its
parameter if no value is lost. Without type information, Python numbers are 64 bits wide and
NumPy scalars keep their dtype, as in CuPy. An argument that does not match raises LaunchError.
"""

from __future__ import annotations

import ctypes
import functools
import math
import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from pycu2c.base import dtypes, parameters
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.dtypes import DType
from pycu2c.base.parameters import ArgumentPart
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, ParameterType, Scalar
from pycu2c.base.vectors import Vector
from pycu2c.compat.cuda_text.compiled import KernelParameter, ParameterKind
from pycu2c.runtime.arguments.arguments import Layout, describe, describe_handle, layout_of
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, HandleArgument

_INTEGER_DTYPES = {1: dtypes.INT8, 2: dtypes.INT16, 4: dtypes.INT32, 8: dtypes.INT64}
_FLOAT_DTYPES = {2: dtypes.FLOAT16, 4: dtypes.FLOAT32, 8: dtypes.FLOAT64}
_COMPLEX_DTYPES = {8: dtypes.COMPLEX64, 16: dtypes.COMPLEX128}
_BYTE_DTYPE = dtypes.UINT8


@dataclass(frozen=True, slots=True)
class BoundArgument:
    """One argument and its packing.

    ``type`` is the element type of an array. If ``size`` is not 0, the leaf is that many raw bytes.
    """

    leaf: Any  # Argument, or bytes
    type: ParameterType
    size: int = 0


def bind_arguments(
    values: Sequence[object], kernel_parameters: Sequence[KernelParameter] | None, kernel: str
) -> list[BoundArgument]:
    """Return the bound arguments; ``kernel_parameters`` is None if unknown. Raises LaunchError."""
    if kernel_parameters is None:
        return [
            _bind(v, UNKNOWN_PARAMETER, f"{kernel}: argument {i}") for i, v in enumerate(values, 1)
        ]
    if len(values) != len(kernel_parameters):
        names = [p.name or str(i) for i, p in enumerate(kernel_parameters, start=1)]
        noun = "argument" if len(kernel_parameters) == 1 else "arguments"
        names_text = f" ({', '.join(names)})" if names else ""
        raise LaunchError(
            f"{kernel} takes {len(kernel_parameters)} {noun}{names_text}, {len(values)} given"
        )
    return [
        _bind(value, parameter, argument_name(kernel, i, parameter))
        for i, (value, parameter) in enumerate(zip(values, kernel_parameters), start=1)
    ]


def argument_name(kernel: str, number: int, parameter: KernelParameter) -> str:
    """Return the name of an argument for error messages."""
    name_text = f" ({parameter.name})" if parameter.name else ""
    return f"{kernel}: argument {number}{name_text}"


UNKNOWN_PARAMETER = KernelParameter(ParameterKind.ANY, 0, 0)
POINTER_SIZE = 8  # bytes
_BY_VALUE = (ParameterKind.BYTES, ParameterKind.FLOAT)  # kinds that hold no pointers


def _bind(value: Any, parameter: KernelParameter, name: str) -> BoundArgument:
    if parameter.kind in _BY_VALUE and isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]  # CuPy passes structures as 0-dimensional arrays
    match value:
        case np.void() | ctypes.Structure() | ctypes.Union() | ctypes.Array() | Vector():
            return _bind_bytes(_raw_bytes(value), parameter, name, value)
        case np.generic():
            return _bind_numpy_scalar(value, parameter, name)
        case bool() | int():
            return _bind_integer(value, parameter, name, value)
        case float():
            return _bind_float(value, parameter, name)
        case complex():
            return _bind_complex(value, parameter, name)
        case None:
            return _bind_address(0, parameter, name, value)
        case ctypes._SimpleCData():
            return _bind_ctypes(value, parameter, name)
    return _bind_object(value, parameter, name)


def _bind_object(value: Any, parameter: KernelParameter, name: str) -> BoundArgument:
    handle = describe_handle(value)
    if handle is not None:
        _check_address(parameter, name, value)
        return BoundArgument(handle, handle.type)
    array = None if isinstance(value, type) else describe_array(value, name)
    if array is not None:
        _check_address(parameter, name, value)
        return BoundArgument(array, array.type)
    for attribute in ("ptr", "handle"):  # CuPy's pointers to memory, texture objects
        if isinstance(getattr(value, attribute, None), int):
            return _bind_address(getattr(value, attribute), parameter, name, value)
    try:
        return _bind_address(operator.index(value), parameter, name, value)
    except TypeError:
        raise LaunchError(
            f"{name} is a {type(value).__name__}; kernels in CUDA C take numpy arrays, arrays with "
            "__cuda_array_interface__ or DLPack, numbers, numpy records, ctypes structures, "
            "addresses as ints, and None for a null pointer"
        ) from None


def describe_array(value: Any, name: str) -> ArrayArgument | None:
    """Describe an array argument of any library; None if the value is not an array.

    An array without axes, or with elements that ``@kernel`` does not support, becomes bytes.
    """
    if isinstance(value, np.ndarray):
        is_supported = value.ndim and value.dtype.isnative and dtypes.from_numpy(value.dtype)
        if not is_supported:
            return _byte_array(value)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None and not interface["shape"]:
        address, readonly = interface["data"]
        size = np.dtype(interface["typestr"]).itemsize
        stream = interface.get("stream")
        return ArrayArgument(
            _BYTE_DTYPE, (size,), (1,), address or 0, readonly, True, "device", value, stream
        )
    return describe(value, name)


def _byte_array(array: np.ndarray[Any, Any]) -> ArrayArgument | None:
    if not array.flags.forc or array.dtype.hasobject:
        return None
    address = array.__array_interface__["data"][0]
    readonly = not array.flags.writeable
    return ArrayArgument(_BYTE_DTYPE, (array.nbytes,), (1,), address, readonly, True, "host", array)


# ---- numbers -------------------------------------------------------------------------------


def _bind_numpy_scalar(value: np.generic, parameter: KernelParameter, name: str) -> BoundArgument:
    dtype = dtypes.from_numpy(value.dtype)
    if dtype is None:
        _fail_mismatch(parameter, name, value, "pass a number")
    size, kind = parameter.size, parameter.kind
    has_kind = kind is ParameterKind.ANY or kind in _PARAMETER_KINDS[dtype.kind]
    if has_kind and size in (dtype.size, 0):
        return BoundArgument(value, Scalar(dtype))
    if kind is ParameterKind.INTEGER and dtype.is_integral:  # of another width
        return _bind_integer(int(value), parameter, name, value)
    _fail_mismatch(parameter, name, value, _hint(parameter))


_PARAMETER_KINDS = {
    dtypes.DTypeKind.BOOL: (ParameterKind.INTEGER,),
    dtypes.DTypeKind.SIGNED: (ParameterKind.INTEGER,),
    dtypes.DTypeKind.UNSIGNED: (ParameterKind.INTEGER,),
    dtypes.DTypeKind.FLOAT: (ParameterKind.FLOAT, ParameterKind.BYTES),
    dtypes.DTypeKind.COMPLEX: (ParameterKind.BYTES,),
}


def _bind_integer(
    number: int, parameter: KernelParameter, name: str, value: object
) -> BoundArgument:
    match parameter.kind:
        case ParameterKind.ANY:
            size = parameter.size or (1 if number is True or number is False else 8)
            if size in _INTEGER_DTYPES:
                return _integer_argument(number, size, name)
        case ParameterKind.INTEGER if parameter.size in _INTEGER_DTYPES:
            return _integer_argument(number, parameter.size, name)
        case ParameterKind.FLOAT if not isinstance(value, np.generic):
            return BoundArgument(number, Scalar(_FLOAT_DTYPES[parameter.size]))
        case ParameterKind.BYTES if not isinstance(value, np.generic) and parameter.size == 2:
            return BoundArgument(float(number), Scalar(dtypes.FLOAT16))
    _fail_mismatch(parameter, name, value, _hint(parameter))


def _integer_argument(number: int, size: int, name: str) -> BoundArgument:
    """Bind an integer that the signed or the unsigned type of this size can hold."""
    bits = 8 * size
    if not -(1 << bits - 1) <= number < 1 << bits:
        raise LaunchError(f"{name} has {size} bytes, which cannot hold {number}")
    signed = int(number) - (1 << bits) if number >= 1 << bits - 1 else int(number)
    return BoundArgument(signed, Scalar(_INTEGER_DTYPES[size]))


def _bind_float(number: float, parameter: KernelParameter, name: str) -> BoundArgument:
    match parameter.kind:
        case ParameterKind.ANY if parameter.size not in _FLOAT_DTYPES:
            return BoundArgument(number, Scalar(dtypes.FLOAT64))
        case ParameterKind.FLOAT | ParameterKind.ANY:
            if parameter.size == 4 and math.isfinite(number) and abs(number) > _MAX_FLOAT32:
                raise LaunchError(f"{name} is {parameter}, which cannot hold {number}")
            return BoundArgument(number, Scalar(_FLOAT_DTYPES[parameter.size]))
        case ParameterKind.BYTES if parameter.size == 2:
            return BoundArgument(number, Scalar(dtypes.FLOAT16))
    _fail_mismatch(parameter, name, number, _hint(parameter))


_MAX_FLOAT32 = float(np.finfo(np.float32).max)


def _bind_complex(number: complex, parameter: KernelParameter, name: str) -> BoundArgument:
    if parameter.kind is ParameterKind.ANY:
        return BoundArgument(number, Scalar(dtypes.COMPLEX128))
    dtype = _COMPLEX_DTYPES.get(parameter.size)
    if parameter.kind is not ParameterKind.BYTES or dtype is None:
        _fail_mismatch(parameter, name, number, _hint(parameter))
    return BoundArgument(number, Scalar(dtype))


def _bind_ctypes(value: Any, parameter: KernelParameter, name: str) -> BoundArgument:
    size = ctypes.sizeof(value)
    if parameter.size not in (size, 0):
        _fail_mismatch(parameter, name, value, _hint(parameter))
    return BoundArgument(bytes(value), Scalar(_BYTE_DTYPE), size)


def _raw_bytes(value: Any) -> bytes:
    if isinstance(value, Vector):
        return np.array(tuple(value), value.vector_type.numpy).tobytes()
    return value.tobytes() if isinstance(value, np.void) else bytes(value)


def _bind_bytes(raw: bytes, parameter: KernelParameter, name: str, value: object) -> BoundArgument:
    if parameter.size not in (len(raw), 0):
        _fail_mismatch(parameter, name, value, "its layout must be that of the structure in C")
    return BoundArgument(raw, Scalar(_BYTE_DTYPE), len(raw))


# ---- addresses -----------------------------------------------------------------------------


def _bind_address(
    number: int, parameter: KernelParameter, name: str, value: object
) -> BoundArgument:
    _check_address(parameter, name, value)
    return _integer_argument(number, POINTER_SIZE, name)


def _check_address(parameter: KernelParameter, name: str, value: object) -> None:
    if parameter.size in (POINTER_SIZE, 0) and parameter.kind not in _BY_VALUE:
        return
    _fail_mismatch(parameter, name, value, _hint(parameter))


def _hint(parameter: KernelParameter) -> str:
    match parameter.kind:
        case ParameterKind.INTEGER if parameter.size in _INTEGER_DTYPES:
            return f"pass an int, or numpy.{_INTEGER_DTYPES[parameter.size]}(…)"
        case ParameterKind.FLOAT:
            return f"pass a float, or numpy.{_FLOAT_DTYPES[parameter.size]}(…)"
    return "pass a numpy record or a ctypes structure of that size"


def _fail_mismatch(parameter: KernelParameter, name: str, value: object, hint: str) -> NoReturn:
    module = "numpy." if isinstance(value, np.generic) else ""
    size = f" of {len(_raw_bytes(value))} bytes" if isinstance(value, (np.void, Vector)) else ""
    raise LaunchError(
        f"{name} is {parameter}, but the argument is a {module}{type(value).__name__}{size}: {hint}"
    )


# ---- packing -------------------------------------------------------------------------------


def layout_for(
    arguments: Sequence[BoundArgument], kernel_parameters: Sequence[KernelParameter] | None
) -> Layout:
    """Return the layout in parameter memory, by C's rules for sizes and alignments."""
    layout_parameters = [_layout_parameter(i, argument) for i, argument in enumerate(arguments)]
    if kernel_parameters is None:
        return layout_of(layout_parameters, list(map(_alignment, arguments)))
    return layout_of(layout_parameters, [p.alignment for p in kernel_parameters])


def _layout_parameter(position: int, argument: BoundArgument) -> parameters.Parameter:
    argument_type = Scalar(_raw_dtype(argument.size)) if argument.size else argument.type
    assert isinstance(argument_type, Array | Scalar)
    part = ArgumentPart.DATA if isinstance(argument_type, Array) else ArgumentPart.VALUE
    return parameters.Parameter(f"argument {position + 1}", argument_type, position, part)


@functools.cache
def _raw_dtype(size: int) -> DType:
    """Return a dtype for raw bytes."""
    name, pack = f"bytes{size}", f"{size}s"  # a format of struct.pack
    return DType(name, dtypes.DTypeKind.HANDLE, 8 * size, name, name, name, pack=pack)


def _alignment(argument: BoundArgument) -> int:
    """Return the alignment of an argument; of raw bytes the largest that divides their number."""
    if argument.size:
        return next(n for n in (8, 4, 1) if argument.size % n == 0)
    assert isinstance(argument.type, Array | Scalar)
    return argument.type.dtype.alignment


def leaves_of(arguments: Sequence[BoundArgument]) -> tuple[Argument, ...]:
    return tuple(argument.leaf for argument in arguments)


def writable_arrays(
    kernel_parameters: Sequence[KernelParameter] | None, arguments: Sequence[BoundArgument]
) -> frozenset[int]:
    """Return the positions of arrays that the kernel may write: those not passed to const."""
    kernel_parameters = kernel_parameters or [UNKNOWN_PARAMETER] * len(arguments)
    return frozenset(
        i
        for i, (p, a) in enumerate(zip(kernel_parameters, arguments))
        if _is_array(a) and not p.is_read_only
    )


def _is_array(argument: BoundArgument) -> bool:
    return isinstance(argument.leaf, ArrayArgument)


def check_writeable(
    kernel_parameters: Sequence[KernelParameter] | None,
    arguments: Sequence[BoundArgument],
    kernel: str,
) -> None:
    """Raise LaunchError if the kernel may write a read-only host array."""
    for i in sorted(writable_arrays(kernel_parameters, arguments)):
        array = arguments[i].leaf
        if array.readonly and array.location == "host":
            name = argument_names(kernel, kernel_parameters, arguments)[i]
            raise LaunchError(
                f"{name} is read-only, and the kernel may write it: declare the parameter as a "
                "pointer to const, or pass a copy"
            )


def argument_names(
    kernel: str, kernel_parameters: Sequence[KernelParameter] | None, arguments: Sequence[object]
) -> tuple[str, ...]:
    """Return the argument names for error messages."""
    kernel_parameters = kernel_parameters or [UNKNOWN_PARAMETER] * len(arguments)
    return tuple(argument_name(kernel, i, p) for i, p in enumerate(kernel_parameters, start=1))


def is_packed_bytes(argument: BoundArgument) -> bool:
    """Return whether an argument is raw bytes or a handle, which cannot be dispatched."""
    return argument.size > 0 or isinstance(argument.leaf, HandleArgument)
