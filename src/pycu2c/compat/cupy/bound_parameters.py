"""Declare the C parameters of a kernel for the argument types of a call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.dtypes import DType
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, Scalar
from pycu2c.compat.cupy.parameter_declarations import ParameterInfo, c_name

# the stride along an axis: 0, one element, or a parameter of the kernel
StrideKind: TypeAlias = Literal["broadcast", "unit", "strided"]


@dataclass(frozen=True, slots=True)
class BoundParameter:
    """A parameter with the types of a call.

    strides: the kind of stride along each axis of the iteration space; empty for a raw array.
    axes: the number of axes of a raw array. is_contiguous: whether it is C-contiguous.
    """

    info: ParameterInfo
    dtype: DType
    kind: Literal["array", "raw", "number"]
    pointer: str = ""
    strides: tuple[StrideKind, ...] = ()
    axes: int = 0
    is_contiguous: bool = False

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def ctype(self) -> str:
        return self.info.ctype

    @property
    def element(self) -> str:
        """Return the C type of an element, with ``const`` for inputs."""
        return f"const {self.ctype}" if self.info.is_const else self.ctype


class KernelField(NamedTuple):
    """A parameter of the generated kernel."""

    ctype: str
    parameter: Parameter

    @property
    def declaration(self) -> str:
        space = "" if self.ctype.endswith("*") else " "
        return f"{self.ctype}{space}{self.parameter.name}"


def pointer_names(inputs: Sequence[ParameterInfo], outputs: Sequence[ParameterInfo]) -> list[str]:
    """Return distinct names for array pointers, because an output may be named like an input."""
    output_names = {p.name for p in outputs}
    names = [f"_in_{p.name}" if p.name in output_names else f"_raw_{p.name}" for p in inputs]
    return names + [f"_raw_{p.name}" for p in outputs]


def kernel_fields(
    bound_parameters: Sequence[BoundParameter], stride_dtype: DType
) -> Iterator[KernelField]:
    """Yield the parameters of the generated kernel for the user's parameters."""
    for position, bound in enumerate(bound_parameters):
        if bound.kind == "number":
            number = Parameter(bound.name, Scalar(bound.dtype), position)
            yield KernelField(f"const {bound.ctype}", number)
            continue
        array = Array(bound.dtype, 1, "A")
        yield KernelField(
            f"{bound.element} *", Parameter(bound.pointer, array, position, ArgumentPart.DATA)
        )
        if bound.kind == "array":
            axes = (axis for axis, stride in enumerate(bound.strides) if stride == "strided")
            yield from (_stride_field(bound, position, axis, stride_dtype) for axis in axes)
        else:
            yield from _raw_array_fields(bound, position)


def _raw_array_fields(bound: BoundParameter, position: int) -> Iterator[KernelField]:
    """Yield the lengths, then the strides, of a raw array along all axes."""
    for part, letter in ((ArgumentPart.SHAPE, "n"), (ArgumentPart.STRIDE, "s")):
        for axis in range(bound.axes):
            name = f"_{bound.name}_{letter}{axis}"
            parameter = Parameter(name, Scalar(dtypes.INT64), position, part, axis)
            yield KernelField("const ptrdiff_t", parameter)


def _stride_field(
    bound: BoundParameter, position: int, axis: int, stride_dtype: DType
) -> KernelField:
    name = stride_name(bound.name, axis)
    return KernelField(
        f"const {stride_dtype.cuda}",
        Parameter(name, Scalar(stride_dtype), position, ArgumentPart.STRIDE, axis),
    )


def number_field(name: str, dtype: DType, position: int, ctype: str = "") -> KernelField:
    """Return a field for a number that depends on the call."""
    return KernelField(f"const {ctype or dtype.cuda}", Parameter(name, Scalar(dtype), position))


def stride_name(name: str, axis: int) -> str:
    return f"_{name}_s{axis}"


def extent_name(axis: int) -> str:
    return f"_n{axis}"


def offset(bound: BoundParameter, indices: Sequence[str], first_axis: int = 0) -> str:
    """Return the offset of an element as a C expression; the empty string for 0.

    ``indices`` are C expressions of its indices along the axes from ``first_axis`` on.
    """
    terms = [
        index if stride == "unit" else f"{index} * {stride_name(bound.name, axis)}"
        for axis, (index, stride) in enumerate(zip(indices, bound.strides[first_axis:]), first_axis)
        if stride != "broadcast"
    ]
    return " + ".join(terms)


def raw_array_views(bound_parameters: Sequence[BoundParameter]) -> list[str]:
    """Return the C declarations of the raw arrays, which the user's text indexes itself."""
    return [_raw_array_view(bound) for bound in bound_parameters if bound.kind == "raw"]


def _raw_array_view(bound: BoundParameter) -> str:
    ctype = f"CArray<{bound.element}, {bound.axes}{', true' if bound.is_contiguous else ''}>"
    shape, strides = (
        ", ".join(f"_{bound.name}_{letter}{axis}" for axis in range(bound.axes)) for letter in "ns"
    )
    return f"const {ctype} {bound.name} = {{{bound.pointer}, {{{shape}}}, {{{strides}}}}};"


def typedefs(placeholders: Sequence[tuple[str, DType]]) -> list[str]:
    return [f"typedef {c_name(dtype)} {name};" for name, dtype in placeholders]


def dtypes_of(bound_parameters: Sequence[BoundParameter]) -> tuple[np.dtype[np.generic], ...]:
    """Return the dtypes of the arrays."""
    return tuple(bound.dtype.numpy for bound in bound_parameters if bound.kind != "number")
