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
from pycu2c.compat.cupy.preamble import required_definitions, without_headers

# parameters for the numbers of a launch: ReductionAxes' and Partition's
COUNTS = ("_rows", "_length", "_splits", "_piece", "_group")


@dataclass(frozen=True, slots=True)
class Expressions:
    """The texts of the user.

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

    kept_ndim, reduced_ndim: the numbers of kept and of reduced axes; the kept axes are first.
    by_columns: whether neighbors in memory belong to different results.
    lanes: on a GPU threads per result, or columns per block; on the CPU SIMD accumulators.
    pack: elements per vector load on a GPU.
    needs_index64: indices require 64 bits.
    """

    bound_parameters: tuple[BoundParameter, ...]
    input_count: int
    placeholders: tuple[tuple[str, DType], ...]
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
    """Return the kernel's parameters: the user's, ``COUNTS``, axis lengths, workspace."""
    position = itertools.count(len(spec.bound_parameters))
    fields = list(kernel_fields(spec.bound_parameters, stride_dtype))
    fields += [number_field(n, dtypes.INT64, next(position), "ptrdiff_t") for n in COUNTS]
    for axis in range(spec.kept_ndim + spec.reduced_ndim):
        fields.append(number_field(extent_name(axis), extent_dtype, next(position)))
    for name, dtype, ctype in (
        ("_partials", dtypes.UINT8, "_Partial *"),
        ("_done", dtypes.UINT32, "unsigned int *"),
    ):
        array = Parameter(name, Array(dtype, 1, "C"), next(position), ArgumentPart.DATA)
        fields.append(KernelField(ctype, array))
    return fields


def reduction_preamble(
    spec: ReductionSpec, expressions: Expressions, body: str, *, on_cpu: bool
) -> list[str]:
    """Return the definitions before the kernel."""
    types = [b.dtype for b in spec.bound_parameters] + [dtype for _, dtype in spec.placeholders]
    texts = (
        expressions.preamble,
        expressions.map_expr,
        expressions.reduce_expr,
        expressions.post_map_expr,
    )
    names = names_in(
        *texts, expressions.identity, expressions.reduce_type, body, *expressions.macros
    )
    preamble = without_headers(expressions.preamble, on_cpu=on_cpu)
    return [
        *required_definitions(types, names, on_cpu=on_cpu),
        "\n".join(expressions.macros),
        "\n".join(typedefs(spec.placeholders)),
        preamble,
        f"typedef {expressions.reduce_type} _type_reduce;",
    ]


def user_functions(spec: ReductionSpec, expressions: Expressions, index_ctype: str) -> list[str]:
    """Declare the user's expressions as the C++ lambdas ``_mapped``, ``_reduce``, ``_finish``."""
    elements = [f"const {b.ctype} {b.name}" for b in spec.input_arrays]
    parameters = ", ".join([*elements, *_index_parameters(expressions, index_ctype)])
    signature = f"[&]({parameters}) -> _type_reduce"
    body = f"return static_cast<_type_reduce>({expressions.map_expr.strip()});"
    return [
        *raw_array_views(spec.bound_parameters),
        *_indexers(expressions),
        "const auto _reduce = [&](_type_reduce a, _type_reduce b) -> _type_reduce {\n"
        f"    return {expressions.reduce_expr.strip()};\n}};",
        block(f"const auto _mapped = {signature}", [body]) + ";",
        block(
            "const auto _finish = [&](ptrdiff_t _i, _type_reduce a)",
            [*_result_references(spec), as_statement(expressions.post_map_expr)],
        )
        + ";",
    ]


def _index_parameters(expressions: Expressions, index_ctype: str) -> list[str]:
    """Declare the indices that the map expression uses."""
    names = names_in(expressions.map_expr)
    return [
        f"{ctype} {name}"
        for name, ctype in (("_J", index_ctype), ("_i", "ptrdiff_t"), ("_j", "ptrdiff_t"))
        if name in names
    ]


def mapped_call(expressions: Expressions, elements: Sequence[str], index: str, row: str) -> str:
    """Return the call that maps the elements at an index of a row."""
    names = names_in(expressions.map_expr)
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


def _result_references(spec: ReductionSpec) -> list[str]:
    """Declare references to the outputs of a row."""
    varies = any(stride != "none" for b in spec.output_arrays for stride in b.strides)
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
    indices = [f"_at{axis}" for axis in range(spec.kept_ndim)] if spec.kept_ndim > 1 else [row]
    lines = split_index(row, 0, spec.kept_ndim, "ptrdiff_t", "_at") if spec.kept_ndim > 1 else []
    for bound in spec.input_arrays:
        start = offset(bound, indices)
        plus_start = f" + {start}" if start else ""
        lines.append(f"const {bound.ctype} *const _row_{bound.name} = {bound.pointer}{plus_start};")
    return lines


def offset_in_row(spec: ReductionSpec, bound: BoundParameter, indices: Sequence[str]) -> str:
    """Return the offset of an element in its row, from its indices along the reduced axes."""
    return offset(bound, indices, spec.kept_ndim)
