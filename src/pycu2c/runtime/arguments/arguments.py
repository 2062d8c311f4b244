"""Python arguments -> the bytes that a kernel reads. Knows no device and no launch.

An array is seen through one form, whoever owns it; a number is checked against the parameter
that takes it. What cannot be passed is a LaunchError that names the argument.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.dtypes import DType
from pycu2c.base.limits import MOST_AXES
from pycu2c.base.parameters import Parameter, Part
from pycu2c.base.records import NamedTuple, dataclass
from pycu2c.base.types import Array, Scalar, scalar_of
from pycu2c.base.values import Number
from pycu2c.runtime.arguments import (
    argument_errors,
    array_interface,
    dlpack_arguments,
    scalar_packing,
)

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


def whole(number: Argument) -> int:
    """An argument that is a whole number, as Python's."""
    assert not isinstance(number, (ArrayArgument, HandleArgument))
    return int(number)  # of numpy's numbers, too: the absolute value of the least is none of them


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
        return array_interface.describe(obj, interface, "device", name)
    interface = getattr(obj, "__array_interface__", None)
    if interface is not None:
        return array_interface.describe(obj, interface, "host", name)
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


def row_of(dtype: np.dtype[Any], name: str) -> DType:
    """The type of elements that a numpy dtype is. Raises LaunchError."""
    row = _row_of(dtype)
    if row is not None:
        return row
    argument_errors.refuse_dtype(dtype, name)


def check_places(array: ArrayArgument, name: str) -> None:
    """Kernels count in elements: each must lie where its type may, whole elements apart. Raises
    LaunchError."""
    dtype = array.dtype
    odd = [] if array.contiguous else [step for step in _steps(array) if step % dtype.size]
    if odd or array.address % dtype.alignment or not 1 <= len(array.shape) <= MOST_AXES:
        argument_errors.refuse_place(array, odd, name)


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
    """The layout of a flat parameter list (after ``transforms/common/flatten_arrays``). ``aligned``: the alignment
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


def _format(parameter: Parameter) -> str:
    if parameter.part is Part.DATA:
        return "P"
    assert isinstance(parameter.type, Scalar), f"{parameter.name} is not flat"
    return parameter.type.dtype.pack


def pack(layout: Layout, arguments: Sequence[Argument], addresses: Sequence[int]) -> bytes:
    """The bytes of a launch. ``addresses[i]`` is where argument ``i`` lies, if it is an array; of a
    texture its handle."""
    parameters = layout.parameters
    values = [_value(p, arguments, addresses) for p in parameters]
    try:
        if layout.special:
            return layout.struct.pack(*scalar_packing.spread(parameters, values))
        return layout.struct.pack(*values)
    except (struct.error, OverflowError, TypeError):  # the rare ones that need a conversion
        converted = [scalar_packing.converted(p, value) for p, value in zip(parameters, values)]
        return layout.struct.pack(*scalar_packing.spread(parameters, converted))


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
