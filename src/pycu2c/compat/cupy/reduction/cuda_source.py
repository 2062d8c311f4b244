"""Generate a reduction as one CUDA C++ kernel, whose last block combines partial results."""

from __future__ import annotations

from pycu2c.base import dtypes
from pycu2c.compat.cupy.compiled_kernel import GeneratedText
from pycu2c.compat.cupy.kernel_prologue import block, cuda_kernel, cuda_name, text_of, used_fields
from pycu2c.compat.cupy.parameter_declarations import names_in
from pycu2c.compat.cupy.preamble import functions_of
from pycu2c.compat.cupy.reduction.source_parts import (
    Expressions,
    ReductionForm,
    functions,
    mapped_call,
    offset_in_row,
    reduction_fields,
    reduction_preamble,
    row_pointers,
    split_index,
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


def cuda_reduction(form: ReductionForm, expressions: Expressions) -> GeneratedText:
    index = dtypes.INT64 if form.wide else dtypes.INT32
    kind = "ptrdiff_t" if form.wide else "int"
    body = [
        *functions(form, expressions, kind),
        *_join_function(expressions),
        *_index_declarations(form, kind),
    ]
    body += [
        *_thread_loop(form, expressions, kind),
        *_combine_parts(form, expressions),
        *_result(form, expressions),
    ]
    arguments = used_fields(reduction_fields(form, index, index), body)
    kernel = cuda_kernel(expressions.name, arguments, body, THREADS)
    entry = cuda_name(expressions.name)
    size = f'extern "C" __device__ unsigned char {entry}_partial[sizeof(_Partial)];'
    partial = "typedef _type_reduce _Partial;" if expressions.identity else _MAYBE
    if not expressions.identity:
        partial += "\ntypedef _Maybe _Partial;"
    parts = [*reduction_preamble(form, expressions, kernel, on_cpu=False), partial, size]
    parts += functions_of("reductions.h", names_in(kernel))
    return GeneratedText(
        text_of([*parts, kernel]), entry, tuple(arguments), expressions.name, expressions.written
    )


def _join_function(expressions: Expressions) -> list[str]:
    return ["const auto &_join = _reduce;"] if expressions.identity else [_JOIN_MAYBE]


def _initial_value(expressions: Expressions) -> str:
    """Return the initial value of a thread."""
    return f"_type_reduce({expressions.identity})" if expressions.identity else "_Maybe{{}, false}"


def _as_partial(expressions: Expressions, value: str) -> str:
    return value if expressions.identity else f"_Maybe{{{value}, true}}"


def _index_declarations(form: ReductionForm, kind: str) -> list[str]:
    """Declare the row or column of a thread, and the first index and the step of its loop."""
    lanes, of_block = form.lanes, THREADS // form.lanes
    beside = f", _beside = {of_block}" if form.columns or of_block > 1 else ""
    lines = [f"enum {{ _lanes = {lanes}{beside} }};"]
    if form.lanes <= 32 and not form.columns:
        return [
            *lines,
            "const ptrdiff_t _i = (ptrdiff_t)blockIdx.x * _beside + threadIdx.x / _lanes;",
            f"const {kind} _begin = threadIdx.x % _lanes, _step = _lanes;",
        ]
    lines.append("const ptrdiff_t _part = blockIdx.x % _splits, _group_at = blockIdx.x / _splits;")
    if form.columns:
        lines.append("const ptrdiff_t _i = _group_at * _lanes + threadIdx.x % _lanes;")
        lines.append(f"const {kind} _begin = _part * _beside + threadIdx.x / _lanes;")
        lines.append(f"const {kind} _step = _splits * _beside;")
    else:
        lines.append("const ptrdiff_t _i = _group_at;")
        lines.append(f"const {kind} _begin = _part * _lanes + threadIdx.x;")
        lines.append(f"const {kind} _step = _splits * _lanes;")
    return lines


def _thread_loop(form: ReductionForm, expressions: Expressions, kind: str) -> list[str]:
    """Generate the partial result of a thread."""
    loops = [*row_pointers(form, "_i")]
    if form.pack > 1:
        loops += _vector_loop(form, expressions, kind)
    loops.append(
        _scalar_loop(form, expressions, kind, f"_begin{' + _packs' if form.pack > 1 else ''}")
    )
    return [f"_Partial _s = {_initial_value(expressions)};", block("if (_i < _rows)", loops)]


def _scalar_loop(form: ReductionForm, expressions: Expressions, kind: str, begin: str) -> str:
    indices = ["_J"] if form.reduced == 1 else [f"_along{axis}" for axis in range(form.reduced)]
    body = split_index("_J", form.kept, form.reduced, kind, "_along") if form.reduced > 1 else []
    elements = [f"_row_{b.name}[{offset_in_row(form, b, indices) or '0'}]" for b in form.arrays]
    value = mapped_call(expressions, elements, "_J", "_i")
    body.append(f"_s = _join(_s, {_as_partial(expressions, value)});")
    loop = block(f"for ({kind} _J = {begin}; _J < _length; _J += _step)", body)
    return f"#pragma unroll {1 if form.pack > 1 else 8}\n{loop}"


def _vector_loop(form: ReductionForm, expressions: Expressions, kind: str) -> list[str]:
    """Loop along a contiguous row with vector loads."""
    loads, elements = [], []
    for b in form.arrays:
        if b.strides[-1] == "none":
            elements.append(f"_row_{b.name}[0]")
            continue
        pack = f"_Pack<{b.ctype}, {form.pack}>"
        loads.append(f"const {pack} _all_{b.name} = ((const {pack} *)_row_{b.name})[_p];")
        elements.append(f"_all_{b.name}.values[_k]")
    index = f"_p * {form.pack} + _k"
    value = _as_partial(expressions, mapped_call(expressions, elements, index, "_i"))
    each = block(f"for (int _k = 0; _k < {form.pack}; _k++)", [f"_s = _join(_s, {value});"])
    loop = block(
        f"for ({kind} _p = _begin; _p < _packs / {form.pack}; _p += _step)",
        [*loads, f"#pragma unroll\n{each}"],
    )
    return [
        f"const {kind} _packs = _length / {form.pack} * {form.pack};",
        f"#pragma unroll 4\n{loop}",
    ]


def _combine_block(form: ReductionForm) -> str:
    """Combine the values of the threads of a row or column."""
    if form.columns:
        return f"_over_columns<{THREADS}, _lanes>(_s, _join)"
    if form.lanes > 32:
        return "_over_block<_lanes>(_s, _join)"
    return "_over_lanes<_lanes>(_s, _join)"


def _is_writer(form: ReductionForm) -> str:
    if form.lanes == THREADS:
        return "threadIdx.x == 0"
    return "threadIdx.x < _lanes" if form.columns else "threadIdx.x % _lanes == 0"


def _combine_parts(form: ReductionForm, expressions: Expressions) -> list[str]:
    """Combine the parts of a row: the last block reads the partial results of the others."""
    combine = f"_s = {_combine_block(form)};"
    if not form.columns and form.lanes <= 32:
        return [combine]
    begin, step = ("threadIdx.x / _lanes", "_beside") if form.columns else ("threadIdx.x", "_lanes")
    read = block(
        f"for (ptrdiff_t _k = {begin}; _i < _rows && _k < _splits; _k += {step})",
        ["_s = _join(_s, _read(&_partials[_k * _rows + _i]));"],
    )
    lines = [
        f"if ({_is_writer(form)} && _i < _rows) _write(&_partials[_part * _rows + _i], _s);",
        "if (!_is_last(&_done[_group_at], _splits)) return;",
        f"_s = {_initial_value(expressions)};",
        read,
        combine,
    ]
    return [combine, block("if (_splits > 1)", lines)]


def _result(form: ReductionForm, expressions: Expressions) -> list[str]:
    value = "_s" if expressions.identity else "_s.value"
    return [f"if ({_is_writer(form)} && _i < _rows) _finish(_i, {value});"]
