"""Generate a reduction as C++ for the CPU.

A block computes rows, columns, or a part of long rows; the last block to finish combines the parts.
A lane is one of several accumulators, which SIMD instructions update together.
"""

from __future__ import annotations

from pycu2c.base import dtypes
from pycu2c.compat.cupy.bound_parameters import extent_name
from pycu2c.compat.cupy.compiled_kernel import GeneratedText
from pycu2c.compat.cupy.kernel_prologue import (
    EXPORTED,
    block,
    cpu_kernel,
    cpu_name,
    text_of,
    used_fields,
)
from pycu2c.compat.cupy.reduction.iteration_space import CPU_COLUMNS as COLUMNS
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

_UNROLL = 4  # rows of columns per iteration, to load and store accumulators less often


def cpu_reduction(form: ReductionForm, expressions: Expressions) -> GeneratedText:
    body = _columns(form, expressions) if form.columns else _rows(form, expressions)
    head = [
        "const ptrdiff_t _part = _block % _splits, _group_at = _block / _splits;",
        "const ptrdiff_t _begin = _part * _piece;",
        "const ptrdiff_t _end = _begin + _piece < _length ? _begin + _piece : _length;",
    ]
    blocks = block("for (int64_t _block = _first; _block < _last; _block++)", [*head, *body])
    body = [*functions(form, expressions, "ptrdiff_t"), blocks, _combine_parts()]
    arguments = used_fields(reduction_fields(form, dtypes.INT64, dtypes.INT64), body)
    kernel = cpu_kernel(expressions.name, arguments, body)
    entry = cpu_name(expressions.name)
    size = f"{EXPORTED} const int64_t {entry}_partial = sizeof(_type_reduce);"
    partial = "typedef _type_reduce _Partial;"
    parts = [
        *reduction_preamble(form, expressions, "\n".join(kernel), on_cpu=True),
        partial,
        size,
        *kernel,
    ]
    return GeneratedText(
        text_of(parts), entry, tuple(arguments), expressions.name, expressions.written
    )


def _store_row(row: str, value: str) -> str:
    """Return the statement that stores the result of a row."""
    lines = [f"_finish({row}, {value});"]
    return block("if (_splits == 1)", lines) + block(
        " else", [f"_partials[_part * _rows + {row}] = {value};"]
    )


def _combine_parts() -> str:
    """Generate the code of the last block, which combines the parts in order."""
    take = "_partials[_i] = _reduce(_partials[_i], _partials[_k * _rows + _i]);"
    each = "#pragma omp simd\n" + block("for (ptrdiff_t _i = 0; _i < _rows; _i++)", [take])
    parts = block("for (ptrdiff_t _k = 1; _k < _splits; _k++)", [each])
    finish = block("for (ptrdiff_t _i = 0; _i < _rows; _i++)", ["_finish(_i, _partials[_i]);"])
    return block(
        "if (_splits > 1)",
        [
            "const unsigned int _now = (unsigned int)(_last - _first);",
            "const unsigned int _before = __atomic_fetch_add(_done, _now, __ATOMIC_ACQ_REL);",
            "if (_before + _now != _given.grid[0]) return;",
            parts,
            finish,
        ],
    )


# ---- rows ----------------------------------------------------------------------------------


def _rows(form: ReductionForm, expressions: Expressions) -> list[str]:
    lines = [
        *row_pointers(form, "_i"),
        *_lane_declarations(form, expressions),
        *_element_loops(form, expressions),
    ]
    lines += [*_fold(form, expressions), _store_row("_i", "_lane[0]")]
    until = "(_group_at + 1) * _group < _rows ? (_group_at + 1) * _group : _rows"
    return [
        f"const ptrdiff_t _until = {until};",
        block("for (ptrdiff_t _i = _group_at * _group; _i < _until; _i++)", lines),
    ]


def _lane_declarations(form: ReductionForm, expressions: Expressions) -> list[str]:
    lines = [f"_type_reduce _lane[{form.lanes}];"]
    if expressions.identity:
        return [
            *lines,
            f"for (_type_reduce &_one : _lane) _one = _type_reduce({expressions.identity});",
        ]
    return [*lines, "ptrdiff_t _live = 0; // of the lanes have a value"]


def _element_loops(form: ReductionForm, expressions: Expressions) -> list[str]:
    """Loop along the last reduced axis, up to the end of the axis or the part."""
    if form.reduced == 1:
        return _element_loop(form, expressions, "_begin", "_end - _begin", ["_J"])
    last = form.kept + form.reduced - 1
    inner = f"_along{form.reduced - 1}"
    left, rest = f"{extent_name(last)} - {inner}", "_end - _from"
    body = split_index("_from", form.kept, form.reduced, "ptrdiff_t", "_along")
    body.append(f"const ptrdiff_t _count = {left} < {rest} ? {left} : {rest};")
    indices = [f"_along{axis}" for axis in range(form.reduced - 1)]
    body += _element_loop(
        form, expressions, "_from", "_count", [*indices, f"({inner} + _J - _from)"]
    )
    body.append("_from += _count;")
    return [block("for (ptrdiff_t _from = _begin; _from < _end;)", body)]


def _element_loop(
    form: ReductionForm, expressions: Expressions, begin: str, count: str, indices: list[str]
) -> list[str]:
    """Accumulate a run of elements in the lanes."""
    if form.lanes > 1:
        indices = [index.replace("_J", "(_J + _l)") for index in indices]
    elements = [f"_row_{b.name}[{offset_in_row(form, b, indices) or '0'}]" for b in form.arrays]
    index = "_J + _l" if form.lanes > 1 else "_J"
    value = mapped_call(expressions, elements, index, "_i")
    stop = f"{begin} + {count}" if count != "_end - _begin" else "_end"
    if form.lanes == 1:
        head = f"for (ptrdiff_t _J = {begin}; _J < {stop}; _J++)"
        if expressions.identity:
            return [block(head, [f"_lane[0] = _reduce(_lane[0], {value});"])]
        taken = f"_lane[0] = _live ? _reduce(_lane[0], {value}) : {value};"
        return [block(head, [taken, "_live = 1;"])]
    take = f"_lane[_l] = _reduce(_lane[_l], {value});"
    if not expressions.identity:
        take = f"_lane[_l] = _l < _live ? _reduce(_lane[_l], {value}) : {value};"
    lanes = form.lanes
    grown = [] if expressions.identity else [f"if (_live < {lanes}) _live = {lanes};"]
    rest = [] if expressions.identity else [f"if (_live < {stop} - _J) _live = {stop} - _J;"]
    whole = f"#pragma omp simd\nfor (ptrdiff_t _l = 0; _l < {lanes}; _l++) {{\n    {take}\n}}"
    return [
        f"ptrdiff_t _J = {begin};",
        block(f"for (; _J + {lanes} <= {stop}; _J += {lanes})", [whole, *grown]),
        block(f"for (ptrdiff_t _l = 0; _l < {stop} - _J; _l++)", [take]),
        *rest,
    ]


def _fold(form: ReductionForm, expressions: Expressions) -> list[str]:
    """Combine the lanes."""
    if form.lanes == 1:
        return []
    bound = "" if expressions.identity else "if (_l + _half < _live) "
    return [
        f"for (ptrdiff_t _half = {form.lanes // 2}; _half > 0; _half /= 2) {{",
        "    for (ptrdiff_t _l = 0; _l < _half; _l++) {",
        f"        {bound}_lane[_l] = _reduce(_lane[_l], _lane[_l + _half]);",
        "    }",
        "}",
    ]


# ---- columns -------------------------------------------------------------------------------


def _columns(form: ReductionForm, expressions: Expressions) -> list[str]:
    """Reduce adjacent columns at the same time, with one column per SIMD lane."""
    last = extent_name(form.kept - 1)
    lines = [
        f"const ptrdiff_t _chunks = ({last} + {COLUMNS - 1}) / {COLUMNS};",
        f"const ptrdiff_t _column = _group_at % _chunks * {COLUMNS};",
        f"const ptrdiff_t _first_of = _group_at / _chunks * {last} + _column;",
        f"const ptrdiff_t _many = {last} - _column < {COLUMNS} ? {last} - _column : {COLUMNS};",
        f"_type_reduce _lane[{COLUMNS}];",
        *row_pointers(form, "_first_of"),
    ]
    loop = "#pragma omp simd\nfor (ptrdiff_t _c = 0; _c < _many; _c++)"
    pointers, (value,) = _rows_of_columns(form, expressions, 1)
    first = block("if (_J == _begin)", [block(loop, [f"_lane[_c] = {value};"]), "continue;"])
    lines.append("ptrdiff_t _J = _begin;")
    if form.reduced == 1:
        several, values = _rows_of_columns(form, expressions, _UNROLL)
        whole = "_lane[_c]"
        for each in values:
            whole = f"_reduce({whole}, {each})"
        inner = block(loop, [f"_lane[_c] = {whole};"])
        start = block(
            "if (_J < _end)", [*pointers, block(loop, [f"_lane[_c] = {value};"]), "_J++;"]
        )
        ahead = f"for (; _J + {_UNROLL} <= _end; _J += {_UNROLL})"
        lines += [start, block(ahead, [*several, inner])]
        first = ""
    rest = [*pointers, first, block(loop, [f"_lane[_c] = _reduce(_lane[_c], {value});"])]
    lines.append(block("for (; _J < _end; _J++)", rest))
    store = _store_row("(_first_of + _c)", "_lane[_c]")
    return [*lines, block("for (ptrdiff_t _c = 0; _c < _many; _c++)", [store])]


def _rows_of_columns(
    form: ReductionForm, expressions: Expressions, count: int
) -> tuple[list[str], list[str]]:
    """Declare pointers to ``count`` rows of columns; return their mapped values at a column."""
    has_one_axis = form.reduced == 1
    lines = (
        [] if has_one_axis else split_index("_J", form.kept, form.reduced, "ptrdiff_t", "_along")
    )
    values = []
    for k in range(count):
        row = f"(_J + {k})" if k else "_J"
        indices = [row] if has_one_axis else [f"_along{axis}" for axis in range(form.reduced)]
        elements = []
        for b in form.arrays:
            start = offset_in_row(form, b, indices)
            pointer = f"_here{k or ''}_{b.name}"
            plus = f" + {start}" if start else ""
            lines.append(f"const {b.ctype} *const {pointer} = _row_{b.name}{plus};")
            stride = b.strides[form.kept - 1]
            column = {"none": "0", "unit": "_c"}.get(stride, f"_c * _{b.name}_s{form.kept - 1}")
            elements.append(f"{pointer}[{column}]")
        values.append(mapped_call(expressions, elements, row, "(_first_of + _c)"))
    return lines, values
