"""The arguments of a kernel in CUDA C: what each is passed as. Knows no machine.

An array is passed as the address of its first element. A number becomes what its parameter is, if
nothing is lost; where nothing is known of that, Python's are 64 bits wide, and numpy's what they
are, as in CuPy. What fits no parameter is a LaunchError that names it.
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
from pycu2c.base.parameters import Part
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, ParameterType, Scalar
from pycu2c.base.vectors import Vector
from pycu2c.compat.cuda_text.parameters import Kind, Parameter
from pycu2c.runtime.arguments.arguments import Layout, describe, described_handle, layout_of
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, HandleArgument

_WHOLE = {1: dtypes.INT8, 2: dtypes.INT16, 4: dtypes.INT32, 8: dtypes.INT64}
_FLOATS = {2: dtypes.FLOAT16, 4: dtypes.FLOAT32, 8: dtypes.FLOAT64}
_COMPLEX = {8: dtypes.COMPLEX64, 16: dtypes.COMPLEX128}
_BYTE = dtypes.UINT8


@dataclass(frozen=True, slots=True)
class Taken:
    """One argument: what is packed for it, and as what. ``type`` is that of an array's elements
    where it is one; ``size`` bytes of any other kind are packed as they are."""

    leaf: Any  # Argument, or bytes
    type: ParameterType
    size: int = 0


def taken(values: Sequence[object], wanted: Sequence[Parameter] | None, kernel: str) -> list[Taken]:
    """What a kernel is passed. ``wanted``: its parameters, if they are known. Raises
    LaunchError."""
    if wanted is None:
        return [_taken(v, _UNKNOWN, f"{kernel}: argument {i}") for i, v in enumerate(values, 1)]
    if len(values) != len(wanted):
        names = [p.name or str(i) for i, p in enumerate(wanted, start=1)]
        noun = "argument" if len(wanted) == 1 else "arguments"
        shown = f" ({', '.join(names)})" if names else ""
        raise LaunchError(f"{kernel} takes {len(wanted)} {noun}{shown}, {len(values)} given")
    return [
        _taken(value, parameter, name_of(kernel, i, parameter))
        for i, (value, parameter) in enumerate(zip(values, wanted), start=1)
    ]


def name_of(kernel: str, number: int, parameter: Parameter) -> str:
    """What errors call an argument."""
    shown = f" ({parameter.name})" if parameter.name else ""
    return f"{kernel}: argument {number}{shown}"


_UNKNOWN = Parameter(Kind.ANY, 0, 0)
_POINTER = 8  # bytes
_BY_VALUE = (Kind.BYTES, Kind.FLOAT)  # what is no pointer


def _taken(value: Any, parameter: Parameter, name: str) -> Taken:
    if parameter.kind in _BY_VALUE and isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]  # as CuPy passes structures
    match value:
        case np.void() | ctypes.Structure() | ctypes.Union() | ctypes.Array() | Vector():
            return _bytes(_raw(value), parameter, name, value)
        case np.generic():
            return _of_numpy(value, parameter, name)
        case bool() | int():
            return _of_whole(value, parameter, name, value)
        case float():
            return _of_float(value, parameter, name)
        case complex():
            return _of_complex(value, parameter, name)
        case None:
            return _address(0, parameter, name, value)
        case ctypes._SimpleCData():
            return _of_ctypes(value, parameter, name)
    return _of_object(value, parameter, name)


def _of_object(value: Any, parameter: Parameter, name: str) -> Taken:
    handle = described_handle(value)
    if handle is not None:
        _check_address(parameter, name, value)
        return Taken(handle, handle.type)
    array = None if isinstance(value, type) else array_of(value, name)
    if array is not None:
        _check_address(parameter, name, value)
        return Taken(array, array.type)
    for attribute in ("ptr", "handle"):  # CuPy's pointers to memory, texture objects
        if isinstance(getattr(value, attribute, None), int):
            return _address(getattr(value, attribute), parameter, name, value)
    try:
        return _address(operator.index(value), parameter, name, value)
    except TypeError:
        raise LaunchError(
            f"{name} is a {type(value).__name__}; kernels in CUDA C take numpy arrays, arrays with "
            "__cuda_array_interface__ or DLPack, numbers, numpy records, ctypes structures, "
            "addresses as ints, and None for a null pointer"
        ) from None


def array_of(value: Any, name: str) -> ArrayArgument | None:
    """An array of anybody's. Of one without axes, or of elements that kernels in Python do not
    have, only the bytes are seen."""
    if isinstance(value, np.ndarray):
        plain = value.ndim and value.dtype.isnative and dtypes.from_numpy(value.dtype)
        if not plain:
            return _bytes_of(value)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None and not interface["shape"]:
        address, readonly = interface["data"]
        size = np.dtype(interface["typestr"]).itemsize
        stream = interface.get("stream")
        place = address or 0, readonly, True
        return ArrayArgument(_BYTE, (size,), (1,), *place, "device", value, stream)
    return describe(value, name)


def _bytes_of(array: np.ndarray[Any, Any]) -> ArrayArgument | None:
    if not array.flags.forc or array.dtype.hasobject:
        return None
    address = array.__array_interface__["data"][0]
    readonly = not array.flags.writeable
    return ArrayArgument(_BYTE, (array.nbytes,), (1,), address, readonly, True, "host", array)


# ---- numbers -------------------------------------------------------------------------------


def _of_numpy(value: np.generic, parameter: Parameter, name: str) -> Taken:
    row = dtypes.from_numpy(value.dtype)
    if row is None:
        _misfit(parameter, name, value, "pass a number")
    size, kind = parameter.size, parameter.kind
    is_kind = kind is Kind.ANY or kind in _KINDS_OF[row.kind]
    fits = is_kind and size in (row.size, 0)
    if fits:
        return Taken(value, Scalar(row))
    if kind is Kind.WHOLE and row.is_whole:  # of another width: if the value fits
        return _of_whole(int(value), parameter, name, value)
    _misfit(parameter, name, value, _cure(parameter))


_KINDS_OF = {
    dtypes.Kind.BOOL: (Kind.WHOLE,),
    dtypes.Kind.SIGNED: (Kind.WHOLE,),
    dtypes.Kind.UNSIGNED: (Kind.WHOLE,),
    dtypes.Kind.FLOAT: (Kind.FLOAT, Kind.BYTES),
    dtypes.Kind.COMPLEX: (Kind.BYTES,),
}


def _of_whole(number: int, parameter: Parameter, name: str, value: object) -> Taken:
    match parameter.kind:
        case Kind.ANY:
            size = parameter.size or (1 if number is True or number is False else 8)
            if size in _WHOLE:
                return _whole(number, size, name)
        case Kind.WHOLE if parameter.size in _WHOLE:
            return _whole(number, parameter.size, name)
        case Kind.FLOAT if not isinstance(value, np.generic):
            return Taken(number, Scalar(_FLOATS[parameter.size]))
        case Kind.BYTES if not isinstance(value, np.generic) and parameter.size == 2:
            return Taken(float(number), Scalar(dtypes.FLOAT16))
    _misfit(parameter, name, value, _cure(parameter))


def _whole(number: int, size: int, name: str) -> Taken:
    """Whether it has a sign nobody tells: a number may be one of either kind."""
    bits = 8 * size
    if not -(1 << bits - 1) <= number < 1 << bits:
        raise LaunchError(f"{name} has {size} bytes, which cannot hold {number}")
    signed = int(number) - (1 << bits) if number >= 1 << bits - 1 else int(number)
    return Taken(signed, Scalar(_WHOLE[size]))


def _of_float(number: float, parameter: Parameter, name: str) -> Taken:
    match parameter.kind:
        case Kind.ANY if parameter.size not in _FLOATS:
            return Taken(number, Scalar(dtypes.FLOAT64))
        case Kind.FLOAT | Kind.ANY:
            if parameter.size == 4 and math.isfinite(number) and abs(number) > _LARGEST:
                raise LaunchError(f"{name} is {parameter}, which cannot hold {number}")
            return Taken(number, Scalar(_FLOATS[parameter.size]))
        case Kind.BYTES if parameter.size == 2:
            return Taken(number, Scalar(dtypes.FLOAT16))
    _misfit(parameter, name, number, _cure(parameter))


_LARGEST = float(np.finfo(np.float32).max)


def _of_complex(number: complex, parameter: Parameter, name: str) -> Taken:
    if parameter.kind is Kind.ANY:
        return Taken(number, Scalar(dtypes.COMPLEX128))
    row = _COMPLEX.get(parameter.size)
    if parameter.kind is not Kind.BYTES or row is None:
        _misfit(parameter, name, number, _cure(parameter))
    return Taken(number, Scalar(row))


def _of_ctypes(value: Any, parameter: Parameter, name: str) -> Taken:
    size = ctypes.sizeof(value)
    if parameter.size not in (size, 0):
        _misfit(parameter, name, value, _cure(parameter))
    return Taken(bytes(value), Scalar(_BYTE), size)


def _raw(value: Any) -> bytes:
    if isinstance(value, Vector):
        return np.array(tuple(value), value.row.numpy).tobytes()
    return value.tobytes() if isinstance(value, np.void) else bytes(value)


def _bytes(raw: bytes, parameter: Parameter, name: str, value: object) -> Taken:
    if parameter.size not in (len(raw), 0):
        _misfit(parameter, name, value, "its layout must be that of the structure in C")
    return Taken(raw, Scalar(_BYTE), len(raw))


# ---- addresses -----------------------------------------------------------------------------


def _address(number: int, parameter: Parameter, name: str, value: object) -> Taken:
    _check_address(parameter, name, value)
    return _whole(number, _POINTER, name)


def _check_address(parameter: Parameter, name: str, value: object) -> None:
    if parameter.size in (_POINTER, 0) and parameter.kind not in _BY_VALUE:
        return
    _misfit(parameter, name, value, _cure(parameter))


def _cure(parameter: Parameter) -> str:
    match parameter.kind:
        case Kind.WHOLE if parameter.size in _WHOLE:
            return f"pass an int, or numpy.{_WHOLE[parameter.size]}(…)"
        case Kind.FLOAT:
            return f"pass a float, or numpy.{_FLOATS[parameter.size]}(…)"
    return "pass a numpy record or a ctypes structure of that size"


def _misfit(parameter: Parameter, name: str, value: object, cure: str) -> NoReturn:
    kind = type(value)
    of = "numpy." if isinstance(value, np.generic) else ""
    size = f" of {len(_raw(value))} bytes" if isinstance(value, (np.void, Vector)) else ""
    raise LaunchError(
        f"{name} is {parameter}, and what it is given is a {of}{kind.__name__}{size}: {cure}"
    )


# ---- packing -------------------------------------------------------------------------------


def layout_for(arguments: Sequence[Taken], wanted: Sequence[Parameter] | None) -> Layout:
    """How they lie in memory: where C puts parameters of these sizes."""
    flat = [_flat(i, argument) for i, argument in enumerate(arguments)]
    if wanted is None:
        return layout_of(flat, [p.type.dtype.alignment for p in flat])
    return layout_of(flat, [p.alignment for p in wanted])


def _flat(position: int, argument: Taken) -> parameters.Parameter:
    kind = argument.type
    if argument.size:
        kind = Scalar(_raw_dtype(argument.size))
    assert isinstance(kind, Array | Scalar)
    part = Part.DATA if isinstance(kind, Array) else Part.VALUE
    return parameters.Parameter(f"argument {position + 1}", kind, position, part)


@functools.cache
def _raw_dtype(size: int) -> DType:
    """Bytes that are packed as they are. Where nobody says how a structure is aligned, it has
    numbers of 8 bytes if it may."""
    part = next(row for row in (dtypes.UINT64, dtypes.UINT32, _BYTE) if size % row.size == 0)
    name, pack = f"bytes{size}", f"{size}s"
    return _Raw(name, dtypes.Kind.HANDLE, 8 * size, part.name, name, name, pack=pack)


class _Raw(DType):
    """Bytes; ``short`` names the type of number that they are aligned as."""

    __slots__ = ()

    @property
    def alignment(self) -> int:
        return dtypes.BY_NAME[self.short].size


def leaves_of(arguments: Sequence[Taken]) -> tuple[Argument, ...]:
    return tuple(argument.leaf for argument in arguments)


def written(wanted: Sequence[Parameter] | None, arguments: Sequence[Taken]) -> frozenset[int]:
    """The arrays that the kernel may write: all but those to whose elements it has a pointer with
    const."""
    known = wanted or [_UNKNOWN] * len(arguments)
    return frozenset(
        i for i, (p, a) in enumerate(zip(known, arguments)) if _is_array(a) and not p.reads
    )


def _is_array(argument: Taken) -> bool:
    return isinstance(argument.leaf, ArrayArgument)


def check_writeable(
    wanted: Sequence[Parameter] | None, arguments: Sequence[Taken], kernel: str
) -> None:
    """Refuse an array of the host that is read-only where the kernel may write it."""
    for i in sorted(written(wanted, arguments)):
        array = arguments[i].leaf
        if array.readonly and array.where == "host":
            name = names_of(kernel, wanted, arguments)[i]
            raise LaunchError(
                f"{name} is read-only, and the kernel may write it: declare the parameter as a "
                "pointer to const, or pass a copy"
            )


def names_of(
    kernel: str, wanted: Sequence[Parameter] | None, arguments: Sequence[object]
) -> tuple[str, ...]:
    """What errors call each argument."""
    known = wanted or [_UNKNOWN] * len(arguments)
    return tuple(name_of(kernel, i, p) for i, p in enumerate(known, start=1))


def is_raw(argument: Taken) -> bool:
    """Whether it is bytes, of which no plan is made."""
    return argument.size > 0 or isinstance(argument.leaf, HandleArgument)
