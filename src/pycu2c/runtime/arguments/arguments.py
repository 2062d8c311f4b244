"""Describe Python arguments and pack them into the parameter buffer of a kernel.

Arrays of all packages are described by ``ArrayArgument``. Numbers are checked against the types of
their parameters. Unsupported arguments raise a LaunchError that names the argument.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, Scalar, scalar_of
from pycu2c.base.values import Number, as_vector, bfloat16_bits, convert
from pycu2c.runtime.arguments import array_interface, dlpack_arguments, torch_tensors
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, HandleArgument
from pycu2c.runtime.arguments.array_checks import check_layout, dtype_of
from pycu2c.runtime.arguments.conversion_hints import conversion_hint


def describe_handle(obj: object) -> HandleArgument | None:
    """Describe a texture or surface; None if ``obj`` is neither."""
    if hasattr(type(obj), "__pycu2c_handle__"):
        return HandleArgument(obj.type.dtype, obj)  # type: ignore[attr-defined]
    return None


def type_of(obj: object, name: str = "argument") -> Scalar | Array | None:
    """Return the type of an argument in a kernel; None if kernels do not support it."""
    scalar = scalar_of(obj)
    if scalar is not None:
        return scalar
    handle = describe_handle(obj)
    if handle is not None:
        return handle.type
    array = describe(obj, name)
    return array.type if array else None


def describe(obj: object, name: str = "argument") -> ArrayArgument | None:
    """Describe an array; None if ``obj`` is not an array. ``name`` is used in errors."""
    if isinstance(obj, np.ndarray):
        return _describe_numpy(obj, name)
    if isinstance(obj, (int, float, np.generic)):  # numpy scalars have an array interface
        return None
    describe_own = getattr(obj, "__pycu2c_array__", None)
    if describe_own is not None:
        array: ArrayArgument = describe_own(name)
        return array
    if torch_tensors.is_tensor(obj):
        return torch_tensors.describe(obj, name)
    interface = getattr(obj, "__cuda_array_interface__", None)
    if interface is not None:
        return array_interface.describe(obj, interface, "device", name)
    interface = getattr(obj, "__array_interface__", None)
    if interface is not None:
        return array_interface.describe(obj, interface, "host", name)
    return dlpack_arguments.describe(obj, name) if hasattr(obj, "__dlpack__") else None


def _describe_numpy(array: np.ndarray[Any, Any], name: str) -> ArrayArgument:
    if type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray):
        raise LaunchError(
            f"{name} is a masked array; kernels have no masks{conversion_hint(array)}"
        )
    dtype = dtype_of(array.dtype, name)
    address = array.__array_interface__["data"][0]
    flags = array.flags
    described = ArrayArgument(
        dtype,
        array.shape,
        array.strides,
        address,
        not flags.writeable,
        flags.c_contiguous,
        "host",
        array,
    )
    check_layout(described, name)
    return described


# ---- packing -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Layout:
    """The memory layout of the flat parameters of a kernel, as a C struct."""

    parameters: tuple[Parameter, ...]
    struct: struct.Struct
    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    alignments: tuple[int, ...]
    needs_conversion: bool = False  # some values must be converted before struct.pack

    def __reduce__(self) -> tuple[object, ...]:
        return layout_of, (self.parameters, self.alignments)


def layout_of(parameters: Sequence[Parameter], aligned: Sequence[int] | None = None) -> Layout:
    """Return the layout of flat parameters (after ``transforms.common.flatten_arrays``).

    ``aligned``: the alignment of each, if it does not follow from the type.
    """
    formats = [_format(p) for p in parameters]
    sizes = tuple(struct.calcsize(f"@{f}") for f in formats)
    alignments = tuple(aligned or map(_alignment, parameters, sizes))
    padded, end = "@", 0
    offsets = []
    for code, size, alignment in zip(formats, sizes, alignments):  # struct has no vector types
        gap = -end % alignment
        padded += f"{gap}x{code}" if gap else code
        offsets.append(end + gap)
        end += gap + size
    return Layout(
        tuple(parameters),
        struct.Struct(padded),
        tuple(offsets),
        sizes,
        alignments,
        any(map(_needs_conversion, parameters)),
    )


def _alignment(parameter: Parameter, size: int) -> int:
    is_number = parameter.part is ArgumentPart.VALUE and isinstance(parameter.type, Scalar)
    return parameter.type.dtype.alignment if is_number else size


def _needs_conversion(parameter: Parameter) -> bool:
    dtype = parameter.type.dtype
    return parameter.part is ArgumentPart.VALUE and bool(dtype.fields or dtype is dtypes.BFLOAT16)


def _format(parameter: Parameter) -> str:
    """Return the format code of ``struct`` for a parameter."""
    if parameter.part is ArgumentPart.DATA:
        return "P"
    assert isinstance(parameter.type, Scalar), f"{parameter.name} is not flat"
    return parameter.type.dtype.pack


def pack(layout: Layout, arguments: Sequence[Argument], addresses: Sequence[int]) -> bytes:
    """Pack the arguments of a launch.

    ``addresses[i]`` is the address of argument ``i`` if it is an array, or the handle of a texture.
    """
    parameters = layout.parameters
    values = [_value(p, arguments, addresses) for p in parameters]
    try:
        if layout.needs_conversion:
            return layout.struct.pack(*_split_components(parameters, values))
        return layout.struct.pack(*values)
    except (struct.error, OverflowError, TypeError):  # some numbers need a conversion
        converted = [_convert(p, value) for p, value in zip(parameters, values)]
        return layout.struct.pack(*_split_components(parameters, converted))


def _value(parameter: Parameter, arguments: Sequence[Argument], addresses: Sequence[int]) -> Number:
    position = parameter.argument
    argument = arguments[position]
    if parameter.part is ArgumentPart.DATA or isinstance(argument, HandleArgument):
        return addresses[position]
    if parameter.part is ArgumentPart.VALUE:
        assert not isinstance(argument, ArrayArgument), f"{parameter.name} takes a number"
        return argument
    assert isinstance(argument, ArrayArgument), f"{parameter.name} describes an array"
    if parameter.part is ArgumentPart.SHAPE:
        return argument.shape[parameter.axis]
    return argument.strides[parameter.axis] // argument.dtype.size


def _split_components(parameters: Sequence[Parameter], values: Sequence[Any]) -> list[Any]:
    """Split complex numbers and vectors into components; convert bfloat16 to its bits."""
    out: list[Any] = []
    for parameter, value in zip(parameters, values):
        out += _components(parameter, value)
    return out


def _components(parameter: Parameter, value: Any) -> tuple[Any, ...]:
    parameter_type = parameter.type
    if parameter.part is not ArgumentPart.VALUE or not isinstance(parameter_type, Scalar):
        return (value,)
    if parameter_type.dtype.is_vector:
        components = tuple(component.item() for component in as_vector(value, parameter_type.dtype))
        is_bfloat16 = parameter_type.dtype.fields[0].dtype is dtypes.BFLOAT16
        return tuple(map(bfloat16_bits, components)) if is_bfloat16 else components
    if parameter_type.dtype.is_complex:
        number = complex(value)
        return number.real, number.imag
    if parameter_type.dtype is dtypes.BFLOAT16:
        return (bfloat16_bits(float(value)),)
    return (value,)


def _convert(parameter: Parameter, value: Number) -> Number:
    """Convert a number to the type of its parameter. Raises LaunchError if it does not fit."""
    if parameter.part is not ArgumentPart.VALUE or parameter.type.dtype.fields:
        return value
    assert isinstance(parameter.type, Scalar)
    python_value: bool | int | float = value.item() if isinstance(value, np.generic) else value
    dtype = parameter.type.dtype
    if not dtype.is_integer:
        number = convert(_as_float(python_value), Scalar(dtype))
        return bool(number) if dtype.kind is DTypeKind.BOOL else float(number)
    is_fraction = python_value != python_value // 1  # also true for NaN
    if is_fraction or not dtype.minimum <= python_value <= dtype.maximum:
        hint = (
            f": pass numpy.uint64({python_value})"
            if 0 < python_value <= dtypes.UINT64.maximum
            else ""
        )
        raise LaunchError(f"{parameter.name} is {dtype}, which cannot hold {python_value}{hint}")
    return int(python_value)


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an int that exceeds the range of float64
        return math.inf if value > 0 else -math.inf
