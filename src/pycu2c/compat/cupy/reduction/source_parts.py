"""Generate the parts that the CUDA and the CPU text of a reduction share."""

from __future__ import annotations

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
    stride_name,
    typedefs,
)
from pycu2c.compat.cupy.kernel_prologue import as_statement, block
from pycu2c.compat.cupy.parameter_declarations import names_in
from pycu2c.compat.cupy.preamble import prelude, without_headers

COUNTS = ("_rows", "_length", "_splits", "_piece", "_group")


@dataclass(frozen=True, slots=True)
class Expressions:
    """The text of the user. ``identity`` may be empty; ``macros``: macros from options."""

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
    """What the text depends on; ``kept`` axes are before the ``reduced`` ones.

    columns: neighbors in memory belong to different results.
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
    place = len(form.bounds)
    found = list(kernel_fields(form.bounds, index))
    for name in COUNTS:
        found.append(number_field(name, dtypes.INT64, place, "ptrdiff_t"))
        place += 1
    for axis in range(form.kept + form.reduced):
        found.append(number_field(extent_name(axis), extent, place))
        place += 1
    for name, row, ctype in (
        ("_partials", dtypes.UINT8, "_Partial *"),
        ("_done", dtypes.UINT32, "unsigned int *"),
    ):
        found.append(
            KernelField(ctype, Parameter(name, Array(row, 1, "C"), place, ArgumentPart.DATA))
        )
        place += 1
    return found


def reduction_preamble(
    form: ReductionForm, written: Expressions, body: str, *, on_cpu: bool
) -> list[str]:
    """Return the lines before the kernel."""
    rows = [b.row for b in form.bounds] + [row for _, row in form.placeholders]
    texts = (written.preamble, written.mapped, written.reduced, written.finished)
    names = names_in(*texts, written.identity, written.reduce_type, body, *written.macros)
    preamble = without_headers(written.preamble, on_cpu=on_cpu)
    return [
        *prelude(rows, names, on_cpu=on_cpu),
        "\n".join(written.macros),
        "\n".join(typedefs(form.placeholders)),
        preamble,
        f"typedef {written.reduce_type} _type_reduce;",
    ]


def functions(form: ReductionForm, written: Expressions, index: str) -> list[str]:
    """Declare the user's expressions as functions that map, reduce and finish."""
    given = ", ".join(f"const {b.ctype} {b.name}" for b in form.arrays)
    places = _index_declarations(written, index)
    mapped = f"[&]({', '.join(part for part in (given, *places) if part)}) -> _type_reduce"
    value = f"return static_cast<_type_reduce>({written.mapped.strip()});"
    return [
        *raw_array_views(form.bounds),
        *_indexers(written),
        "const auto _reduce = [&](_type_reduce a, _type_reduce b) -> _type_reduce {\n"
        f"    return {written.reduced.strip()};\n}};",
        block(f"const auto _mapped = {mapped}", [value]) + ";",
        block(
            "const auto _finish = [&](ptrdiff_t _i, _type_reduce a)",
            [*_result_references(form), as_statement(written.finished)],
        )
        + ";",
    ]


def _index_declarations(written: Expressions, index: str) -> list[str]:
    asked = names_in(written.mapped)
    return [
        f"{kind} {name}"
        for name, kind in (("_J", index), ("_i", "ptrdiff_t"), ("_j", "ptrdiff_t"))
        if name in asked
    ]


def mapped_call(
    form: ReductionForm, written: Expressions, elements: Sequence[str], place: str, row: str
) -> str:
    """Return the call that maps the elements at an index of a row."""
    asked = names_in(written.mapped)
    others = {"_J": place, "_i": row, "_j": f"(ptrdiff_t)({place}) * _rows + {row}"}
    spelled = [*elements, *(text for name, text in others.items() if name in asked)]
    return f"_mapped({', '.join(spelled)})"


def _indexers(written: Expressions) -> list[str]:
    sizes = {"_in_ind": "_rows * _length", "_out_ind": "_rows"}
    return [
        f"const CIndexer<1> {name} = {{{size}, {{{size}}}, {{}}}};"
        for name, size in sizes.items()
        if name in written.names
    ]


def _result_references(form: ReductionForm) -> list[str]:
    """Declare references to the outputs of a row."""
    moving = any(step != "none" for b in form.targets for step in b.steps)
    places = [f"_i{axis}" for axis in range(form.kept)] if form.kept > 1 else ["_i"]
    found = split_index("_i", 0, form.kept, "ptrdiff_t", "_i") if moving and form.kept > 1 else []
    for bound in form.targets:
        at = offset(bound, places) or "0"
        found.append(f"{bound.ctype} &{bound.name} = {bound.pointer}[{at}];")
    return found


def split_index(place: str, first: int, count: int, kind: str, name: str) -> list[str]:
    """Split a linear index into an index per axis: ``name0``, …"""
    left = f"{name}_left"
    found = [f"ptrdiff_t {left} = {place};"]
    for axis in range(count - 1, 0, -1):
        extent = extent_name(first + axis)
        found.append(f"const {kind} {name}{axis} = {left} % {extent};")
        found.append(f"{left} /= {extent};")
    return [*found, f"const {kind} {name}0 = {left};"]


def row_pointers(form: ReductionForm, row: str) -> list[str]:
    """Declare pointers to the start of a row in each array."""
    places = [f"_at{axis}" for axis in range(form.kept)] if form.kept > 1 else [row]
    found = split_index(row, 0, form.kept, "ptrdiff_t", "_at") if form.kept > 1 else []
    for bound in form.arrays:
        start = _outer_offset(form, bound, places)
        plus = f" + {start}" if start else ""
        found.append(f"const {bound.ctype} *const _row_{bound.name} = {bound.pointer}{plus};")
    return found


def _outer_offset(form: ReductionForm, bound: BoundParameter, places: Sequence[str]) -> str:
    terms = [
        _term(bound, axis, place)
        for axis, place in enumerate(places)
        if bound.steps[axis] != "none"
    ]
    return " + ".join(terms)


def reduced_offset(form: ReductionForm, bound: BoundParameter, places: Sequence[str]) -> str:
    """Return the offset of an element in its row."""
    terms = [
        _term(bound, form.kept + k, place)
        for k, place in enumerate(places)
        if bound.steps[form.kept + k] != "none"
    ]
    return " + ".join(terms)


def _term(bound: BoundParameter, axis: int, place: str) -> str:
    if bound.steps[axis] == "unit":
        return place
    return f"{place} * {stride_name(bound.name, axis)}"
