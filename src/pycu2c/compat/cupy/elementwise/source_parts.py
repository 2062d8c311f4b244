"""Generate the parts that the CUDA and the CPU source of an elementwise kernel share."""

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
from pycu2c.compat.cupy.preamble import required_definitions, without_headers


@dataclass(frozen=True, slots=True)
class ElementwiseOperation:
    """The texts of the user. ``macros``: ``#define`` lines from the options."""

    name: str
    text: str
    preamble: str = ""
    loop_prep: str = ""
    after_loop: str = ""
    macros: tuple[str, ...] = ()

    @property
    def user_texts(self) -> dict[str, str]:
        """Return the texts by their names in error messages."""
        texts = (self.text, self.preamble, self.loop_prep, self.after_loop)
        return dict(zip(("operation", "preamble", "loop_prep", "after_loop"), texts))

    @property
    def names(self) -> frozenset[str]:
        return names_in(self.text, self.loop_prep, self.after_loop)


@dataclass(frozen=True, slots=True)
class ElementwiseSpec:
    """What the generated text depends on.

    axes: the number of axes. needs_index64: whether indices require 64 bits.
    """

    bound_parameters: tuple[BoundParameter, ...]
    placeholders: tuple[tuple[str, DType], ...]
    axes: int
    needs_index64: bool


def kernel_struct_fields(
    spec: ElementwiseSpec, stride_dtype: DType, extent_dtype: DType
) -> list[KernelField]:
    """Return the fields of the parameters, of the extents and of the size.

    Among the arguments of a launch, the size precedes the extents.
    """
    count = len(spec.bound_parameters)
    extents = [
        number_field(extent_name(axis), extent_dtype, count + axis) for axis in range(1, spec.axes)
    ]
    size = number_field("_size", dtypes.INT64, count, "ptrdiff_t")
    return [*kernel_fields(spec.bound_parameters, stride_dtype), *extents, size]


def preamble_definitions(
    spec: ElementwiseSpec, operation: ElementwiseOperation, kernel: str, *, on_cpu: bool
) -> list[str]:
    """Return the definitions before the kernel that the kernel and the user's texts use."""
    types = [b.dtype for b in spec.bound_parameters] + [dtype for _, dtype in spec.placeholders]
    text = "\n".join((operation.preamble, operation.loop_prep, operation.text))
    definitions = required_definitions(
        types, names_in(text, kernel, *operation.macros), on_cpu=on_cpu
    )
    preamble = without_headers(operation.preamble, on_cpu=on_cpu)
    macros = "\n".join(operation.macros)
    return [*definitions, macros, "\n".join(typedefs(spec.placeholders)), preamble]


def raw_array_and_index_declarations(
    spec: ElementwiseSpec, operation: ElementwiseOperation
) -> list[str]:
    """Declare raw arrays, and ``n`` and ``_ind`` if the operation uses them."""
    names, parameters = operation.names, {b.name for b in spec.bound_parameters}
    lines = raw_array_views(spec.bound_parameters)
    if "n" in names and "n" not in parameters:
        lines.append("const ptrdiff_t n = _size;")
    if "_ind" in names:
        extents = ", ".join(extent_name(axis) for axis in range(1, spec.axes))
        first = f"_size / ({extents.replace(', ', ' * ')})" if extents else "_size"
        shape = f"{first}, {extents}" if extents else first
        lines.append(f"CIndexer<{spec.axes}> _ind = {{_size, {{{shape}}}, {{}}}};")
    return lines


def element_declarations(spec: ElementwiseSpec, element_at: Mapping[int, str]) -> list[str]:
    """Declare inputs as copies of elements, and outputs as references to elements.

    ``element_at``: the C expression of the element, by the position of its parameter.
    """
    lines = []
    inputs = {b.name: b for b in spec.bound_parameters if b.info.is_const}
    for position, bound in enumerate(spec.bound_parameters):
        if bound.kind != "array":
            continue
        element = element_at[position]
        if not bound.info.is_const:
            lines.append(f"{bound.ctype} &{bound.name} = {element};")
            same_name = inputs.get(bound.name)
            if same_name:
                lines.append(
                    f"{bound.name} = {element_at[spec.bound_parameters.index(same_name)]};"
                )
        elif not is_also_written(spec, bound):
            lines.append(f"const {bound.ctype} {bound.name} = {element};")
    return lines


def element_accesses(spec: ElementwiseSpec, names: Sequence[str]) -> dict[int, str]:
    """Return the C expression of the element of each array, by the position of its parameter.

    ``names`` are those of the indices.
    """
    return {
        position: f"{bound.pointer}[{offset(bound, names) or '0'}]"
        for position, bound in enumerate(spec.bound_parameters)
        if bound.kind == "array"
    }


def is_also_written(spec: ElementwiseSpec, bound: BoundParameter) -> bool:
    return any(b.name == bound.name and not b.info.is_const for b in spec.bound_parameters)
