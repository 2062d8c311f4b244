"""Generate the parts that the CUDA and the CPU text of an elementwise kernel share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pycu2c.base import dtypes
from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass
from pycu2c.compat.cupy.bound_parameters import (
    BoundParameter,
    KernelField,
    extent_name,
    kernel_fields,
    number_field,
    offset,
    raw_array_views,
    typedefs,
)
from pycu2c.compat.cupy.parameter_declarations import names_in
from pycu2c.compat.cupy.preamble import prelude, without_headers


@dataclass(frozen=True, slots=True)
class ElementwiseOperation:
    """The text of the user. ``macros``: macros from options, as lines."""

    name: str
    text: str
    preamble: str = ""
    loop_prep: str = ""
    after_loop: str = ""
    macros: tuple[str, ...] = ()

    @property
    def written(self) -> dict[str, str]:
        """Return the texts by the role that errors name."""
        parts = (self.text, self.preamble, self.loop_prep, self.after_loop)
        return dict(zip(("operation", "preamble", "loop_prep", "after_loop"), parts))

    @property
    def names(self) -> frozenset[str]:
        return names_in(self.text, self.loop_prep, self.after_loop)


@dataclass(frozen=True, slots=True)
class ElementwiseForm:
    """What the text depends on: parameters, placeholders, number of axes, and whether indices
    require 64 bits (``wide``)."""

    bounds: tuple[BoundParameter, ...]
    placeholders: tuple[tuple[str, DType], ...]
    axes: int
    wide: bool


def fields_of(form: ElementwiseForm, index: DType, extent: DType) -> list[KernelField]:
    count = len(form.bounds)
    extents = [
        number_field(extent_name(axis), extent, count + axis) for axis in range(1, form.axes)
    ]
    size = number_field("_size", dtypes.INT64, count, "ptrdiff_t")
    return [*kernel_fields(form.bounds, index), *extents, size]


def preamble_text(
    form: ElementwiseForm, operation: ElementwiseOperation, extra: str, *, on_cpu: bool
) -> list[str]:
    """Return the lines before the kernel."""
    types = [b.dtype for b in form.bounds] + [dtype for _, dtype in form.placeholders]
    text = "\n".join((operation.preamble, operation.loop_prep, operation.text))
    needed = prelude(types, names_in(text, extra, *operation.macros), on_cpu=on_cpu)
    preamble = without_headers(operation.preamble, on_cpu=on_cpu)
    macros = "\n".join(operation.macros)
    return [*needed, macros, "\n".join(typedefs(form.placeholders)), preamble]


def size_declarations(form: ElementwiseForm, operation: ElementwiseOperation) -> list[str]:
    """Declare raw arrays, and ``n`` and ``_ind`` if the operation uses them."""
    names, parameters = operation.names, {b.name for b in form.bounds}
    lines = raw_array_views(form.bounds)
    if "n" in names and "n" not in parameters:
        lines.append("const ptrdiff_t n = _size;")
    if "_ind" in names:
        extents = ", ".join(extent_name(axis) for axis in range(1, form.axes))
        first = f"_size / ({extents.replace(', ', ' * ')})" if extents else "_size"
        shape = f"{first}, {extents}" if extents else first
        lines.append(f"CIndexer<{form.axes}> _ind = {{_size, {{{shape}}}, {{}}}};")
    return lines


def elements(form: ElementwiseForm, element_at: Mapping[int, str]) -> list[str]:
    """Declare the elements: inputs as copies, outputs as references.

    ``element_at``: the expression of each element.
    """
    lines = []
    inputs = {b.name: b for b in form.bounds if b.info.is_const}
    for position, bound in enumerate(form.bounds):
        if bound.kind != "array":
            continue
        element = element_at[position]
        if not bound.info.is_const:
            lines.append(f"{bound.ctype} &{bound.name} = {element};")
            same_name = inputs.get(bound.name)
            if same_name:
                lines.append(f"{bound.name} = {element_at[form.bounds.index(same_name)]};")
        elif not is_also_written(form, bound):
            lines.append(f"const {bound.ctype} {bound.name} = {element};")
    return lines


def in_memory(form: ElementwiseForm, names: Sequence[str]) -> dict[int, str]:
    """Return the expressions of elements in memory, from the names of the indices."""
    return {
        position: f"{bound.pointer}[{offset(bound, names) or '0'}]"
        for position, bound in enumerate(form.bounds)
        if bound.kind == "array"
    }


def is_also_written(form: ElementwiseForm, bound: BoundParameter) -> bool:
    return any(b.name == bound.name and not b.info.is_const for b in form.bounds)
