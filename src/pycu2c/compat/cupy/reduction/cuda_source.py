"""Generate a reduction as one CUDA C++ kernel, whose last block combines partial results."""

from __future__ import annotations

from pycu2c.base import dtypes
from pycu2c.compat.cupy.compiled_kernel import GeneratedText
from pycu2c.compat.cupy.kernel_definition import (
    block,
    cuda_kernel,
    cuda_name,
    join_sections,
    used_fields,
)
from pycu2c.compat.cupy.parameter_declarations import names_in
from pycu2c.compat.cupy.preamble import used_functions
from pycu2c.compat.cupy.reduction.source_parts import (
    ReductionSpec,
    UserSource,
    mapped_call,
    offset_in_row,
    reduction_fields,
    reduction_preamble,
    row_pointers,
    split_index,
    user_functions,
)

THREADS = 256  # per block

_OPTIONAL_VALUE = """
// A value, or none yet: without an identity there is no initial value.
struct _OptionalValue {
    _type_reduce value;
    bool has_value;
};"""
_COMBINE_OPTIONAL = """typedef const _OptionalValue &_Operand;
const auto _combine = [&](_Operand a, _Operand b) -> _OptionalValue {
    if (!a.has_value) return b;
    return b.has_value ? _OptionalValue{_reduce(a.value, b.value), true} : a;
};"""


def cuda_reduction(spec: ReductionSpec, user_source: UserSource) -> GeneratedText:
    index_dtype = dtypes.INT64 if spec.needs_index64 else dtypes.INT32
    index_ctype = "ptrdiff_t" if spec.needs_index64 else "int"
    body = [
        *user_functions(spec, user_source, index_ctype),
        *_combine_function(user_source),
        *_index_declarations(spec, index_ctype),
    ]
    body += [
        *_thread_loop(spec, user_source, index_ctype),
        *_combine_parts(spec, user_source),
        *_result(spec, user_source),
    ]
    fields = used_fields(reduction_fields(spec, index_dtype, index_dtype), body)
    kernel = cuda_kernel(user_source.name, fields, body, THREADS)
    entry = cuda_name(user_source.name)
    size = f'extern "C" __device__ unsigned char {entry}_partial[sizeof(_Partial)];'
    partial = "typedef _type_reduce _Partial;" if user_source.identity else _OPTIONAL_VALUE
    if not user_source.identity:
        partial += "\ntypedef _OptionalValue _Partial;"
    parts = [*reduction_preamble(spec, user_source, kernel, on_cpu=False), partial, size]
    parts += used_functions("reductions.h", names_in(kernel))
    return GeneratedText(
        join_sections([*parts, kernel]),
        entry,
        tuple(fields),
        user_source.name,
        user_source.user_texts,
    )


def _combine_function(user_source: UserSource) -> list[str]:
    return ["const auto &_combine = _reduce;"] if user_source.identity else [_COMBINE_OPTIONAL]


def _initial_value(user_source: UserSource) -> str:
    """Return the C expression of the initial value of a thread."""
    if user_source.identity:
        return f"_type_reduce({user_source.identity})"
    return "_OptionalValue{{}, false}"


def _as_partial(user_source: UserSource, value: str) -> str:
    return value if user_source.identity else f"_OptionalValue{{{value}, true}}"


def _index_declarations(spec: ReductionSpec, index_ctype: str) -> list[str]:
    """Declare the index of a thread's row, and the first index and the step of its loop.

    A block has ``_lane_groups`` groups of ``_lanes`` threads. With ``by_columns``, the threads of a
    group process different rows, which are interleaved in memory; else they process one row.
    """
    lanes, lane_groups = spec.lanes, THREADS // spec.lanes
    group_count = f", _lane_groups = {lane_groups}" if spec.by_columns or lane_groups > 1 else ""
    lines = [f"enum {{ _lanes = {lanes}{group_count} }};"]
    if spec.lanes <= 32 and not spec.by_columns:
        return [
            *lines,
            "const ptrdiff_t _i = (ptrdiff_t)blockIdx.x * _lane_groups + threadIdx.x / _lanes;",
            f"const {index_ctype} _begin = threadIdx.x % _lanes, _step = _lanes;",
        ]
    lines.append("const ptrdiff_t _part_index = blockIdx.x % _part_count;")
    lines.append("const ptrdiff_t _group_index = blockIdx.x / _part_count;")
    if spec.by_columns:
        lines.append("const ptrdiff_t _i = _group_index * _lanes + threadIdx.x % _lanes;")
        lines.append(
            f"const {index_ctype} _begin = _part_index * _lane_groups + threadIdx.x / _lanes;"
        )
        lines.append(f"const {index_ctype} _step = _part_count * _lane_groups;")
    else:
        lines.append("const ptrdiff_t _i = _group_index;")
        lines.append(f"const {index_ctype} _begin = _part_index * _lanes + threadIdx.x;")
        lines.append(f"const {index_ctype} _step = _part_count * _lanes;")
    return lines


def _thread_loop(spec: ReductionSpec, user_source: UserSource, index_ctype: str) -> list[str]:
    """Generate the loops that compute the partial result of a thread."""
    loops = [*row_pointers(spec, "_i")]
    if spec.pack > 1:
        loops += _vector_loop(spec, user_source, index_ctype)
    loops.append(
        _scalar_loop(
            spec, user_source, index_ctype, f"_begin{' + _packed_length' if spec.pack > 1 else ''}"
        )
    )
    return [
        f"_Partial _total = {_initial_value(user_source)};",
        block("if (_i < _row_count)", loops),
    ]


def _scalar_loop(spec: ReductionSpec, user_source: UserSource, index_ctype: str, begin: str) -> str:
    indices = (
        ["_J"]
        if spec.reduced_ndim == 1
        else [f"_reduced{axis}" for axis in range(spec.reduced_ndim)]
    )
    body = (
        split_index("_J", spec.kept_ndim, spec.reduced_ndim, index_ctype, "_reduced")
        if spec.reduced_ndim > 1
        else []
    )
    elements = [
        f"_row_{b.name}[{offset_in_row(spec, b, indices) or '0'}]" for b in spec.input_arrays
    ]
    value = mapped_call(user_source, elements, "_J", "_i")
    body.append(f"_total = _combine(_total, {_as_partial(user_source, value)});")
    loop = block(f"for ({index_ctype} _J = {begin}; _J < _row_length; _J += _step)", body)
    return f"#pragma unroll {1 if spec.pack > 1 else 8}\n{loop}"


def _vector_loop(spec: ReductionSpec, user_source: UserSource, index_ctype: str) -> list[str]:
    """Generate a loop along a contiguous row with vector loads."""
    loads, elements = [], []
    for b in spec.input_arrays:
        if b.strides[-1] == "broadcast":
            elements.append(f"_row_{b.name}[0]")
            continue
        pack = f"_Pack<{b.ctype}, {spec.pack}>"
        loads.append(
            f"const {pack} _vector_{b.name} = ((const {pack} *)_row_{b.name})[_pack_index];"
        )
        elements.append(f"_vector_{b.name}.values[_k]")
    index = f"_pack_index * {spec.pack} + _k"
    value = _as_partial(user_source, mapped_call(user_source, elements, index, "_i"))
    accumulate = f"_total = _combine(_total, {value});"
    element_loop = block(f"for (int _k = 0; _k < {spec.pack}; _k++)", [accumulate])
    loop_head = (
        f"for ({index_ctype} _pack_index = _begin; _pack_index < _packed_length / {spec.pack};"
        " _pack_index += _step)"
    )
    loop = block(loop_head, [*loads, f"#pragma unroll\n{element_loop}"])
    return [
        f"const {index_ctype} _packed_length = _row_length / {spec.pack} * {spec.pack};",
        f"#pragma unroll 4\n{loop}",
    ]


def _combine_block(spec: ReductionSpec) -> str:
    """Return the expression that combines the values of the threads of a row or column."""
    if spec.by_columns:
        return f"_reduce_columns<{THREADS}, _lanes>(_total, _combine)"
    if spec.lanes > 32:
        return "_reduce_block<_lanes>(_total, _combine)"
    return "_reduce_lanes<_lanes>(_total, _combine)"


def _writer_condition(spec: ReductionSpec) -> str:
    """Return the condition for the thread that stores the result of a row or column."""
    if spec.lanes == THREADS:
        return "threadIdx.x == 0"
    return "threadIdx.x < _lanes" if spec.by_columns else "threadIdx.x % _lanes == 0"


def _combine_parts(spec: ReductionSpec, user_source: UserSource) -> list[str]:
    """Generate the code that combines a block, and in the last block the partial results."""
    combine = f"_total = {_combine_block(spec)};"
    if not spec.by_columns and spec.lanes <= 32:
        return [combine]
    begin, step = (
        ("threadIdx.x / _lanes", "_lane_groups") if spec.by_columns else ("threadIdx.x", "_lanes")
    )
    combine_partials = block(
        f"for (ptrdiff_t _k = {begin}; _i < _row_count && _k < _part_count; _k += {step})",
        ["_total = _combine(_total, _load_partial(&_partials[_k * _row_count + _i]));"],
    )
    lines = [
        f"if ({_writer_condition(spec)} && _i < _row_count)",
        "    _store_partial(&_partials[_part_index * _row_count + _i], _total);",
        "if (!_is_last_block(&_finished_blocks[_group_index], _part_count)) return;",
        f"_total = {_initial_value(user_source)};",
        combine_partials,
        combine,
    ]
    return [combine, block("if (_part_count > 1)", lines)]


def _result(spec: ReductionSpec, user_source: UserSource) -> list[str]:
    value = "_total" if user_source.identity else "_total.value"
    return [f"if ({_writer_condition(spec)} && _i < _row_count) _store_result(_i, {value});"]
