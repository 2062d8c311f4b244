"""Generate a reduction as C++ for the CPU.

A row holds the elements of one result; columns are rows that are interleaved in memory.
A block reduces rows, columns, or a part of long rows; the last block to finish combines the parts.
A lane is one of several accumulators, which SIMD instructions update together.
"""

from __future__ import annotations

from pycu2c.base import dtypes
from pycu2c.compat.cupy.bound_parameters import extent_name
from pycu2c.compat.cupy.compiled_kernel import GeneratedText
from pycu2c.compat.cupy.kernel_definition import (
    EXPORTED,
    block,
    cpu_kernel,
    cpu_name,
    join_sections,
    used_fields,
)
from pycu2c.compat.cupy.reduction.iteration_space import CPU_COLUMNS
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

_UNROLL = 4  # rows per iteration; accumulators are loaded and stored once an iteration


def cpu_reduction(spec: ReductionSpec, user_source: UserSource) -> GeneratedText:
    body = _column_loops(spec, user_source) if spec.by_columns else _row_loops(spec, user_source)
    head = [
        "const ptrdiff_t _part_index = _block % _part_count, _group_index = _block / _part_count;",
        "const ptrdiff_t _begin = _part_index * _part_length, _part_end = _begin + _part_length;",
        "const ptrdiff_t _end = _part_end < _row_length ? _part_end : _row_length;",
    ]
    loop_head = "for (int64_t _block = _first_block; _block < _last_block; _block++)"
    blocks = block(loop_head, [*head, *body])
    body = [*user_functions(spec, user_source, "ptrdiff_t"), blocks, _combine_parts()]
    fields = used_fields(reduction_fields(spec, dtypes.INT64, dtypes.INT64), body)
    kernel = cpu_kernel(user_source.name, fields, body)
    entry = cpu_name(user_source.name)
    size = f"{EXPORTED} const int64_t {entry}_partial = sizeof(_type_reduce);"
    partial = "typedef _type_reduce _Partial;"
    parts = [
        *reduction_preamble(spec, user_source, "\n".join(kernel), on_cpu=True),
        partial,
        size,
        *kernel,
    ]
    return GeneratedText(
        join_sections(parts), entry, tuple(fields), user_source.name, user_source.user_texts
    )


def _store_row(row: str, value: str) -> str:
    """Return the statement that stores the result, or partial result, of a row."""
    lines = [f"_store_result({row}, {value});"]
    return block("if (_part_count == 1)", lines) + block(
        " else", [f"_partials[_part_index * _row_count + {row}] = {value};"]
    )


def _combine_parts() -> str:
    """Generate the code of the last block, which combines the parts in order."""
    combine = "_partials[_i] = _reduce(_partials[_i], _partials[_k * _row_count + _i]);"
    rows = "#pragma omp simd\n" + block("for (ptrdiff_t _i = 0; _i < _row_count; _i++)", [combine])
    rows_of_parts = block("for (ptrdiff_t _k = 1; _k < _part_count; _k++)", [rows])
    store = "_store_result(_i, _partials[_i]);"
    store_results = block("for (ptrdiff_t _i = 0; _i < _row_count; _i++)", [store])
    return block(
        "if (_part_count > 1)",
        [
            "const unsigned int _own_blocks = (unsigned int)(_last_block - _first_block);",
            "const unsigned int _earlier_blocks =",
            "    __atomic_fetch_add(_finished_blocks, _own_blocks, __ATOMIC_ACQ_REL);",
            "if (_earlier_blocks + _own_blocks != _arguments.grid[0]) return;",
            rows_of_parts,
            store_results,
        ],
    )


# ---- rows ----------------------------------------------------------------------------------


def _row_loops(spec: ReductionSpec, user_source: UserSource) -> list[str]:
    lines = [
        *row_pointers(spec, "_i"),
        *_lane_declarations(spec, user_source),
        *_element_loops(spec, user_source),
    ]
    lines += [*_combine_lanes(spec, user_source), _store_row("_i", "_lane[0]")]
    return [
        "const ptrdiff_t _first_row = _group_index * _rows_per_group;",
        "const ptrdiff_t _group_end = _first_row + _rows_per_group;",
        "const ptrdiff_t _row_end = _group_end < _row_count ? _group_end : _row_count;",
        block("for (ptrdiff_t _i = _first_row; _i < _row_end; _i++)", lines),
    ]


def _lane_declarations(spec: ReductionSpec, user_source: UserSource) -> list[str]:
    lines = [f"_type_reduce _lane[{spec.lanes}];"]
    if user_source.identity:
        return [
            *lines,
            f"for (_type_reduce &_value : _lane) _value = _type_reduce({user_source.identity});",
        ]
    return [*lines, "ptrdiff_t _used_lanes = 0; // number of lanes that have a value"]


def _element_loops(spec: ReductionSpec, user_source: UserSource) -> list[str]:
    """Generate a loop along the last reduced axis, up to the end of the axis or the part."""
    if spec.reduced_ndim == 1:
        return _element_loop(spec, user_source, "_begin", "_end - _begin", ["_J"])
    last_axis = spec.kept_ndim + spec.reduced_ndim - 1
    inner_index = f"_reduced{spec.reduced_ndim - 1}"
    axis_rest, part_rest = f"{extent_name(last_axis)} - {inner_index}", "_end - _position"
    body = split_index("_position", spec.kept_ndim, spec.reduced_ndim, "ptrdiff_t", "_reduced")
    body.append(f"const ptrdiff_t _count = {axis_rest} < {part_rest} ? {axis_rest} : {part_rest};")
    indices = [f"_reduced{axis}" for axis in range(spec.reduced_ndim - 1)]
    body += _element_loop(
        spec, user_source, "_position", "_count", [*indices, f"({inner_index} + _J - _position)"]
    )
    body.append("_position += _count;")
    return [block("for (ptrdiff_t _position = _begin; _position < _end;)", body)]


def _element_loop(
    spec: ReductionSpec, user_source: UserSource, begin: str, count: str, indices: list[str]
) -> list[str]:
    """Generate loops that accumulate ``count`` elements from ``begin`` on in the lanes."""
    if spec.lanes > 1:
        indices = [index.replace("_J", "(_J + _lane_index)") for index in indices]
    elements = [
        f"_row_{b.name}[{offset_in_row(spec, b, indices) or '0'}]" for b in spec.input_arrays
    ]
    index = "_J + _lane_index" if spec.lanes > 1 else "_J"
    value = mapped_call(user_source, elements, index, "_i")
    stop = f"{begin} + {count}" if count != "_end - _begin" else "_end"
    if spec.lanes == 1:
        head = f"for (ptrdiff_t _J = {begin}; _J < {stop}; _J++)"
        if user_source.identity:
            return [block(head, [f"_lane[0] = _reduce(_lane[0], {value});"])]
        accumulate = f"_lane[0] = _used_lanes ? _reduce(_lane[0], {value}) : {value};"
        return [block(head, [accumulate, "_used_lanes = 1;"])]
    accumulate = f"_lane[_lane_index] = _reduce(_lane[_lane_index], {value});"
    if not user_source.identity:
        accumulate = (
            "_lane[_lane_index] = _lane_index < _used_lanes ? "
            f"_reduce(_lane[_lane_index], {value}) : {value};"
        )
    lanes = spec.lanes
    rest = f"{stop} - _J"
    update_used, update_used_rest = (
        [] if user_source.identity else [f"if (_used_lanes < {count}) _used_lanes = {count};"]
        for count in (str(lanes), rest)
    )
    lane_loop, rest_loop = (
        block(
            f"for (ptrdiff_t _lane_index = 0; _lane_index < {count}; _lane_index++)", [accumulate]
        )
        for count in (str(lanes), rest)
    )
    return [
        f"ptrdiff_t _J = {begin};",
        block(
            f"for (; _J + {lanes} <= {stop}; _J += {lanes})",
            [f"#pragma omp simd\n{lane_loop}", *update_used],
        ),
        rest_loop,
        *update_used_rest,
    ]


def _combine_lanes(spec: ReductionSpec, user_source: UserSource) -> list[str]:
    """Generate the code that combines all lanes in lane 0."""
    if spec.lanes == 1:
        return []
    guard = "" if user_source.identity else "if (_lane_index + _half < _used_lanes) "
    combine = "_lane[_lane_index] = _reduce(_lane[_lane_index], _lane[_lane_index + _half]);"
    return [
        f"for (ptrdiff_t _half = {spec.lanes // 2}; _half > 0; _half /= 2) {{",
        "    for (ptrdiff_t _lane_index = 0; _lane_index < _half; _lane_index++) {",
        f"        {guard}{combine}",
        "    }",
        "}",
    ]


# ---- columns -------------------------------------------------------------------------------


def _column_loops(spec: ReductionSpec, user_source: UserSource) -> list[str]:
    """Reduce adjacent columns at the same time, with one column per SIMD lane.

    A column is a row of the reduction, so ``_first_row`` is the index of the first one.
    """
    last_extent, columns = extent_name(spec.kept_ndim - 1), str(CPU_COLUMNS)
    lines = [
        f"const ptrdiff_t _column_chunks = ({last_extent} + {CPU_COLUMNS - 1}) / {columns};",
        f"const ptrdiff_t _first_column = _group_index % _column_chunks * {columns};",
        f"const ptrdiff_t _first_row ="
        f" _group_index / _column_chunks * {last_extent} + _first_column;",
        f"const ptrdiff_t _columns_left = {last_extent} - _first_column;",
        f"const ptrdiff_t _column_count = _columns_left < {columns} ? _columns_left : {columns};",
        f"_type_reduce _lane[{CPU_COLUMNS}];",
        *row_pointers(spec, "_first_row"),
    ]
    column_loop = (
        "for (ptrdiff_t _column_index = 0; _column_index < _column_count; _column_index++)"
    )
    loop = f"#pragma omp simd\n{column_loop}"
    pointers, (value,) = _column_elements(spec, user_source, 1)
    initialization = block(
        "if (_J == _begin)", [block(loop, [f"_lane[_column_index] = {value};"]), "continue;"]
    )
    lines.append("ptrdiff_t _J = _begin;")
    if spec.reduced_ndim == 1:
        unrolled_pointers, values = _column_elements(spec, user_source, _UNROLL)
        accumulated = "_lane[_column_index]"
        for row_value in values:
            accumulated = f"_reduce({accumulated}, {row_value})"
        inner_loop = block(loop, [f"_lane[_column_index] = {accumulated};"])
        first_row = block(
            "if (_J < _end)",
            [*pointers, block(loop, [f"_lane[_column_index] = {value};"]), "_J++;"],
        )
        unrolled_head = f"for (; _J + {_UNROLL} <= _end; _J += {_UNROLL})"
        lines += [first_row, block(unrolled_head, [*unrolled_pointers, inner_loop])]
        initialization = ""
    row_body = [
        *pointers,
        initialization,
        block(loop, [f"_lane[_column_index] = _reduce(_lane[_column_index], {value});"]),
    ]
    lines.append(block("for (; _J < _end; _J++)", row_body))
    store = _store_row("(_first_row + _column_index)", "_lane[_column_index]")
    return [*lines, block(column_loop, [store])]


def _column_elements(
    spec: ReductionSpec, user_source: UserSource, count: int
) -> tuple[list[str], list[str]]:
    """Return declarations of pointers to ``count`` elements of a column, and the mapped values."""
    has_one_axis = spec.reduced_ndim == 1
    lines = (
        []
        if has_one_axis
        else split_index("_J", spec.kept_ndim, spec.reduced_ndim, "ptrdiff_t", "_reduced")
    )
    values = []
    for k in range(count):
        row = f"(_J + {k})" if k else "_J"
        indices = (
            [row] if has_one_axis else [f"_reduced{axis}" for axis in range(spec.reduced_ndim)]
        )
        elements = []
        for b in spec.input_arrays:
            start = offset_in_row(spec, b, indices)
            pointer = f"_elements{k or ''}_{b.name}"
            plus = f" + {start}" if start else ""
            lines.append(f"const {b.ctype} *const {pointer} = _row_{b.name}{plus};")
            stride = b.strides[spec.kept_ndim - 1]
            column = {"broadcast": "0", "unit": "_column_index"}.get(
                stride, f"_column_index * _{b.name}_s{spec.kept_ndim - 1}"
            )
            elements.append(f"{pointer}[{column}]")
        values.append(mapped_call(user_source, elements, row, "(_first_row + _column_index)"))
    return lines, values
