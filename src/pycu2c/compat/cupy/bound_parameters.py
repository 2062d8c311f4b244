"""Declare the parameters of a kernel, in C, for the argument types of a call."""

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

StrideKind: TypeAlias = Literal["unit", "none", "any"]  # the stride along an axis; none is 0


@dataclass(frozen=True, slots=True)
class BoundParameter:
    """A parameter with the types of a call.

    steps: the strides along each axis of the iteration space; empty for a raw array.
    axes, packed: the number of axes of a raw array, and whether it is contiguous.
    """

    info: ParameterInfo
    row: DType
    kind: Literal["array", "raw", "number"]
    pointer: str = ""
    steps: tuple[StrideKind, ...] = ()
    axes: int = 0
    packed: bool = False

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def ctype(self) -> str:
        return self.info.ctype

    @property
    def element(self) -> str:
        """Return the element type of the pointer."""
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
    """Return the names of array pointers: an output may have the name of an input."""
    own = {p.name for p in outputs}
    found = [f"_in_{p.name}" if p.name in own else f"_raw_{p.name}" for p in inputs]
    return found + [f"_raw_{p.name}" for p in outputs]


def kernel_fields(bounds: Sequence[BoundParameter], index: DType) -> Iterator[KernelField]:
    """Yield the fields of the parameters; ``index`` is the type of strides."""
    for position, bound in enumerate(bounds):
        if bound.kind == "number":
            made = Parameter(bound.name, Scalar(bound.row), position)
            yield KernelField(f"const {bound.ctype}", made)
            continue
        form = Array(bound.row, 1, "A")
        yield KernelField(
            f"{bound.element} *", Parameter(bound.pointer, form, position, ArgumentPart.DATA)
        )
        if bound.kind == "array":
            moving = (axis for axis, step in enumerate(bound.steps) if step == "any")
            yield from (_stride_field(bound, position, axis, index) for axis in moving)
        else:
            yield from _raw_array_fields(bound, position)


def _stride_field(bound: BoundParameter, position: int, axis: int, index: DType) -> KernelField:
    name = stride_name(bound.name, axis)
    return KernelField(
        f"const {index.cuda}", Parameter(name, Scalar(index), position, ArgumentPart.STRIDE, axis)
    )


def _raw_array_fields(bound: BoundParameter, position: int) -> Iterator[KernelField]:
    """Yield the fields for shape and strides of a raw array."""
    kind = Scalar(dtypes.INT64)
    for part, word in ((ArgumentPart.SHAPE, "n"), (ArgumentPart.STRIDE, "s")):
        for axis in range(bound.axes):
            name = f"_{bound.name}_{word}{axis}"
            yield KernelField("const ptrdiff_t", Parameter(name, kind, position, part, axis))


def number_field(name: str, row: DType, position: int, ctype: str = "") -> KernelField:
    """Return a field for a number that depends on the call."""
    return KernelField(f"const {ctype or row.cuda}", Parameter(name, Scalar(row), position))


def stride_name(name: str, axis: int) -> str:
    return f"_{name}_s{axis}"


def extent_name(axis: int) -> str:
    return f"_n{axis}"


def offset(bound: BoundParameter, places: Sequence[str]) -> str:
    """Return the offset of an element, from its index along each axis; empty for 0."""
    terms = [
        place if step == "unit" else f"{place} * {stride_name(bound.name, axis)}"
        for axis, (place, step) in enumerate(zip(places, bound.steps))
        if step != "none"
    ]
    return " + ".join(terms)


def raw_array_views(bounds: Sequence[BoundParameter]) -> list[str]:
    """Return the declarations of raw arrays, with the names that the user's text uses."""
    found = []
    for bound in bounds:
        if bound.kind == "raw":
            packed = ", true" if bound.packed else ""
            parts = [f"{{{_axis_names(bound, 'n')}}}", f"{{{_axis_names(bound, 's')}}}"]
            form = f"CArray<{bound.element}, {bound.axes}{packed}>"
            found.append(f"const {form} {bound.name} = {{{bound.pointer}, {', '.join(parts)}}};")
    return found


def _axis_names(bound: BoundParameter, word: str) -> str:
    return ", ".join(f"_{bound.name}_{word}{axis}" for axis in range(bound.axes))


def typedefs(placeholders: Sequence[tuple[str, DType]]) -> list[str]:
    return [f"typedef {c_name(row)} {name};" for name, row in placeholders]


def dtypes_of(bounds: Sequence[BoundParameter]) -> tuple[np.dtype[np.generic], ...]:
    """Return the dtypes of the arrays."""
    return tuple(bound.row.numpy for bound in bounds if bound.kind != "number")
