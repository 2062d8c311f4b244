"""Python arguments -> the bytes that a kernel reads. Knows no device and no launch.

An array is seen through one form, whoever owns it; a number is checked against the parameter
that takes it. What cannot be passed is a LaunchError that names the argument.
"""

from __future__ import annotations

import functools
import math
import operator
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from pycu2c import dtypes
from pycu2c.diagnostics import LaunchError
from pycu2c.dtypes import DType, Kind
from pycu2c.lazy import lazy_module
from pycu2c.limits import MOST_AXES
from pycu2c.parameters import Parameter, Part
from pycu2c.records import NamedTuple, dataclass
from pycu2c.runtime.strides import is_contiguous, packed_strides
from pycu2c.types import Array, Scalar
from pycu2c.values import Number, as_vector, convert, scalar_of

if TYPE_CHECKING:
    from pycu2c.runtime import dlpack_arguments
else:
    dlpack_arguments = lazy_module("pycu2c.runtime.dlpack_arguments")

Where: TypeAlias = Literal["host", "device"]


class ArrayArgument(NamedTuple):
    """An array, whoever made it. ``strides`` are in bytes; ``owner`` keeps the memory alive.

    ``stream`` is the CUDA stream that the owner still works on, as
    ``__cuda_array_interface__`` gives it. ``placed``: the user has chosen where it lies, and runs
    kernels there. (A tuple, because every launch makes some: a frozen
    dataclass takes three times as long to make.)
    """

    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int
    readonly: bool
    contiguous: bool
    where: Where
    owner: object
    stream: int | None = None
    placed: bool = False

    @property
    def type(self) -> Array:
        return Array(self.dtype, len(self.shape), "C" if self.contiguous else "A")

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def region(self) -> tuple[int, int]:
        """The address of its first byte, and how many bytes there are to its last."""
        if not self.size:
            return self.address, 0
        reaches = [(extent - 1) * stride for extent, stride in zip(self.shape, self.strides)]
        low = sum(reach for reach in reaches if reach < 0)
        high = sum(reach for reach in reaches if reach > 0) + self.dtype.size
        return self.address + low, high - low


@dataclass(frozen=True, slots=True)
class HandleArgument:
    """A texture or surface; ``owner`` is the object of the program."""

    dtype: DType
    owner: Any

    def __repr__(self) -> str:
        return f"a `{self.dtype}`"

    @property
    def type(self) -> Scalar:
        return Scalar(self.dtype)

    def handle(self, where: Where) -> int:
        """What a kernel there is passed."""
        found: int = self.owner.__pycu2c_handle__(where)
        return found


Argument: TypeAlias = "ArrayArgument | HandleArgument | Number"


def described_handle(obj: object) -> HandleArgument | None:
    """A texture or surface as launches see it; None if ``obj`` is not one."""
    if hasattr(type(obj), "__pycu2c_handle__"):
        return HandleArgument(obj.type.dtype, obj)  # type: ignore[attr-defined]
    return None


_row_of = functools.lru_cache(maxsize=64)(dtypes.from_numpy)  # every launch asks


def type_of(obj: object, name: str = "argument") -> Scalar | Array | None:
    """The type that an argument has in a kernel; None if kernels have nothing like it."""
    scalar = scalar_of(obj)
    if scalar is not None:
        return scalar
    handle = described_handle(obj)
    if handle is not None:
        return handle.type
    array = describe(obj, name)
    return array.type if array else None


def describe(obj: object, name: str = "argument") -> ArrayArgument | None:
    """An array as launches see it; None if ``obj`` is not one. ``name`` is for errors."""
    if isinstance(obj, np.ndarray):
        return _of_numpy(obj, name)
    if isinstance(obj, (int, float, np.generic)):  # numpy scalars pretend to be arrays
        return None
    own = getattr(obj, "__pycu2c_array__", None)
    if own is not None:
        array: ArrayArgument = own(name)
        return array
    interface = getattr(obj, "__cuda_array_interface__", None)
    if interface is not None:
        return _of_interface(obj, interface, "device", name)
    interface = getattr(obj, "__array_interface__", None)
    if interface is not None:
        return _of_interface(obj, interface, "host", name)
    return dlpack_arguments.describe(obj, name) if hasattr(obj, "__dlpack__") else None


def _of_numpy(array: np.ndarray[Any, Any], name: str) -> ArrayArgument:
    if type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray):
        raise LaunchError(f"{name} is a masked array; kernels have no masks: pass its .data")
    row = row_of(array.dtype, name)
    address = array.__array_interface__["data"][0]
    flags = array.flags
    described = ArrayArgument(
        row,
        array.shape,
        array.strides,
        address,
        not flags.writeable,
        flags.c_contiguous,
        "host",
        array,
    )
    check_places(described, name)
    return described


def _of_interface(
    owner: object, interface: Mapping[str, Any], where: Where, name: str
) -> ArrayArgument:
    """From either array interface: they are alike but for ``stream``."""
    if interface.get("mask") is not None:
        raise LaunchError(f"{name} has a mask, and kernels have none")
    data = interface.get("data")
    if not isinstance(data, tuple):
        raise LaunchError(f"{name} does not say where its data lies: pass numpy.asarray(…)")
    row = row_of(numpy_dtype(interface), name)
    shape = tuple(map(operator.index, interface["shape"]))
    given = interface.get("strides") or packed_strides(shape, row.size)
    strides = tuple(map(operator.index, given))
    described = ArrayArgument(
        row,
        shape,
        strides,
        operator.index(data[0] or 0),
        bool(data[1]),
        is_contiguous(shape, strides, row.size),
        where,
        owner,
        interface.get("stream"),
    )
    check_places(described, name)
    return described


def numpy_dtype(interface: Mapping[str, Any]) -> np.dtype[Any]:
    """Of a structured dtype the type's string tells the size, and the description its fields."""
    dtype: np.dtype[Any] = np.dtype(interface["typestr"])
    fields = interface.get("descr")
    if not fields or dtype.kind != "V":
        return dtype
    found: np.dtype[Any] = np.lib.format.descr_to_dtype([tuple(f) for f in fields])  # with gaps
    return found


def row_of(dtype: np.dtype[Any], name: str) -> DType:
    """The type of elements that a numpy dtype is. Raises LaunchError."""
    row = _row_of(dtype)
    if row is not None:
        return row
    if not dtype.isnative and dtypes.from_numpy(dtype.newbyteorder("=")):
        raise LaunchError(
            f"{name} is in the other byte order ({dtype.str}): "
            f"pass what .astype({dtype.newbyteorder('=').str!r}) gives"
        )
    if dtype.names:
        raise LaunchError(f"{name} has {_misfit(dtype)}")
    known = ", ".join(row.name for row in dtypes.DTYPES)
    cure = _INSTEAD_OF_KIND.get(dtype.kind)
    advice = f"pass what {cure} gives" if cure else f"they have {known}"
    raise LaunchError(f"{name} has dtype {dtype}, which kernels do not have: {advice}")


_INSTEAD_OF_KIND = {  # numpy's kinds of dtypes
    "O": ".astype(np.float64), or another dtype of numbers,",
    "M": '.view("int64")',
    "m": '.view("int64")',
    "f": '.astype("float64")',
    "c": '.astype("complex128")',
    "S": '.view("uint8")',
    "U": '.view("uint32")',
}


def _misfit(dtype: np.dtype[Any]) -> str:
    """Which field of a structured dtype is none that kernels have."""
    places: Mapping[str, Any] = dtype.fields or {}
    for field, (part, *_) in places.items():
        if dtypes.from_numpy(part.base) is not None and 0 not in part.shape:
            continue
        if part.base.names:
            return _misfit(part.base)
        return f"the field {field!r} of {part}, which kernels do not have"
    return "fields that lie over one another: pass a view of it without some of them"


def check_places(array: ArrayArgument, name: str) -> None:
    """Kernels count in elements: each must lie where its type may, whole elements apart. Raises
    LaunchError."""
    itemsize = array.dtype.size
    if not 1 <= len(array.shape) <= MOST_AXES:
        cure = ": pass a number, as [()] gives, or .reshape(1)" if not array.shape else ""
        raise LaunchError(
            f"{name} has {len(array.shape)} axes, and arrays of kernels have 1 to {MOST_AXES}{cure}"
        )
    steps = [] if array.contiguous else _steps(array)
    if array.address % array.dtype.alignment:
        raise LaunchError(
            f"{name} does not begin at a multiple of {array.dtype.alignment} bytes, as memory of "
            f"{array.dtype} must: pass a copy, as .copy() makes one"
        )
    odd = [step for step in steps if step % itemsize]
    if odd:
        raise LaunchError(
            f"{name} has elements of {itemsize} bytes in steps of {odd[0]} bytes, which is not a "
            "multiple: pass a copy, as .copy() makes one"
        )


def _steps(array: ArrayArgument) -> list[int]:
    """The strides that count: along an axis of one element nobody walks."""
    return [s for s, n in zip(array.strides, array.shape) if n > 1]


# ---- packing -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Layout:
    """How the flat parameters of a kernel lie in memory: as in a C struct of them."""

    parameters: tuple[Parameter, ...]
    struct: struct.Struct
    sizes: tuple[int, ...]
    alignments: tuple[int, ...]
    special: bool = False  # whether some values are not packed as they are

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where each parameter starts."""
        offsets, end = [], 0
        for size, alignment in zip(self.sizes, self.alignments):
            start = -(-end // alignment) * alignment
            offsets.append(start)
            end = start + size
        return tuple(offsets)


def layout_of(parameters: Sequence[Parameter], aligned: Sequence[int] | None = None) -> Layout:
    """The layout of a flat parameter list (after ``passes/flatten``). ``aligned``: the alignment
    of each, where that does not follow from its type."""
    formats = [_format(p) for p in parameters]
    sizes = tuple(struct.calcsize(f"@{f}") for f in formats)
    alignments = tuple(aligned or map(_alignment, parameters, sizes))
    padded, end = "@", 0
    for text, size, alignment in zip(formats, sizes, alignments):  # struct knows no vectors
        gap = -end % alignment
        padded += f"{gap}x{text}" if gap else text
        end += gap + size
    special = any(_is_special(p) for p in parameters)
    return Layout(tuple(parameters), struct.Struct(padded), sizes, alignments, special)


def _alignment(parameter: Parameter, size: int) -> int:
    is_number = parameter.part is Part.VALUE and isinstance(parameter.type, Scalar)
    return parameter.type.dtype.alignment if is_number else size


def _is_special(parameter: Parameter) -> bool:
    dtype = parameter.type.dtype
    return parameter.part is Part.VALUE and bool(dtype.fields or dtype is dtypes.BFLOAT16)


def _spread(layout: Layout, values: list[Any]) -> list[Any]:
    """What struct has no letter for: complex numbers as two floats, vectors as their components,
    bfloat16 as its bits."""
    out: list[Any] = []
    for parameter, value in zip(layout.parameters, values):
        out += _parts(parameter, value)
    return out


def _parts(parameter: Parameter, value: Any) -> tuple[Any, ...]:
    kind = parameter.type
    if parameter.part is not Part.VALUE or not isinstance(kind, Scalar):
        return (value,)
    if kind.dtype.is_vector:
        parts = tuple(part.item() for part in as_vector(value, kind.dtype))
        of_bits = kind.dtype.fields[0].dtype is dtypes.BFLOAT16
        return tuple(map(_bits_of_bfloat16, parts)) if of_bits else parts
    if kind.dtype.is_complex:
        number = complex(value)
        return number.real, number.imag
    if kind.dtype is dtypes.BFLOAT16:
        return (_bits_of_bfloat16(float(value)),)
    return (value,)


def _bits_of_bfloat16(value: float) -> int:
    """The upper half of a float32, rounded to the even one of two."""
    bits = int(np.float32(value).view(np.uint32))
    if value != value:
        return bits >> 16 | 0x40
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def _format(parameter: Parameter) -> str:
    if parameter.part is Part.DATA:
        return "P"
    assert isinstance(parameter.type, Scalar), f"{parameter.name} is not flat"
    return parameter.type.dtype.pack


def pack(layout: Layout, arguments: Sequence[Argument], addresses: Sequence[int]) -> bytes:
    """The bytes of a launch. ``addresses[i]`` is where argument ``i`` lies, if it is an array; of a
    texture its handle."""
    values = [_value(p, arguments, addresses) for p in layout.parameters]
    try:
        return layout.struct.pack(*(_spread(layout, values) if layout.special else values))
    except (struct.error, OverflowError, TypeError):  # the rare ones that need a conversion
        converted = [_converted(p, value) for p, value in zip(layout.parameters, values)]
        return layout.struct.pack(*_spread(layout, converted))


def _value(parameter: Parameter, arguments: Sequence[Argument], addresses: Sequence[int]) -> Number:
    position = parameter.argument
    argument = arguments[position]
    if parameter.part is Part.DATA or isinstance(argument, HandleArgument):
        return addresses[position]
    if parameter.part is Part.VALUE:
        assert not isinstance(argument, ArrayArgument), f"{parameter.name} takes a number"
        return argument
    assert isinstance(argument, ArrayArgument), f"{parameter.name} is of an array"
    if parameter.part is Part.SHAPE:
        return argument.shape[parameter.axis]
    return argument.strides[parameter.axis] // argument.dtype.size


def _converted(parameter: Parameter, value: Number) -> Number:
    """A number as its parameter has it, if nothing is lost."""
    if parameter.part is not Part.VALUE or parameter.type.dtype.fields:
        return value
    assert isinstance(parameter.type, Scalar)
    plain: bool | int | float = value.item() if isinstance(value, np.generic) else value
    row = parameter.type.dtype
    if not row.is_integer:
        converted = convert(_as_float(plain), Scalar(row))
        return bool(converted) if row.kind is Kind.BOOL else float(converted)
    if plain != plain // 1 or not row.minimum <= plain <= row.maximum:  # NaN differs from itself
        cure = f": pass numpy.uint64({plain})" if 0 < plain <= dtypes.UINT64.maximum else ""
        raise LaunchError(f"{parameter.name} is {row}, which cannot hold {plain}{cure}")
    return int(plain)


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an int beyond float64
        return math.copysign(math.inf, value > 0 or -1)
