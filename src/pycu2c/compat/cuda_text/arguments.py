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

_INTEGERS = {1: dtypes.INT8, 2: dtypes.INT16, 4: dtypes.INT32, 8: dtypes.INT64}
_FLOATS = {2: dtypes.FLOAT16, 4: dtypes.FLOAT32, 8: dtypes.FLOAT64}
_COMPLEX = {8: dtypes.COMPLEX64, 16: dtypes.COMPLEX128}
_BYTE = dtypes.UINT8


@dataclass(frozen=True, slots=True)
class BoundArgument:
    """One argument and its packing.

    ``type`` is the element type of an array. If ``size`` is not 0, the leaf is that many raw bytes.
    """

    leaf: Any  # Argument, or bytes
    type: ParameterType
    size: int = 0


def bind_arguments(
    values: Sequence[object], expected: Sequence[KernelParameter] | None, kernel: str
) -> list[BoundArgument]:
    """Return the bound arguments. ``expected`` are the parameters, or None. Raises LaunchError."""
    if expected is None:
        return [_bind(v, _UNKNOWN, f"{kernel}: argument {i}") for i, v in enumerate(values, 1)]
    if len(values) != len(expected):
        names = [p.name or str(i) for i, p in enumerate(expected, start=1)]
        noun = "argument" if len(expected) == 1 else "arguments"
        shown = f" ({', '.join(names)})" if names else ""
        raise LaunchError(f"{kernel} takes {len(expected)} {noun}{shown}, {len(values)} given")
    return [
        _bind(value, parameter, argument_name(kernel, i, parameter))
        for i, (value, parameter) in enumerate(zip(values, expected), start=1)
    ]


def argument_name(kernel: str, number: int, parameter: KernelParameter) -> str:
    """Return the name of an argument for error messages."""
    shown = f" ({parameter.name})" if parameter.name else ""
    return f"{kernel}: argument {number}{shown}"


_UNKNOWN = KernelParameter(ParameterKind.ANY, 0, 0)
_POINTER = 8  # bytes
_BY_VALUE = (ParameterKind.BYTES, ParameterKind.FLOAT)  # not pointers


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
        plain = value.ndim and value.dtype.isnative and dtypes.from_numpy(value.dtype)
        if not plain:
            return _byte_array(value)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None and not interface["shape"]:
        address, readonly = interface["data"]
        size = np.dtype(interface["typestr"]).itemsize
        stream = interface.get("stream")
        return ArrayArgument(
            _BYTE, (size,), (1,), address or 0, readonly, True, "device", value, stream
        )
    return describe(value, name)


def _byte_array(array: np.ndarray[Any, Any]) -> ArrayArgument | None:
    if not array.flags.forc or array.dtype.hasobject:
        return None
    address = array.__array_interface__["data"][0]
    readonly = not array.flags.writeable
    return ArrayArgument(_BYTE, (array.nbytes,), (1,), address, readonly, True, "host", array)


# ---- numbers -------------------------------------------------------------------------------


def _bind_numpy_scalar(value: np.generic, parameter: KernelParameter, name: str) -> BoundArgument:
    scalar = dtypes.from_numpy(value.dtype)
    if scalar is None:
        _fail_mismatch(parameter, name, value, "pass a number")
    size, kind = parameter.size, parameter.kind
    is_kind = kind is ParameterKind.ANY or kind in _KINDS_OF[scalar.kind]
    fits = is_kind and size in (scalar.size, 0)
    if fits:
        return BoundArgument(value, Scalar(scalar))
    if kind is ParameterKind.INTEGER and scalar.is_integral:  # of another width, if the value fits
        return _bind_integer(int(value), parameter, name, value)
    _fail_mismatch(parameter, name, value, _hint(parameter))


_KINDS_OF = {
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
            if size in _INTEGERS:
                return _integer(number, size, name)
        case ParameterKind.INTEGER if parameter.size in _INTEGERS:
            return _integer(number, parameter.size, name)
        case ParameterKind.FLOAT if not isinstance(value, np.generic):
            return BoundArgument(number, Scalar(_FLOATS[parameter.size]))
        case ParameterKind.BYTES if not isinstance(value, np.generic) and parameter.size == 2:
            return BoundArgument(float(number), Scalar(dtypes.FLOAT16))
    _fail_mismatch(parameter, name, value, _hint(parameter))


def _integer(number: int, size: int, name: str) -> BoundArgument:
    """Bind an integer. Its range is that of the signed and the unsigned type together."""
    bits = 8 * size
    if not -(1 << bits - 1) <= number < 1 << bits:
        raise LaunchError(f"{name} has {size} bytes, which cannot hold {number}")
    signed = int(number) - (1 << bits) if number >= 1 << bits - 1 else int(number)
    return BoundArgument(signed, Scalar(_INTEGERS[size]))


def _bind_float(number: float, parameter: KernelParameter, name: str) -> BoundArgument:
    match parameter.kind:
        case ParameterKind.ANY if parameter.size not in _FLOATS:
            return BoundArgument(number, Scalar(dtypes.FLOAT64))
        case ParameterKind.FLOAT | ParameterKind.ANY:
            if parameter.size == 4 and math.isfinite(number) and abs(number) > _LARGEST:
                raise LaunchError(f"{name} is {parameter}, which cannot hold {number}")
            return BoundArgument(number, Scalar(_FLOATS[parameter.size]))
        case ParameterKind.BYTES if parameter.size == 2:
            return BoundArgument(number, Scalar(dtypes.FLOAT16))
    _fail_mismatch(parameter, name, number, _hint(parameter))


_LARGEST = float(np.finfo(np.float32).max)


def _bind_complex(number: complex, parameter: KernelParameter, name: str) -> BoundArgument:
    if parameter.kind is ParameterKind.ANY:
        return BoundArgument(number, Scalar(dtypes.COMPLEX128))
    scalar = _COMPLEX.get(parameter.size)
    if parameter.kind is not ParameterKind.BYTES or scalar is None:
        _fail_mismatch(parameter, name, number, _hint(parameter))
    return BoundArgument(number, Scalar(scalar))


def _bind_ctypes(value: Any, parameter: KernelParameter, name: str) -> BoundArgument:
    size = ctypes.sizeof(value)
    if parameter.size not in (size, 0):
        _fail_mismatch(parameter, name, value, _hint(parameter))
    return BoundArgument(bytes(value), Scalar(_BYTE), size)


def _raw_bytes(value: Any) -> bytes:
    if isinstance(value, Vector):
        return np.array(tuple(value), value.vector_type.numpy).tobytes()
    return value.tobytes() if isinstance(value, np.void) else bytes(value)


def _bind_bytes(raw: bytes, parameter: KernelParameter, name: str, value: object) -> BoundArgument:
    if parameter.size not in (len(raw), 0):
        _fail_mismatch(parameter, name, value, "its layout must be that of the structure in C")
    return BoundArgument(raw, Scalar(_BYTE), len(raw))


# ---- addresses -----------------------------------------------------------------------------


def _bind_address(
    number: int, parameter: KernelParameter, name: str, value: object
) -> BoundArgument:
    _check_address(parameter, name, value)
    return _integer(number, _POINTER, name)


def _check_address(parameter: KernelParameter, name: str, value: object) -> None:
    if parameter.size in (_POINTER, 0) and parameter.kind not in _BY_VALUE:
        return
    _fail_mismatch(parameter, name, value, _hint(parameter))


def _hint(parameter: KernelParameter) -> str:
    match parameter.kind:
        case ParameterKind.INTEGER if parameter.size in _INTEGERS:
            return f"pass an int, or numpy.{_INTEGERS[parameter.size]}(…)"
        case ParameterKind.FLOAT:
            return f"pass a float, or numpy.{_FLOATS[parameter.size]}(…)"
    return "pass a numpy record or a ctypes structure of that size"


def _fail_mismatch(parameter: KernelParameter, name: str, value: object, hint: str) -> NoReturn:
    kind = type(value)
    of = "numpy." if isinstance(value, np.generic) else ""
    size = f" of {len(_raw_bytes(value))} bytes" if isinstance(value, (np.void, Vector)) else ""
    raise LaunchError(
        f"{name} is {parameter}, but the argument is a {of}{kind.__name__}{size}: {hint}"
    )


# ---- packing -------------------------------------------------------------------------------


def layout_for(
    arguments: Sequence[BoundArgument], expected: Sequence[KernelParameter] | None
) -> Layout:
    """Return the layout in parameter memory: C's rules for parameters of these sizes."""
    flat = [_flattened(i, argument) for i, argument in enumerate(arguments)]
    if expected is None:
        return layout_of(flat, [p.type.dtype.alignment for p in flat])
    return layout_of(flat, [p.alignment for p in expected])


def _flattened(position: int, argument: BoundArgument) -> parameters.Parameter:
    kind = argument.type
    if argument.size:
        kind = Scalar(_raw_dtype(argument.size))
    assert isinstance(kind, Array | Scalar)
    part = ArgumentPart.DATA if isinstance(kind, Array) else ArgumentPart.VALUE
    return parameters.Parameter(f"argument {position + 1}", kind, position, part)


@functools.cache
def _raw_dtype(size: int) -> DType:
    """Return a dtype for raw bytes, with the largest alignment up to 8 that divides the size."""
    part = next(
        scalar for scalar in (dtypes.UINT64, dtypes.UINT32, _BYTE) if size % scalar.size == 0
    )
    name, pack = f"bytes{size}", f"{size}s"
    return _Raw(name, dtypes.DTypeKind.HANDLE, 8 * size, part.name, name, name, pack=pack)


class _Raw(DType):
    """Raw bytes. ``short`` names the integer type that defines their alignment."""

    __slots__ = ()

    @property
    def alignment(self) -> int:
        return dtypes.BY_NAME[self.short].size


def leaves_of(arguments: Sequence[BoundArgument]) -> tuple[Argument, ...]:
    return tuple(argument.leaf for argument in arguments)


def writable_arrays(
    expected: Sequence[KernelParameter] | None, arguments: Sequence[BoundArgument]
) -> frozenset[int]:
    """Return the positions of arrays that the kernel may write: all but those passed as const."""
    expected = expected or [_UNKNOWN] * len(arguments)
    return frozenset(
        i
        for i, (p, a) in enumerate(zip(expected, arguments))
        if _is_array(a) and not p.is_read_only
    )


def _is_array(argument: BoundArgument) -> bool:
    return isinstance(argument.leaf, ArrayArgument)


def check_writeable(
    expected: Sequence[KernelParameter] | None, arguments: Sequence[BoundArgument], kernel: str
) -> None:
    """Raise LaunchError if the kernel may write a read-only host array."""
    for i in sorted(writable_arrays(expected, arguments)):
        array = arguments[i].leaf
        if array.readonly and array.where == "host":
            name = argument_names(kernel, expected, arguments)[i]
            raise LaunchError(
                f"{name} is read-only, and the kernel may write it: declare the parameter as a "
                "pointer to const, or pass a copy"
            )


def argument_names(
    kernel: str, expected: Sequence[KernelParameter] | None, arguments: Sequence[object]
) -> tuple[str, ...]:
    """Return the argument names for error messages."""
    expected = expected or [_UNKNOWN] * len(arguments)
    return tuple(argument_name(kernel, i, p) for i, p in enumerate(expected, start=1))


def is_packed_bytes(argument: BoundArgument) -> bool:
    """Return whether an argument is raw bytes or a handle, which cannot be dispatched."""
    return argument.size > 0 or isinstance(argument.leaf, HandleArgument)
