"""Generate a reduction as C++ for the CPU.

A row holds the elements of one result; columns are rows that are interleaved in memory.
A block reduces rows, columns, or a part of long rows; the last block to finish combines the parts.
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
    join_sections,
    used_fields,
)
from pycu2c.compat.cupy.reduction.iteration_space import CPU_COLUMNS
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

_UNROLL = 4  # rows per iteration; accumulators are loaded and stored once an iteration


def cpu_reduction(spec: ReductionSpec, expressions: Expressions) -> GeneratedText:
    body = _column_loops(spec, expressions) if spec.by_columns else _row_loops(spec, expressions)
    head = [
        "const ptrdiff_t _part = _block % _splits, _group_at = _block / _splits;",
        "const ptrdiff_t _begin = _part * _piece;",
        "const ptrdiff_t _end = _begin + _piece < _length ? _begin + _piece : _length;",
    ]
    blocks = block("for (int64_t _block = _first; _block < _last; _block++)", [*head, *body])
    body = [*user_functions(spec, expressions, "ptrdiff_t"), blocks, _combine_parts()]
    fields = used_fields(reduction_fields(spec, dtypes.INT64, dtypes.INT64), body)
    kernel = cpu_kernel(expressions.name, fields, body)
    entry = cpu_name(expressions.name)
    size = f"{EXPORTED} const int64_t {entry}_partial = sizeof(_type_reduce);"
    partial = "typedef _type_reduce _Partial;"
    parts = [
        *reduction_preamble(spec, expressions, "\n".join(kernel), on_cpu=True),
        partial,
        size,
        *kernel,
    ]
    return GeneratedText(
        join_sections(parts), entry, tuple(fields), expressions.name, expressions.user_texts
    )


def _store_row(row: str, value: str) -> str:
    """Return the statement that stores the result, or partial result, of a row."""
    lines = [f"_finish({row}, {value});"]
    return block("if (_splits == 1)", lines) + block(
        " else", [f"_partials[_part * _rows + {row}] = {value};"]
    )


def _combine_parts() -> str:
    """Generate the code of the last block, which combines the parts in order."""
    combine = "_partials[_i] = _reduce(_partials[_i], _partials[_k * _rows + _i]);"
    rows = "#pragma omp simd\n" + block("for (ptrdiff_t _i = 0; _i < _rows; _i++)", [combine])
    rows_of_parts = block("for (ptrdiff_t _k = 1; _k < _splits; _k++)", [rows])
    finish = block("for (ptrdiff_t _i = 0; _i < _rows; _i++)", ["_finish(_i, _partials[_i]);"])
    return block(
        "if (_splits > 1)",
        [
            "const unsigned int _now = (unsigned int)(_last - _first);",
            "const unsigned int _before = __atomic_fetch_add(_done, _now, __ATOMIC_ACQ_REL);",
            "if (_before + _now != _given.grid[0]) return;",
            rows_of_parts,
            finish,
        ],
    )


# ---- rows ----------------------------------------------------------------------------------


def _row_loops(spec: ReductionSpec, expressions: Expressions) -> list[str]:
    lines = [
        *row_pointers(spec, "_i"),
        *_lane_declarations(spec, expressions),
        *_element_loops(spec, expressions),
    ]
    lines += [*_combine_lanes(spec, expressions), _store_row("_i", "_lane[0]")]
    until = "(_group_at + 1) * _group < _rows ? (_group_at + 1) * _group : _rows"
    return [
        f"const ptrdiff_t _until = {until};",
        block("for (ptrdiff_t _i = _group_at * _group; _i < _until; _i++)", lines),
    ]


def _lane_declarations(spec: ReductionSpec, expressions: Expressions) -> list[str]:
    lines = [f"_type_reduce _lane[{spec.lanes}];"]
    if expressions.identity:
        return [
            *lines,
            f"for (_type_reduce &_one : _lane) _one = _type_reduce({expressions.identity});",
        ]
    return [*lines, "ptrdiff_t _live = 0; // of the lanes have a value"]


def _element_loops(spec: ReductionSpec, expressions: Expressions) -> list[str]:
    """Generate a loop along the last reduced axis, up to the end of the axis or the part."""
    if spec.reduced_ndim == 1:
        return _element_loop(spec, expressions, "_begin", "_end - _begin", ["_J"])
    last_axis = spec.kept_ndim + spec.reduced_ndim - 1
    inner_index = f"_along{spec.reduced_ndim - 1}"
    axis_rest, part_rest = f"{extent_name(last_axis)} - {inner_index}", "_end - _from"
    body = split_index("_from", spec.kept_ndim, spec.reduced_ndim, "ptrdiff_t", "_along")
    body.append(f"const ptrdiff_t _count = {axis_rest} < {part_rest} ? {axis_rest} : {part_rest};")
    indices = [f"_along{axis}" for axis in range(spec.reduced_ndim - 1)]
    body += _element_loop(
        spec, expressions, "_from", "_count", [*indices, f"({inner_index} + _J - _from)"]
    )
    body.append("_from += _count;")
    return [block("for (ptrdiff_t _from = _begin; _from < _end;)", body)]


def _element_loop(
    spec: ReductionSpec, expressions: Expressions, begin: str, count: str, indices: list[str]
) -> list[str]:
    """Generate loops that accumulate ``count`` elements from ``begin`` on in the lanes."""
    if spec.lanes > 1:
        indices = [index.replace("_J", "(_J + _l)") for index in indices]
    elements = [
        f"_row_{b.name}[{offset_in_row(spec, b, indices) or '0'}]" for b in spec.input_arrays
    ]
    index = "_J + _l" if spec.lanes > 1 else "_J"
    value = mapped_call(expressions, elements, index, "_i")
    stop = f"{begin} + {count}" if count != "_end - _begin" else "_end"
    if spec.lanes == 1:
        head = f"for (ptrdiff_t _J = {begin}; _J < {stop}; _J++)"
        if expressions.identity:
            return [block(head, [f"_lane[0] = _reduce(_lane[0], {value});"])]
        accumulate = f"_lane[0] = _live ? _reduce(_lane[0], {value}) : {value};"
        return [block(head, [accumulate, "_live = 1;"])]
    accumulate = f"_lane[_l] = _reduce(_lane[_l], {value});"
    if not expressions.identity:
        accumulate = f"_lane[_l] = _l < _live ? _reduce(_lane[_l], {value}) : {value};"
    lanes = spec.lanes
    update_live = [] if expressions.identity else [f"if (_live < {lanes}) _live = {lanes};"]
    update_live_rest = (
        [] if expressions.identity else [f"if (_live < {stop} - _J) _live = {stop} - _J;"]
    )
    all_lanes = (
        f"#pragma omp simd\nfor (ptrdiff_t _l = 0; _l < {lanes}; _l++) {{\n    {accumulate}\n}}"
    )
    return [
        f"ptrdiff_t _J = {begin};",
        block(f"for (; _J + {lanes} <= {stop}; _J += {lanes})", [all_lanes, *update_live]),
        block(f"for (ptrdiff_t _l = 0; _l < {stop} - _J; _l++)", [accumulate]),
        *update_live_rest,
    ]


def _combine_lanes(spec: ReductionSpec, expressions: Expressions) -> list[str]:
    """Generate the code that combines all lanes in lane 0."""
    if spec.lanes == 1:
        return []
    guard = "" if expressions.identity else "if (_l + _half < _live) "
    return [
        f"for (ptrdiff_t _half = {spec.lanes // 2}; _half > 0; _half /= 2) {{",
        "    for (ptrdiff_t _l = 0; _l < _half; _l++) {",
        f"        {guard}_lane[_l] = _reduce(_lane[_l], _lane[_l + _half]);",
        "    }",
        "}",
    ]


# ---- columns -------------------------------------------------------------------------------


def _column_loops(spec: ReductionSpec, expressions: Expressions) -> list[str]:
    """Reduce adjacent columns at the same time, with one column per SIMD lane."""
    last_extent = extent_name(spec.kept_ndim - 1)
    columns_left = f"{last_extent} - _column"
    lines = [
        f"const ptrdiff_t _chunks = ({last_extent} + {CPU_COLUMNS - 1}) / {CPU_COLUMNS};",
        f"const ptrdiff_t _column = _group_at % _chunks * {CPU_COLUMNS};",
        f"const ptrdiff_t _first_of = _group_at / _chunks * {last_extent} + _column;",
        f"const ptrdiff_t _many = {columns_left} < {CPU_COLUMNS} ? {columns_left} : {CPU_COLUMNS};",
        f"_type_reduce _lane[{CPU_COLUMNS}];",
        *row_pointers(spec, "_first_of"),
    ]
    loop = "#pragma omp simd\nfor (ptrdiff_t _c = 0; _c < _many; _c++)"
    pointers, (value,) = _column_elements(spec, expressions, 1)
    initialization = block(
        "if (_J == _begin)", [block(loop, [f"_lane[_c] = {value};"]), "continue;"]
    )
    lines.append("ptrdiff_t _J = _begin;")
    if spec.reduced_ndim == 1:
        unrolled_pointers, values = _column_elements(spec, expressions, _UNROLL)
        accumulated = "_lane[_c]"
        for row_value in values:
            accumulated = f"_reduce({accumulated}, {row_value})"
        inner_loop = block(loop, [f"_lane[_c] = {accumulated};"])
        first_row = block(
            "if (_J < _end)", [*pointers, block(loop, [f"_lane[_c] = {value};"]), "_J++;"]
        )
        unrolled_head = f"for (; _J + {_UNROLL} <= _end; _J += {_UNROLL})"
        lines += [first_row, block(unrolled_head, [*unrolled_pointers, inner_loop])]
        initialization = ""
    row_body = [
        *pointers,
        initialization,
        block(loop, [f"_lane[_c] = _reduce(_lane[_c], {value});"]),
    ]
    lines.append(block("for (; _J < _end; _J++)", row_body))
    store = _store_row("(_first_of + _c)", "_lane[_c]")
    return [*lines, block("for (ptrdiff_t _c = 0; _c < _many; _c++)", [store])]


def _column_elements(
    spec: ReductionSpec, expressions: Expressions, count: int
) -> tuple[list[str], list[str]]:
    """Return declarations of pointers to ``count`` elements of a column, and the mapped values."""
    has_one_axis = spec.reduced_ndim == 1
    lines = (
        []
        if has_one_axis
        else split_index("_J", spec.kept_ndim, spec.reduced_ndim, "ptrdiff_t", "_along")
    )
    values = []
    for k in range(count):
        row = f"(_J + {k})" if k else "_J"
        indices = [row] if has_one_axis else [f"_along{axis}" for axis in range(spec.reduced_ndim)]
        elements = []
        for b in spec.input_arrays:
            start = offset_in_row(spec, b, indices)
            pointer = f"_here{k or ''}_{b.name}"
            plus = f" + {start}" if start else ""
            lines.append(f"const {b.ctype} *const {pointer} = _row_{b.name}{plus};")
            stride = b.strides[spec.kept_ndim - 1]
            column = {"none": "0", "unit": "_c"}.get(
                stride, f"_c * _{b.name}_s{spec.kept_ndim - 1}"
            )
            elements.append(f"{pointer}[{column}]")
        values.append(mapped_call(expressions, elements, row, "(_first_of + _c)"))
    return lines, values
