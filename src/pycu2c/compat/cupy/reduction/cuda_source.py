"""Generate a reduction as one CUDA C++ kernel, whose last block combines partial results."""

from __future__ import annotations

from pycu2c.base import dtypes
from pycu2c.compat.cupy.compiled_kernel import GeneratedText
from pycu2c.compat.cupy.kernel_prologue import (
    block,
    cuda_kernel,
    cuda_name,
    join_sections,
    used_fields,
)
from pycu2c.compat.cupy.parameter_declarations import names_in
from pycu2c.compat.cupy.preamble import used_functions
from pycu2c.compat.cupy.reduction.source_parts import (
    Expressions,
    ReductionSpec,
    mapped_call,
    offset_in_row,
    reduction_fields,
    reduction_preamble,
    row_pointers,
    split_index,
    user_functions,
)

THREADS = 256  # per block

_MAYBE = """
// A value, or none yet: without an identity there is no initial value.
struct _Maybe {
    _type_reduce value;
    bool is;
};"""
_JOIN_MAYBE = """const auto _join = [&](const _Maybe &a, const _Maybe &b) -> _Maybe {
    if (!a.is) return b;
    return b.is ? _Maybe{_reduce(a.value, b.value), true} : a;
};"""


def cuda_reduction(spec: ReductionSpec, expressions: Expressions) -> GeneratedText:
    index_dtype = dtypes.INT64 if spec.needs_index64 else dtypes.INT32
    index_ctype = "ptrdiff_t" if spec.needs_index64 else "int"
    body = [
        *user_functions(spec, expressions, index_ctype),
        *_join_function(expressions),
        *_index_declarations(spec, index_ctype),
    ]
    body += [
        *_thread_loop(spec, expressions, index_ctype),
        *_combine_parts(spec, expressions),
        *_result(spec, expressions),
    ]
    fields = used_fields(reduction_fields(spec, index_dtype, index_dtype), body)
    kernel = cuda_kernel(expressions.name, fields, body, THREADS)
    entry = cuda_name(expressions.name)
    size = f'extern "C" __device__ unsigned char {entry}_partial[sizeof(_Partial)];'
    partial = "typedef _type_reduce _Partial;" if expressions.identity else _MAYBE
    if not expressions.identity:
        partial += "\ntypedef _Maybe _Partial;"
    parts = [*reduction_preamble(spec, expressions, kernel, on_cpu=False), partial, size]
    parts += used_functions("reductions.h", names_in(kernel))
    return GeneratedText(
        join_sections([*parts, kernel]),
        entry,
        tuple(fields),
        expressions.name,
        expressions.user_texts,
    )


def _join_function(expressions: Expressions) -> list[str]:
    return ["const auto &_join = _reduce;"] if expressions.identity else [_JOIN_MAYBE]


def _initial_value(expressions: Expressions) -> str:
    """Return the C expression of the initial value of a thread."""
    return f"_type_reduce({expressions.identity})" if expressions.identity else "_Maybe{{}, false}"


def _as_partial(expressions: Expressions, value: str) -> str:
    return value if expressions.identity else f"_Maybe{{{value}, true}}"


def _index_declarations(spec: ReductionSpec, index_ctype: str) -> list[str]:
    """Declare the row or column of a thread, and the first index and the step of its loop."""
    lanes, lane_groups = spec.lanes, THREADS // spec.lanes
    group_count = f", _beside = {lane_groups}" if spec.by_columns or lane_groups > 1 else ""
    lines = [f"enum {{ _lanes = {lanes}{group_count} }};"]
    if spec.lanes <= 32 and not spec.by_columns:
        return [
            *lines,
            "const ptrdiff_t _i = (ptrdiff_t)blockIdx.x * _beside + threadIdx.x / _lanes;",
            f"const {index_ctype} _begin = threadIdx.x % _lanes, _step = _lanes;",
        ]
    lines.append("const ptrdiff_t _part = blockIdx.x % _splits, _group_at = blockIdx.x / _splits;")
    if spec.by_columns:
        lines.append("const ptrdiff_t _i = _group_at * _lanes + threadIdx.x % _lanes;")
        lines.append(f"const {index_ctype} _begin = _part * _beside + threadIdx.x / _lanes;")
        lines.append(f"const {index_ctype} _step = _splits * _beside;")
    else:
        lines.append("const ptrdiff_t _i = _group_at;")
        lines.append(f"const {index_ctype} _begin = _part * _lanes + threadIdx.x;")
        lines.append(f"const {index_ctype} _step = _splits * _lanes;")
    return lines


def _thread_loop(spec: ReductionSpec, expressions: Expressions, index_ctype: str) -> list[str]:
    """Generate the loops that compute the partial result of a thread."""
    loops = [*row_pointers(spec, "_i")]
    if spec.pack > 1:
        loops += _vector_loop(spec, expressions, index_ctype)
    loops.append(
        _scalar_loop(
            spec, expressions, index_ctype, f"_begin{' + _packs' if spec.pack > 1 else ''}"
        )
    )
    return [f"_Partial _s = {_initial_value(expressions)};", block("if (_i < _rows)", loops)]


def _scalar_loop(
    spec: ReductionSpec, expressions: Expressions, index_ctype: str, begin: str
) -> str:
    indices = (
        ["_J"] if spec.reduced_ndim == 1 else [f"_along{axis}" for axis in range(spec.reduced_ndim)]
    )
    body = (
        split_index("_J", spec.kept_ndim, spec.reduced_ndim, index_ctype, "_along")
        if spec.reduced_ndim > 1
        else []
    )
    elements = [
        f"_row_{b.name}[{offset_in_row(spec, b, indices) or '0'}]" for b in spec.input_arrays
    ]
    value = mapped_call(expressions, elements, "_J", "_i")
    body.append(f"_s = _join(_s, {_as_partial(expressions, value)});")
    loop = block(f"for ({index_ctype} _J = {begin}; _J < _length; _J += _step)", body)
    return f"#pragma unroll {1 if spec.pack > 1 else 8}\n{loop}"


def _vector_loop(spec: ReductionSpec, expressions: Expressions, index_ctype: str) -> list[str]:
    """Generate a loop along a contiguous row with vector loads."""
    loads, elements = [], []
    for b in spec.input_arrays:
        if b.strides[-1] == "none":
            elements.append(f"_row_{b.name}[0]")
            continue
        pack = f"_Pack<{b.ctype}, {spec.pack}>"
        loads.append(f"const {pack} _all_{b.name} = ((const {pack} *)_row_{b.name})[_p];")
        elements.append(f"_all_{b.name}.values[_k]")
    index = f"_p * {spec.pack} + _k"
    value = _as_partial(expressions, mapped_call(expressions, elements, index, "_i"))
    element_loop = block(f"for (int _k = 0; _k < {spec.pack}; _k++)", [f"_s = _join(_s, {value});"])
    loop = block(
        f"for ({index_ctype} _p = _begin; _p < _packs / {spec.pack}; _p += _step)",
        [*loads, f"#pragma unroll\n{element_loop}"],
    )
    return [
        f"const {index_ctype} _packs = _length / {spec.pack} * {spec.pack};",
        f"#pragma unroll 4\n{loop}",
    ]


def _combine_block(spec: ReductionSpec) -> str:
    """Return the expression that combines the values of the threads of a row or column."""
    if spec.by_columns:
        return f"_over_columns<{THREADS}, _lanes>(_s, _join)"
    if spec.lanes > 32:
        return "_over_block<_lanes>(_s, _join)"
    return "_over_lanes<_lanes>(_s, _join)"


def _is_writer(spec: ReductionSpec) -> str:
    """Return the condition for the thread that stores the result of a row or column."""
    if spec.lanes == THREADS:
        return "threadIdx.x == 0"
    return "threadIdx.x < _lanes" if spec.by_columns else "threadIdx.x % _lanes == 0"


def _combine_parts(spec: ReductionSpec, expressions: Expressions) -> list[str]:
    """Generate the code that combines a block, and in the last block the partial results."""
    combine = f"_s = {_combine_block(spec)};"
    if not spec.by_columns and spec.lanes <= 32:
        return [combine]
    begin, step = (
        ("threadIdx.x / _lanes", "_beside") if spec.by_columns else ("threadIdx.x", "_lanes")
    )
    combine_partials = block(
        f"for (ptrdiff_t _k = {begin}; _i < _rows && _k < _splits; _k += {step})",
        ["_s = _join(_s, _read(&_partials[_k * _rows + _i]));"],
    )
    lines = [
        f"if ({_is_writer(spec)} && _i < _rows) _write(&_partials[_part * _rows + _i], _s);",
        "if (!_is_last(&_done[_group_at], _splits)) return;",
        f"_s = {_initial_value(expressions)};",
        combine_partials,
        combine,
    ]
    return [combine, block("if (_splits > 1)", lines)]


def _result(spec: ReductionSpec, expressions: Expressions) -> list[str]:
    value = "_s" if expressions.identity else "_s.value"
    return [f"if ({_is_writer(spec)} && _i < _rows) _finish(_i, {value});"]
