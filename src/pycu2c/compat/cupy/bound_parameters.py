"""Declare the C parameters of a kernel for the argument types of a call.

A kernel has a pointer or a number for each of the user's parameters, and then the sizes that its
text uses: strides in elements, lengths of axes, numbers of elements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.dtypes import DType
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, Scalar
from pycu2c.compat.cupy.parameter_declarations import ParameterInfo, c_name, names_in
from pycu2c.runtime.arguments.array_argument import ArrayArgument

# the stride along an axis: 0, one element, or a parameter of the kernel
StrideKind: TypeAlias = Literal["broadcast", "unit", "strided"]
Sizes: TypeAlias = dict[str, int]  # the numbers that a text may use, by their names


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
    """A parameter of the generated kernel. ``is_size``: a number that depends on the call."""

    ctype: str
    parameter: Parameter
    is_size: bool = False

    @property
    def declaration(self) -> str:
        space = "" if self.ctype.endswith("*") else " "
        return f"{self.ctype}{space}{self.parameter.name}"


def pointer_names(inputs: Sequence[ParameterInfo], outputs: Sequence[ParameterInfo]) -> list[str]:
    """Return distinct names for array pointers, because an output may be named like an input."""
    output_names = {p.name for p in outputs}
    names = [f"_in_{p.name}" if p.name in output_names else f"_raw_{p.name}" for p in inputs]
    return names + [f"_raw_{p.name}" for p in outputs]


def used_fields(
    bound_parameters: Sequence[BoundParameter],
    sizes: Mapping[str, DType],
    workspace: Mapping[str, tuple[str, DType]],
    body: Sequence[str],
) -> tuple[KernelField, ...]:
    """Return the parameters that a body names: the user's, sizes, and pointers to workspace."""
    fields = []
    for position, bound in enumerate(bound_parameters):
        if bound.kind == "number":
            number = Parameter(bound.name, Scalar(bound.dtype), position)
            fields.append(KernelField(f"const {bound.ctype}", number))
        else:
            fields.append(_pointer(bound.pointer, bound.element, bound.dtype, position))
    names = names_in(*body)
    fields = [field for field in fields if field.parameter.name in names]
    used = [name for name in sizes if name in names]
    count = len(bound_parameters)
    for position, name in enumerate(used, count):
        ctype = "ptrdiff_t" if sizes[name] is dtypes.INT64 else sizes[name].cuda
        size = Parameter(name, Scalar(sizes[name]), position)
        fields.append(KernelField(f"const {ctype}", size, is_size=True))
    for position, (name, (ctype, dtype)) in enumerate(workspace.items(), count + len(used)):
        fields.append(_pointer(name, ctype, dtype, position))
    return tuple(fields)


def _pointer(name: str, element: str, dtype: DType, position: int) -> KernelField:
    array = Array(dtype, 1, "A")
    return KernelField(f"{element} *", Parameter(name, array, position, ArgumentPart.DATA))


# ---- sizes ---------------------------------------------------------------------------------------


def stride_name(name: str, axis: int) -> str:
    return f"_{name}_s{axis}"


def extent_name(axis: int) -> str:
    return f"_n{axis}"


def size_dtypes(
    bound_parameters: Sequence[BoundParameter], stride_dtype: DType
) -> dict[str, DType]:
    """Return the dtypes of the strides of arrays, and of the lengths and strides of raw arrays."""
    found = {
        stride_name(bound.name, axis): stride_dtype
        for bound in bound_parameters
        for axis, stride in enumerate(bound.strides)
        if stride == "strided"
    }
    raw = [bound for bound in bound_parameters if bound.kind == "raw"]
    for bound in raw:
        found |= {f"_{bound.name}_{c}{k}": dtypes.INT64 for c in "ns" for k in range(bound.axes)}
    return found


def stride_sizes(name: str, strides: Sequence[int], itemsize: int) -> Sizes:
    """Return the strides of an array in elements, by their names."""
    return {stride_name(name, axis): stride // itemsize for axis, stride in enumerate(strides)}


def raw_array_sizes(
    bound_parameters: Sequence[BoundParameter], operands: Sequence[object]
) -> Sizes:
    """Return the lengths and strides of raw arrays along all axes."""
    found: Sizes = {}
    for bound, array in zip(bound_parameters, operands):
        if bound.kind == "raw" and isinstance(array, ArrayArgument):
            found |= {f"_{bound.name}_n{axis}": n for axis, n in enumerate(array.shape)}
            found |= stride_sizes(bound.name, array.strides, array.dtype.size)
    return found


def split_index(
    index: str, first: int, count: int, ctype: str, name: str, left_ctype: str = "ptrdiff_t"
) -> list[str]:
    """Split a linear index into indices of type ``ctype``, ``name0``, …, along ``count`` axes.

    Along one axis, the linear index is the index.
    """
    if count == 1:
        return []
    left = f"{name}_left"
    lines = [f"{left_ctype} {left} = {index};"]
    for axis in range(count - 1, 0, -1):
        extent = extent_name(first + axis)
        lines.append(f"const {ctype} {name}{axis} = {left} % {extent};")
        lines.append(f"{left} /= {extent};")
    return [*lines, f"const {ctype} {name}0 = {left};"]


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
