"""Generate the parts that the CUDA and the CPU text of a reduction share.

A row holds the elements that are reduced to one result. Long rows are split into parts, whose
partial results the last block combines.
"""

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
from pycu2c.compat.cupy.kernel_definition import as_statement, block
from pycu2c.compat.cupy.parameter_declarations import names_in
from pycu2c.compat.cupy.preamble import required_definitions, without_headers

# parameters of the generated kernel that depend on the launch (ReductionAxes, Partition)
LAUNCH_SIZES = (
    "_row_count",  # number of results
    "_row_length",  # elements per result
    "_part_count",  # parts of a row; blocks that combine to a group of results
    "_part_length",  # elements of a part, on the CPU
    "_rows_per_group",  # rows that a block reduces one after the other, on the CPU
)


@dataclass(frozen=True, slots=True)
class UserSource:
    """The C++ texts of the user, with their types substituted.

    identity: empty if there is none. macros: ``#define`` lines from the options.
    """

    name: str
    map_expr: str
    reduce_expr: str
    post_map_expr: str
    identity: str
    reduce_type: str
    preamble: str = ""
    macros: tuple[str, ...] = ()

    @property
    def user_texts(self) -> dict[str, str]:
        """Return the texts by the role that errors name."""
        names = ("map_expr", "reduce_expr", "post_map_expr", "identity", "reduce_type", "preamble")
        texts = (self.map_expr, self.reduce_expr, self.post_map_expr, self.identity)
        return dict(zip(names, (*texts, self.reduce_type, self.preamble)))

    @property
    def names(self) -> frozenset[str]:
        return names_in(self.map_expr, self.reduce_expr, self.post_map_expr)


@dataclass(frozen=True, slots=True)
class ReductionSpec:
    """What the generated text depends on: parameters, and the iteration space.

    bound_parameters, input_count: the parameters of the user, inputs first.
    type_placeholders: the dtypes of CuPy's placeholders, such as T in "T x".
    kept_ndim, reduced_ndim: the numbers of kept and of reduced axes; the kept axes are first.
    by_columns: whether neighbors in memory belong to different results.
    lanes: the parallel width. On a GPU the threads that reduce a row, or with ``by_columns`` the
        rows that a block reduces at a time. On the CPU the SIMD accumulators of a row.
    pack: elements per vector load on a GPU.
    needs_index64: indices require 64 bits.
    """

    bound_parameters: tuple[BoundParameter, ...]
    input_count: int
    type_placeholders: tuple[tuple[str, DType], ...]
    kept_ndim: int
    reduced_ndim: int
    by_columns: bool
    lanes: int
    pack: int
    needs_index64: bool

    @property
    def input_arrays(self) -> tuple[BoundParameter, ...]:
        """Return the inputs that are not raw."""
        return tuple(b for b in self.bound_parameters[: self.input_count] if b.kind == "array")

    @property
    def output_arrays(self) -> tuple[BoundParameter, ...]:
        return tuple(b for b in self.bound_parameters[self.input_count :] if b.kind == "array")


def reduction_fields(
    spec: ReductionSpec, stride_dtype: DType, extent_dtype: DType
) -> list[KernelField]:
    """Return the kernel's parameters: the user's, ``LAUNCH_SIZES``, axis lengths, workspace."""
    position = itertools.count(len(spec.bound_parameters))
    fields = list(kernel_fields(spec.bound_parameters, stride_dtype))
    fields += [number_field(n, dtypes.INT64, next(position), "ptrdiff_t") for n in LAUNCH_SIZES]
    for axis in range(spec.kept_ndim + spec.reduced_ndim):
        fields.append(number_field(extent_name(axis), extent_dtype, next(position)))
    for name, dtype, ctype in (
        ("_partials", dtypes.UINT8, "_Partial *"),
        ("_finished_blocks", dtypes.UINT32, "unsigned int *"),
    ):
        array = Parameter(name, Array(dtype, 1, "C"), next(position), ArgumentPart.DATA)
        fields.append(KernelField(ctype, array))
    return fields


def reduction_preamble(
    spec: ReductionSpec, user_source: UserSource, body: str, *, on_cpu: bool
) -> list[str]:
    """Return the definitions before the kernel."""
    types = [b.dtype for b in spec.bound_parameters]
    types += [dtype for _, dtype in spec.type_placeholders]
    texts = (
        user_source.preamble,
        user_source.map_expr,
        user_source.reduce_expr,
        user_source.post_map_expr,
    )
    names = names_in(
        *texts, user_source.identity, user_source.reduce_type, body, *user_source.macros
    )
    preamble = without_headers(user_source.preamble, on_cpu=on_cpu)
    return [
        *required_definitions(types, names, on_cpu=on_cpu),
        "\n".join(user_source.macros),
        "\n".join(typedefs(spec.type_placeholders)),
        preamble,
        f"typedef {user_source.reduce_type} _type_reduce;",
    ]


def user_functions(spec: ReductionSpec, user_source: UserSource, index_ctype: str) -> list[str]:
    """Declare the user's expressions as the lambdas ``_map``, ``_reduce`` and ``_store_result``."""
    elements = [f"const {b.ctype} {b.name}" for b in spec.input_arrays]
    parameters = ", ".join([*elements, *_index_parameters(user_source, index_ctype)])
    signature = f"[&]({parameters}) -> _type_reduce"
    body = f"return static_cast<_type_reduce>({user_source.map_expr.strip()});"
    return [
        *raw_array_views(spec.bound_parameters),
        *_indexers(user_source),
        "const auto _reduce = [&](_type_reduce a, _type_reduce b) -> _type_reduce {\n"
        f"    return {user_source.reduce_expr.strip()};\n}};",
        block(f"const auto _map = {signature}", [body]) + ";",
        block(
            "const auto _store_result = [&](ptrdiff_t _i, _type_reduce a)",
            [*_result_references(spec), as_statement(user_source.post_map_expr)],
        )
        + ";",
    ]


def _index_parameters(user_source: UserSource, index_ctype: str) -> list[str]:
    """Declare the indices that the map expression uses."""
    names = names_in(user_source.map_expr)
    return [
        f"{ctype} {name}"
        for name, ctype in (("_J", index_ctype), ("_i", "ptrdiff_t"), ("_j", "ptrdiff_t"))
        if name in names
    ]


def mapped_call(user_source: UserSource, elements: Sequence[str], index: str, row: str) -> str:
    """Return the call that maps the elements at an index of the row with number ``row``."""
    names = names_in(user_source.map_expr)
    indices = {"_J": index, "_i": row, "_j": f"(ptrdiff_t)({index}) * _row_count + {row}"}
    arguments = [*elements, *(text for name, text in indices.items() if name in names)]
    return f"_map({', '.join(arguments)})"


def _indexers(user_source: UserSource) -> list[str]:
    sizes = {"_in_ind": "_row_count * _row_length", "_out_ind": "_row_count"}
    return [
        f"const CIndexer<1> {name} = {{{size}, {{{size}}}, {{}}}};"
        for name, size in sizes.items()
        if name in user_source.names
    ]


def _result_references(spec: ReductionSpec) -> list[str]:
    """Declare references to the outputs of a row."""
    varies = any(stride != "broadcast" for b in spec.output_arrays for stride in b.strides)
    indices = [f"_i{axis}" for axis in range(spec.kept_ndim)] if spec.kept_ndim > 1 else ["_i"]
    lines = (
        split_index("_i", 0, spec.kept_ndim, "ptrdiff_t", "_i")
        if varies and spec.kept_ndim > 1
        else []
    )
    for bound in spec.output_arrays:
        element = f"{bound.pointer}[{offset(bound, indices) or '0'}]"
        lines.append(f"{bound.ctype} &{bound.name} = {element};")
    return lines


def split_index(index: str, first: int, count: int, ctype: str, name: str) -> list[str]:
    """Split a linear index into indices of type ``ctype``, ``name0``, …, along ``count`` axes."""
    left = f"{name}_left"
    lines = [f"ptrdiff_t {left} = {index};"]
    for axis in range(count - 1, 0, -1):
        extent = extent_name(first + axis)
        lines.append(f"const {ctype} {name}{axis} = {left} % {extent};")
        lines.append(f"{left} /= {extent};")
    return [*lines, f"const {ctype} {name}0 = {left};"]


def row_pointers(spec: ReductionSpec, row: str) -> list[str]:
    """Declare pointers to the start of a row in each array."""
    indices = [f"_kept{axis}" for axis in range(spec.kept_ndim)] if spec.kept_ndim > 1 else [row]
    lines = split_index(row, 0, spec.kept_ndim, "ptrdiff_t", "_kept") if spec.kept_ndim > 1 else []
    for bound in spec.input_arrays:
        start = offset(bound, indices)
        plus_start = f" + {start}" if start else ""
        lines.append(f"const {bound.ctype} *const _row_{bound.name} = {bound.pointer}{plus_start};")
    return lines


def offset_in_row(spec: ReductionSpec, bound: BoundParameter, indices: Sequence[str]) -> str:
    """Return the offset of an element in its row, from its indices along the reduced axes."""
    return offset(bound, indices, spec.kept_ndim)
