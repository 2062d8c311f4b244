"""Generate the text of a reduction.

A row holds the elements that are reduced to one result. Long rows are split into parts, whose
partial results the last block combines. The text defines functions of elements, rows and results;
``headers/reductions.h`` for a GPU and ``headers/reduce_cpu.h`` contain the loops.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pycu2c.base import dtypes
from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass
from pycu2c.compat.cupy.bound_parameters import (
    BoundParameter,
    extent_name,
    offset,
    raw_array_views,
    size_dtypes,
    split_index,
    stride_name,
    typedefs,
    used_fields,
)
from pycu2c.compat.cupy.call_arguments import KernelDeclaration
from pycu2c.compat.cupy.compiled_kernel import GeneratedText
from pycu2c.compat.cupy.kernel_definition import (
    EXPORTED,
    as_statement,
    block,
    cpu_kernel,
    cpu_name,
    cuda_kernel,
    cuda_name,
    join_sections,
)
from pycu2c.compat.cupy.parameter_declarations import (
    c_name,
    is_kernel_name,
    names_in,
    require_c_text,
)
from pycu2c.compat.cupy.preamble import (
    header,
    reduction_functions,
    required_definitions,
    without_headers,
)

THREADS = 256  # per block of a GPU
_NUMBER = re.compile(r"[-+]?(\d|\.\d)[\w.+-]*")
WORKSPACE = {
    "_partials": ("_Partial", dtypes.UINT8),
    "_finished_blocks": ("unsigned int", dtypes.UINT32),
}
# sizes that depend on the launch (ReductionAxes, Partition)
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
        return {name: getattr(self, name) for name in names}

    @property
    def names(self) -> frozenset[str]:
        return names_in(self.map_expr, self.reduce_expr, self.post_map_expr)


def user_source(
    declaration: KernelDeclaration,
    expressions: tuple[str, str, object],
    identity: object,
    reduce_type: str | None,
    preamble: str,
) -> UserSource:
    """Return the texts of a kernel. ``expressions``: map_expr, reduce_expr, post_map_expr.

    An example in CuPy's documentation omits post_map_expr, so the identity is passed as
    post_map_expr, and the name as identity. If post_map_expr is a number and identity is a name,
    they are used as the identity and the name.
    """
    map_expr, reduce_expr, post_map = expressions
    require_c_text(map_expr=map_expr, reduce_expr=reduce_expr, post_map_expr=post_map)
    name, output = declaration.name, declaration.outputs[0]
    if _NUMBER.fullmatch(str(post_map).strip()) and is_kernel_name(identity):
        identity, post_map, name = post_map, "", str(identity)
    return UserSource(
        name,
        map_expr,
        reduce_expr,
        str(post_map) if str(post_map).strip() else f"{output.name} = a",
        "" if identity is None else str(identity),
        _c_type(reduce_type or output.ctype),
        preamble,
    )


def _c_type(name: str) -> str:
    """Return a C type name; numpy's dtype names are accepted."""
    dtype = dtypes.BY_NAME.get(name)
    return c_name(dtype) if dtype and not dtype.is_vector else name


@dataclass(frozen=True, slots=True)
class ReductionSpec:
    """What the generated text depends on: parameters, and the iteration space.

    bound_parameters, input_count: the parameters of the user, inputs first.
    placeholders: the dtypes of CuPy's placeholders, such as T in "T x".
    kept_ndim, reduced_ndim: the numbers of kept and of reduced axes; the kept axes are first.
    by_columns: whether neighbors in memory belong to different results.
    lanes: the parallel width. On a GPU the threads that reduce a row, or with ``by_columns`` the
        rows that a block reduces at a time. On the CPU the SIMD accumulators of a row.
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


# ---- functions of elements, rows and results ---------------------------------------------------


def _functions(spec: ReductionSpec, source: UserSource, index_ctype: str) -> list[str]:
    """Declare ``_map``, ``_reduce``, ``_store_result`` and ``_elements`` as lambdas."""
    elements = [f"const {b.ctype} {b.name}" for b in spec.input_arrays]
    indices = (("_J", index_ctype), ("_i", "ptrdiff_t"), ("_j", "ptrdiff_t"))
    used = [f"{ctype} {name}" for name, ctype in indices if name in names_in(source.map_expr)]
    mapped = f"return static_cast<_type_reduce>({source.map_expr.strip()});"
    store = [*_result_references(spec), as_statement(source.post_map_expr)]
    return [
        *raw_array_views(spec.bound_parameters),
        *_indexers(source),
        "const auto _reduce = [&](_type_reduce a, _type_reduce b) -> _type_reduce {\n"
        f"    return {source.reduce_expr.strip()};\n}};",
        _function("_map", ", ".join([*elements, *used]), [mapped], "_type_reduce"),
        _function("_store_result", "ptrdiff_t _i, _type_reduce a", store),
        _function("_elements", f"ptrdiff_t _row, {index_ctype} _position", _line(spec, source)),
    ]


def _function(name: str, parameters: str, body: Sequence[str], result: str = "") -> str:
    arrow = f" -> {result}" if result else ""
    return block(f"const auto {name} = [&]({parameters}){arrow}", body) + ";"


def _line(spec: ReductionSpec, source: UserSource) -> list[str]:
    """Return a function of k: the mapped elements k steps after a position of a row.

    The steps are along the last axis that is reduced, or with ``by_columns`` along the last kept
    axis, where each step leads to the next row.
    """
    kept, reduced = (
        [f"{name}{axis}" for axis in range(count)] if count > 1 else [linear]
        for name, count, linear in (
            ("_kept", spec.kept_ndim, "_row"),
            ("_reduced", spec.reduced_ndim, "_position"),
        )
    )
    lines = split_index("_row", 0, spec.kept_ndim, "ptrdiff_t", "_kept")
    lines += split_index("_position", spec.kept_ndim, spec.reduced_ndim, "ptrdiff_t", "_reduced")
    axis = (spec.kept_ndim if spec.by_columns else len(kept) + len(reduced)) - 1
    elements = []
    for b in spec.input_arrays:
        start = offset(b, [*kept, *reduced])
        lines.append(
            f"const {b.ctype} *const _at_{b.name} = {b.pointer}{f' + {start}' * bool(start)};"
        )
        step = {"broadcast": "0", "unit": "_k"}.get(
            b.strides[axis], f"_k * {stride_name(b.name, axis)}"
        )
        elements.append(f"_at_{b.name}[{step}]")
    row, position = ("_row + _k", "_position") if spec.by_columns else ("_row", "_position + _k")
    value = _mapped_call(source, elements, position, row)
    return [*lines, block("return [=, &_map](ptrdiff_t _k) -> _type_reduce", [value]) + ";"]


def _mapped_call(source: UserSource, elements: Sequence[str], index: str, row: str) -> str:
    """Return the statement that maps the elements at an index of the row with number ``row``."""
    names = names_in(source.map_expr)
    indices = {"_J": index, "_i": row, "_j": f"(ptrdiff_t)({index}) * _row_count + {row}"}
    arguments = [*elements, *(text for name, text in indices.items() if name in names)]
    return f"return _map({', '.join(arguments)});"


def _indexers(source: UserSource) -> list[str]:
    sizes = {"_in_ind": "_row_count * _row_length", "_out_ind": "_row_count"}
    return [
        f"const CIndexer<1> {name} = {{{size}, {{{size}}}, {{}}}};"
        for name, size in sizes.items()
        if name in source.names
    ]


def _result_references(spec: ReductionSpec) -> list[str]:
    """Declare references to the outputs of a row."""
    varies = any(stride != "broadcast" for b in spec.output_arrays for stride in b.strides)
    indices = [f"_i{axis}" for axis in range(spec.kept_ndim)] if spec.kept_ndim > 1 else ["_i"]
    lines = split_index("_i", 0, spec.kept_ndim, "ptrdiff_t", "_i") if varies else []
    for bound in spec.output_arrays:
        element = f"{bound.pointer}[{offset(bound, indices) or '0'}]"
        lines.append(f"{bound.ctype} &{bound.name} = {element};")
    return lines


def _preamble(
    spec: ReductionSpec, source: UserSource, body: Sequence[str], *, on_cpu: bool
) -> list[str]:
    """Return the definitions before the kernel."""
    types = [b.dtype for b in spec.bound_parameters]
    types += [dtype for _, dtype in spec.placeholders]
    names = names_in(*source.user_texts.values(), *body, *source.macros)
    return [
        *required_definitions(types, names, on_cpu=on_cpu),
        "\n".join(source.macros),
        "\n".join(typedefs(spec.placeholders)),
        without_headers(source.preamble, on_cpu=on_cpu),
        f"typedef {source.reduce_type} _type_reduce;",
    ]


def _sizes(spec: ReductionSpec, index_dtype: DType) -> dict[str, DType]:
    extents = {extent_name(axis): index_dtype for axis in range(spec.kept_ndim + spec.reduced_ndim)}
    launch_sizes = dict.fromkeys(LAUNCH_SIZES, dtypes.INT64)
    return {**size_dtypes(spec.bound_parameters, index_dtype), **launch_sizes, **extents}


# ---- kernels -----------------------------------------------------------------------------------


def reduction_text(spec: ReductionSpec, source: UserSource, backend: str) -> GeneratedText:
    """Generate the kernel for a back end."""
    generate = _cuda_text if backend == "cuda" else _cpu_text
    return generate(spec, source)


def _cpu_text(spec: ReductionSpec, source: UserSource) -> GeneratedText:
    line = extent_name(spec.kept_ndim + (0 if spec.by_columns else spec.reduced_ndim) - 1)
    lanes, has_identity = 0 if spec.by_columns else spec.lanes, str(bool(source.identity)).lower()
    body = [
        *_functions(spec, source, "ptrdiff_t"),
        f"const _RowSizes _sizes = {{_row_count, _row_length, {line}, _part_count, _part_length, "
        "_rows_per_group};",
        "const _BlockRange _blocks = {_first_block, _last_block, _arguments.grid[0]};",
        f"_reduce_blocks<{has_identity}, {lanes}>(_sizes, _blocks, "
        f"_type_reduce({source.identity}), _elements, _reduce, _store_result, _partials, "
        "_finished_blocks);",
    ]
    fields = used_fields(spec.bound_parameters, _sizes(spec, dtypes.INT64), WORKSPACE, body)
    kernel, entry = cpu_kernel(source.name, fields, body), cpu_name(source.name)
    sections = [
        *_preamble(spec, source, kernel, on_cpu=True),
        "typedef _type_reduce _Partial;",
        f"{EXPORTED} const int64_t {entry}_partial = sizeof(_type_reduce);",
        header("reduce_cpu.h"),
        *kernel,
    ]
    return GeneratedText(join_sections(sections), entry, fields, source.name, source.user_texts)


def _cuda_text(spec: ReductionSpec, source: UserSource) -> GeneratedText:
    index_dtype = dtypes.INT64 if spec.needs_index64 else dtypes.INT32
    index = "ptrdiff_t" if spec.needs_index64 else "int"
    partial, combine, initial = (
        ("_type_reduce", "_reduce", f"_type_reduce({source.identity})")
        if source.identity
        else (
            "_Optional<_type_reduce>",
            "_CombineOptional<_type_reduce, decltype(_reduce)>{_reduce}",
            "_Partial{{}, false}",
        )
    )
    value = "{}" if source.identity else "_Partial{{{}, true}}"
    accumulate = [*_vector_loop(spec, source, index, value)] if spec.pack > 1 else []
    begin = "_begin + _packed_length" if spec.pack > 1 else "_begin"
    element = value.format("_elements(_row, _J)(0)")
    accumulate.append(
        f"#pragma unroll {1 if spec.pack > 1 else 8}\n"
        f"for ({index} _J = {begin}; _J < _row_length; _J += _step) "
        f"_total = _combine(_total, {element});"
    )
    stored = "a" if source.identity else "a.value"
    store = [f"_store_result(_i, {stored});"]
    parameters = f"_Partial &_total, ptrdiff_t _row, {index} _begin, {index} _step"
    body = [
        *_functions(spec, source, index),
        f"const auto _combine = {combine};",
        _function("_accumulate", parameters, accumulate),
        _function("_store", "ptrdiff_t _i, const _Partial &a", store),
        f"_reduce_grid<{THREADS}, {spec.lanes}, {str(spec.by_columns).lower()}, {index}>(",
        f"    _row_count, _part_count, {initial}, _accumulate, _combine, _store, _partials, "
        "_finished_blocks);",
    ]
    fields = used_fields(spec.bound_parameters, _sizes(spec, index_dtype), WORKSPACE, body)
    kernel, entry = cuda_kernel(source.name, fields, body, THREADS), cuda_name(source.name)
    functions = reduction_functions(names_in(kernel, partial))
    sections = [
        *_preamble(spec, source, [kernel], on_cpu=False),
        *functions,
        f"typedef {partial} _Partial;",
        f'extern "C" __device__ unsigned char {entry}_partial[sizeof(_Partial)];',
        kernel,
    ]
    return GeneratedText(join_sections(sections), entry, fields, source.name, source.user_texts)


def _vector_loop(spec: ReductionSpec, source: UserSource, index: str, value: str) -> list[str]:
    """Generate a loop along a contiguous row with vector loads."""
    indices = [f"_kept{axis}" for axis in range(spec.kept_ndim)] if spec.kept_ndim > 1 else ["_row"]
    lines = split_index("_row", 0, spec.kept_ndim, "ptrdiff_t", "_kept")
    loads, elements = [], []
    for b in spec.input_arrays:
        start = offset(b, indices)
        row = f"({b.pointer}{f' + {start}' * bool(start)})"
        if b.strides[-1] == "broadcast":
            elements.append(f"{row}[0]")
            continue
        pack = f"_Pack<{b.ctype}, {spec.pack}>"
        loads.append(f"const {pack} _vector_{b.name} = ((const {pack} *){row})[_pack_index];")
        elements.append(f"_vector_{b.name}.values[_k]")
    mapped = _mapped_call(source, elements, f"_pack_index * {spec.pack} + _k", "_row")
    element = value.format(mapped.removeprefix("return ").removesuffix(";"))
    accumulate = f"_total = _combine(_total, {element});"
    element_loop = block(f"for (int _k = 0; _k < {spec.pack}; _k++)", [accumulate])
    head = (
        f"for ({index} _pack_index = _begin; _pack_index < _packed_length / {spec.pack};"
        " _pack_index += _step)"
    )
    return [
        *lines,
        f"const {index} _packed_length = _row_length / {spec.pack} * {spec.pack};",
        "#pragma unroll 4\n" + block(head, [*loads, f"#pragma unroll\n{element_loop}"]),
    ]
