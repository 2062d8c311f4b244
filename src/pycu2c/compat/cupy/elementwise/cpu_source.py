"""Generate an elementwise kernel as C++ loops for the CPU."""

from __future__ import annotations

from pycu2c.base import dtypes
from pycu2c.compat.cupy.bound_parameters import extent_name, offset
from pycu2c.compat.cupy.compiled_kernel import GeneratedText
from pycu2c.compat.cupy.elementwise.source_parts import (
    ElementwiseOperation,
    ElementwiseSpec,
    element_accesses,
    element_declarations,
    kernel_struct_fields,
    preamble_definitions,
    raw_array_and_index_declarations,
)
from pycu2c.compat.cupy.kernel_definition import (
    as_statement,
    block,
    cpu_kernel,
    cpu_name,
    join_sections,
    used_fields,
)

CHUNK = 1024  # elements of a block, as which the thread pool schedules a chunk
_PREVENTS_SIMD = frozenset(("return", "break", "goto", "static", "asm", "printf"))


def cpu_text(spec: ElementwiseSpec, operation: ElementwiseOperation) -> GeneratedText:
    """Generate a function that processes a range of blocks, each of ``CHUNK`` elements."""
    loop = (
        _loop_along_axis(spec, operation) if spec.axes == 1 else _loops_along_rows(spec, operation)
    )
    lines = [
        *raw_array_and_index_declarations(spec, operation),
        as_statement(operation.loop_prep),
        f"const ptrdiff_t _begin = _first_block * {CHUNK};",
        f"const ptrdiff_t _end = _last_block * {CHUNK} < _size ? _last_block * {CHUNK} : _size;",
        *loop,
        as_statement(operation.after_loop),
    ]
    fields = used_fields(kernel_struct_fields(spec, dtypes.INT64, dtypes.INT64), lines)
    kernel = cpu_kernel(operation.name, fields, lines)
    preamble = preamble_definitions(spec, operation, "\n".join(kernel), on_cpu=True)
    name, text = operation.name, join_sections([*preamble, *kernel])
    return GeneratedText(text, cpu_name(name), tuple(fields), name, operation.user_texts, CHUNK)


def _body(operation: ElementwiseOperation) -> str:
    """Return the operation as a statement, in which ``return`` continues with the next element."""
    text = as_statement(operation.text)
    if "return" not in operation.names:
        return text
    return block("[&]", [f"{block('do', [text])} while (0);"]) + "();"


def _is_vectorizable(spec: ElementwiseSpec, operation: ElementwiseOperation) -> bool:
    """Return whether the loop can be vectorized, because elements are independent."""
    names = operation.names
    prevents_simd = operation.loop_prep or operation.after_loop or names & _PREVENTS_SIMD
    writes_raw_array = any(b.kind == "raw" and not b.info.is_const for b in spec.bound_parameters)
    has_atomics = any(n.startswith("atomic") for n in names)
    return not (prevents_simd or writes_raw_array or has_atomics)


def _loop_along_axis(spec: ElementwiseSpec, operation: ElementwiseOperation) -> list[str]:
    body = ["_ind.set(i);" if "_ind" in operation.names else ""]
    body += element_declarations(spec, element_accesses(spec, ["i"]))
    loop = block("for (ptrdiff_t i = _begin; i < _end; i++)", [*body, _body(operation)])
    return [_simd_pragma(spec, operation), loop]


def _simd_pragma(spec: ElementwiseSpec, operation: ElementwiseOperation) -> str:
    return "#pragma omp simd" if _is_vectorizable(spec, operation) else ""


def _loops_along_rows(spec: ElementwiseSpec, operation: ElementwiseOperation) -> list[str]:
    """Generate loops along the last axis, up to the end of the row or chunk."""
    last = spec.axes - 1
    lines = ["ptrdiff_t _left = _row;", f"const ptrdiff_t _k = _left % {extent_name(last)};"]
    for axis in range(last - 1, -1, -1):
        lines.append(f"_left /= {extent_name(axis + 1)};")
        lines.append(
            f"const ptrdiff_t _i{axis} = _left{f' % {extent_name(axis)}' if axis else ''};"
        )
    row_rest = f"{extent_name(last)} - _k"
    lines.append(f"const ptrdiff_t _count = {row_rest} < _end - _row ? {row_rest} : _end - _row;")
    indices = [*(f"_i{axis}" for axis in range(last)), "_k"]
    element_at: dict[int, str] = {}
    for position, bound in enumerate(spec.bound_parameters):
        if bound.kind != "array":
            continue
        start = offset(bound, indices)
        lines.append(
            f"{bound.element} *const _at{bound.pointer} = {bound.pointer}"
            f"{f' + {start}' if start else ''};"
        )
        element_at[position] = f"_at{bound.pointer}[{offset(bound, ['_j'], last) or '0'}]"
    uses_index = operation.names & {"i", "_ind"}
    body = ["const ptrdiff_t i = _row + _j;" if uses_index else ""]
    body += [
        "_ind.set(i);" if "_ind" in operation.names else "",
        *element_declarations(spec, element_at),
    ]
    loop = block("for (ptrdiff_t _j = 0; _j < _count; _j++)", [*body, _body(operation)])
    row_body = [*lines, _simd_pragma(spec, operation), loop, "_row += _count;"]
    return [block("for (ptrdiff_t _row = _begin; _row < _end;)", row_body)]
