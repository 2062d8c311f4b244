"""Generate the parts that the CUDA and the CPU text of a reduction share."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from pycu2c.base import dtypes
from pycu2c.base.dtypes import DType
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array
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
from pycu2c.compat.cupy.kernel_prologue import as_statement, block
from pycu2c.compat.cupy.parameter_declarations import names_in
from pycu2c.compat.cupy.preamble import prelude, without_headers

COUNTS = ("_rows", "_length", "_splits", "_piece", "_group")


@dataclass(frozen=True, slots=True)
class Expressions:
    """The texts of the user.

    identity: may be empty. macros: macros from options, as lines.
    """

    name: str
    mapped: str
    reduced: str
    finished: str
    identity: str
    reduce_type: str
    preamble: str = ""
    macros: tuple[str, ...] = ()

    @property
    def written(self) -> dict[str, str]:
        """Return the texts by the role that errors name."""
        names = ("map_expr", "reduce_expr", "post_map_expr", "identity", "reduce_type", "preamble")
        parts = (self.mapped, self.reduced, self.finished, self.identity, self.reduce_type)
        return dict(zip(names, (*parts, self.preamble)))

    @property
    def names(self) -> frozenset[str]:
        return names_in(self.mapped, self.reduced, self.finished)


@dataclass(frozen=True, slots=True)
class ReductionForm:
    """What the text depends on: parameters, and the iteration space.

    inputs: the number of inputs. kept, reduced: the number of axes, the kept ones first.
    columns: whether neighbors in memory belong to different results.
    lanes: on a GPU threads per result, or columns per block; on the CPU SIMD accumulators.
    pack: elements per vector load on a GPU.
    wide: indices require 64 bits.
    """

    bounds: tuple[BoundParameter, ...]
    inputs: int
    placeholders: tuple[tuple[str, DType], ...]
    kept: int
    reduced: int
    columns: bool
    lanes: int
    pack: int
    wide: bool

    @property
    def arrays(self) -> tuple[BoundParameter, ...]:
        """Return the inputs that are not raw."""
        return tuple(b for b in self.bounds[: self.inputs] if b.kind == "array")

    @property
    def targets(self) -> tuple[BoundParameter, ...]:
        return tuple(b for b in self.bounds[self.inputs :] if b.kind == "array")


def reduction_fields(form: ReductionForm, index: DType, extent: DType) -> list[KernelField]:
    """Return the fields: parameters of the user, launch numbers, axis lengths, workspace."""
    position = itertools.count(len(form.bounds))
    fields = list(kernel_fields(form.bounds, index))
    fields += [number_field(n, dtypes.INT64, next(position), "ptrdiff_t") for n in COUNTS]
    for axis in range(form.kept + form.reduced):
        fields.append(number_field(extent_name(axis), extent, next(position)))
    for name, dtype, ctype in (
        ("_partials", dtypes.UINT8, "_Partial *"),
        ("_done", dtypes.UINT32, "unsigned int *"),
    ):
        array = Parameter(name, Array(dtype, 1, "C"), next(position), ArgumentPart.DATA)
        fields.append(KernelField(ctype, array))
    return fields


def reduction_preamble(
    form: ReductionForm, expressions: Expressions, body: str, *, on_cpu: bool
) -> list[str]:
    """Return the lines before the kernel."""
    types = [b.dtype for b in form.bounds] + [dtype for _, dtype in form.placeholders]
    texts = (expressions.preamble, expressions.mapped, expressions.reduced, expressions.finished)
    names = names_in(
        *texts, expressions.identity, expressions.reduce_type, body, *expressions.macros
    )
    preamble = without_headers(expressions.preamble, on_cpu=on_cpu)
    return [
        *prelude(types, names, on_cpu=on_cpu),
        "\n".join(expressions.macros),
        "\n".join(typedefs(form.placeholders)),
        preamble,
        f"typedef {expressions.reduce_type} _type_reduce;",
    ]


def functions(form: ReductionForm, expressions: Expressions, index: str) -> list[str]:
    """Declare the user's expressions as functions that map, reduce and finish."""
    elements = [f"const {b.ctype} {b.name}" for b in form.arrays]
    parameters = ", ".join([*elements, *_index_parameters(expressions, index)])
    mapped = f"[&]({parameters}) -> _type_reduce"
    value = f"return static_cast<_type_reduce>({expressions.mapped.strip()});"
    return [
        *raw_array_views(form.bounds),
        *_indexers(expressions),
        "const auto _reduce = [&](_type_reduce a, _type_reduce b) -> _type_reduce {\n"
        f"    return {expressions.reduced.strip()};\n}};",
        block(f"const auto _mapped = {mapped}", [value]) + ";",
        block(
            "const auto _finish = [&](ptrdiff_t _i, _type_reduce a)",
            [*_result_references(form), as_statement(expressions.finished)],
        )
        + ";",
    ]


def _index_parameters(expressions: Expressions, index: str) -> list[str]:
    """Declare the indices that the map expression uses."""
    names = names_in(expressions.mapped)
    return [
        f"{kind} {name}"
        for name, kind in (("_J", index), ("_i", "ptrdiff_t"), ("_j", "ptrdiff_t"))
        if name in names
    ]


def mapped_call(expressions: Expressions, elements: Sequence[str], index: str, row: str) -> str:
    """Return the call that maps the elements at an index of a row."""
    names = names_in(expressions.mapped)
    indices = {"_J": index, "_i": row, "_j": f"(ptrdiff_t)({index}) * _rows + {row}"}
    arguments = [*elements, *(text for name, text in indices.items() if name in names)]
    return f"_mapped({', '.join(arguments)})"


def _indexers(expressions: Expressions) -> list[str]:
    sizes = {"_in_ind": "_rows * _length", "_out_ind": "_rows"}
    return [
        f"const CIndexer<1> {name} = {{{size}, {{{size}}}, {{}}}};"
        for name, size in sizes.items()
        if name in expressions.names
    ]


def _result_references(form: ReductionForm) -> list[str]:
    """Declare references to the outputs of a row."""
    varies = any(stride != "none" for b in form.targets for stride in b.strides)
    indices = [f"_i{axis}" for axis in range(form.kept)] if form.kept > 1 else ["_i"]
    lines = split_index("_i", 0, form.kept, "ptrdiff_t", "_i") if varies and form.kept > 1 else []
    for bound in form.targets:
        element = f"{bound.pointer}[{offset(bound, indices) or '0'}]"
        lines.append(f"{bound.ctype} &{bound.name} = {element};")
    return lines


def split_index(index: str, first: int, count: int, kind: str, name: str) -> list[str]:
    """Split a linear index into indices of type ``kind``, ``name0``, …, along ``count`` axes."""
    left = f"{name}_left"
    lines = [f"ptrdiff_t {left} = {index};"]
    for axis in range(count - 1, 0, -1):
        extent = extent_name(first + axis)
        lines.append(f"const {kind} {name}{axis} = {left} % {extent};")
        lines.append(f"{left} /= {extent};")
    return [*lines, f"const {kind} {name}0 = {left};"]


def row_pointers(form: ReductionForm, row: str) -> list[str]:
    """Declare pointers to the start of a row in each array."""
    indices = [f"_at{axis}" for axis in range(form.kept)] if form.kept > 1 else [row]
    lines = split_index(row, 0, form.kept, "ptrdiff_t", "_at") if form.kept > 1 else []
    for bound in form.arrays:
        start = offset(bound, indices)
        plus = f" + {start}" if start else ""
        lines.append(f"const {bound.ctype} *const _row_{bound.name} = {bound.pointer}{plus};")
    return lines


def offset_in_row(form: ReductionForm, bound: BoundParameter, indices: Sequence[str]) -> str:
    """Return the offset of an element in its row, from its indices along the reduced axes."""
    return offset(bound, indices, form.kept)
