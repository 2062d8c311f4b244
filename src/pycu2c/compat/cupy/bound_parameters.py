"""The parameters of a kernel in a call of certain types: what they are in C, and what is passed for
them. Knows no arrays, and neither dialect of the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.dtypes import DType
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.records import NamedTuple, dataclass
from pycu2c.base.types import Array, Scalar
from pycu2c.compat.cupy.parameter_declarations import ParameterInfo, c_name

Step: TypeAlias = Literal["unit", "none", "any"]  # from an element to the next along an axis


@dataclass(frozen=True, slots=True)
class Bound:
    """A parameter of a call. ``steps``: of an array along each axis of the walk; of a raw one they
    are empty, ``axes`` tells how many it has, ``packed`` whether it is contiguous."""

    info: ParameterInfo
    row: DType
    kind: Literal["array", "raw", "number"]
    pointer: str = ""
    steps: tuple[Step, ...] = ()
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
        """The type of the elements that the pointer leads to."""
        return f"const {self.ctype}" if self.info.is_const else self.ctype


class Field(NamedTuple):
    """A parameter of the kernel in C."""

    ctype: str
    parameter: Parameter

    @property
    def declaration(self) -> str:
        space = "" if self.ctype.endswith("*") else " "
        return f"{self.ctype}{space}{self.parameter.name}"


def pointer_names(inputs: Sequence[ParameterInfo], outputs: Sequence[ParameterInfo]) -> list[str]:
    """What the pointers of arrays are called: an output may have the name of an input."""
    own = {p.name for p in outputs}
    found = [f"_in_{p.name}" if p.name in own else f"_raw_{p.name}" for p in inputs]
    return found + [f"_raw_{p.name}" for p in outputs]


def fields(bounds: Sequence[Bound], index: DType) -> Iterator[Field]:
    """What is passed for the parameters; ``index`` is the type of strides."""
    for position, bound in enumerate(bounds):
        if bound.kind == "number":
            made = Parameter(bound.name, Scalar(bound.row), position)
            yield Field(f"const {bound.ctype}", made)
            continue
        form = Array(bound.row, 1, "A")
        yield Field(
            f"{bound.element} *", Parameter(bound.pointer, form, position, ArgumentPart.DATA)
        )
        if bound.kind == "array":
            moving = (axis for axis, step in enumerate(bound.steps) if step == "any")
            yield from (_step(bound, position, axis, index) for axis in moving)
        else:
            yield from _form(bound, position)


def _step(bound: Bound, position: int, axis: int, index: DType) -> Field:
    name = stride_name(bound.name, axis)
    return Field(
        f"const {index.cuda}", Parameter(name, Scalar(index), position, ArgumentPart.STRIDE, axis)
    )


def _form(bound: Bound, position: int) -> Iterator[Field]:
    """The shape and strides of a raw array."""
    kind = Scalar(dtypes.INT64)
    for part, word in ((ArgumentPart.SHAPE, "n"), (ArgumentPart.STRIDE, "s")):
        for axis in range(bound.axes):
            name = f"_{bound.name}_{word}{axis}"
            yield Field("const ptrdiff_t", Parameter(name, kind, position, part, axis))


def number_field(name: str, row: DType, position: int, ctype: str = "") -> Field:
    """A number that follows from the call."""
    return Field(f"const {ctype or row.cuda}", Parameter(name, Scalar(row), position))


def stride_name(name: str, axis: int) -> str:
    return f"_{name}_s{axis}"


def extent_name(axis: int) -> str:
    return f"_n{axis}"


def offset(bound: Bound, places: Sequence[str]) -> str:
    """Where an element lies in elements, by its place along each axis; empty for the first."""
    terms = [
        place if step == "unit" else f"{place} * {stride_name(bound.name, axis)}"
        for axis, (place, step) in enumerate(zip(places, bound.steps))
        if step != "none"
    ]
    return " + ".join(terms)


def views_of_raw(bounds: Sequence[Bound]) -> list[str]:
    """The declarations of raw arrays, under the names that the text knows them by."""
    found = []
    for bound in bounds:
        if bound.kind == "raw":
            packed = ", true" if bound.packed else ""
            parts = [f"{{{_of_axes(bound, 'n')}}}", f"{{{_of_axes(bound, 's')}}}"]
            form = f"CArray<{bound.element}, {bound.axes}{packed}>"
            found.append(f"const {form} {bound.name} = {{{bound.pointer}, {', '.join(parts)}}};")
    return found


def _of_axes(bound: Bound, word: str) -> str:
    return ", ".join(f"_{bound.name}_{word}{axis}" for axis in range(bound.axes))


def typedefs(placeholders: Sequence[tuple[str, DType]]) -> list[str]:
    return [f"typedef {c_name(row)} {name};" for name, row in placeholders]


def dtypes_of(bounds: Sequence[Bound]) -> tuple[np.dtype[np.generic], ...]:
    """Those of the arrays."""
    return tuple(bound.row.numpy for bound in bounds if bound.kind != "number")
