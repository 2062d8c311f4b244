"""Generate an elementwise kernel as C++ loops for the CPU."""

from __future__ import annotations

from pycu2c.base import dtypes
from pycu2c.compat.cupy.bound_parameters import extent_name, offset
from pycu2c.compat.cupy.compiled_kernel import GeneratedText
from pycu2c.compat.cupy.elementwise.source_parts import (
    ElementwiseForm,
    ElementwiseOperation,
    elements,
    fields_of,
    in_memory,
    preamble_text,
    size_declarations,
)
from pycu2c.compat.cupy.kernel_prologue import (
    as_statement,
    block,
    cpu_kernel,
    cpu_name,
    text_of,
    used_fields,
)

CHUNK = 1024  # elements per block of the thread pool
_PREVENTS_SIMD = frozenset(("return", "break", "goto", "static", "asm", "printf"))


def cpu_text(form: ElementwiseForm, operation: ElementwiseOperation) -> GeneratedText:
    """Generate a function that processes a range of chunks."""
    loop = _one_axis(form, operation) if form.axes == 1 else _rows(form, operation)
    lines = [
        *size_declarations(form, operation),
        as_statement(operation.loop_prep),
        f"const ptrdiff_t _begin = _first * {CHUNK};",
        f"const ptrdiff_t _end = _last * {CHUNK} < _size ? _last * {CHUNK} : _size;",
        *loop,
        as_statement(operation.after_loop),
    ]
    passed = used_fields(fields_of(form, dtypes.INT64, dtypes.INT64), lines)
    kernel = cpu_kernel(operation.name, passed, lines)
    above = preamble_text(form, operation, "\n".join(kernel), on_cpu=True)
    name, text = operation.name, text_of([*above, *kernel])
    return GeneratedText(text, cpu_name(name), tuple(passed), name, operation.written, CHUNK)


def _body(operation: ElementwiseOperation) -> str:
    """Return the operation as a statement; ``return`` in it ends the element."""
    text = as_statement(operation.text)
    if "return" not in operation.names:
        return text
    return block("[&]", [f"{block('do', [text])} while (0);"]) + "();"


def _is_vectorizable(form: ElementwiseForm, operation: ElementwiseOperation) -> bool:
    """Return whether elements are independent, so that the loop can be vectorized."""
    names = operation.names
    free = not (operation.loop_prep or operation.after_loop or names & _PREVENTS_SIMD)
    writes_anywhere = any(b.kind == "raw" and not b.info.is_const for b in form.bounds)
    return free and not writes_anywhere and not any(n.startswith("atomic") for n in names)


def _one_axis(form: ElementwiseForm, operation: ElementwiseOperation) -> list[str]:
    body = ["_ind.set(i);" if "_ind" in operation.names else ""]
    body += elements(form, in_memory(form, ["i"]))
    loop = block("for (ptrdiff_t i = _begin; i < _end; i++)", [*body, _body(operation)])
    return [_simd_pragma(form, operation), loop]


def _simd_pragma(form: ElementwiseForm, operation: ElementwiseOperation) -> str:
    return "#pragma omp simd" if _is_vectorizable(form, operation) else ""


def _rows(form: ElementwiseForm, operation: ElementwiseOperation) -> list[str]:
    """Generate loops along the last axis, up to the end of the row or chunk."""
    last = form.axes - 1
    lines = ["ptrdiff_t _left = _row;", f"const ptrdiff_t _k = _left % {extent_name(last)};"]
    for axis in range(last - 1, -1, -1):
        lines.append(f"_left /= {extent_name(axis + 1)};")
        lines.append(
            f"const ptrdiff_t _i{axis} = _left{f' % {extent_name(axis)}' if axis else ''};"
        )
    rest = f"{extent_name(last)} - _k"
    lines.append(f"const ptrdiff_t _count = {rest} < _end - _row ? {rest} : _end - _row;")
    names = [*(f"_i{axis}" for axis in range(last)), "_k"]
    element_at: dict[int, str] = {}
    for position, bound in enumerate(form.bounds):
        if bound.kind != "array":
            continue
        start = offset(bound, names)
        lines.append(
            f"{bound.element} *const _at{bound.pointer} = {bound.pointer}"
            f"{f' + {start}' if start else ''};"
        )
        element_at[position] = f"_at{bound.pointer}[{offset(bound, ['_j'], last) or '0'}]"
    needs_i = operation.names & {"i", "_ind"}
    body = ["const ptrdiff_t i = _row + _j;" if needs_i else ""]
    body += ["_ind.set(i);" if "_ind" in operation.names else "", *elements(form, element_at)]
    loop = block("for (ptrdiff_t _j = 0; _j < _count; _j++)", [*body, _body(operation)])
    row = [*lines, _simd_pragma(form, operation), loop, "_row += _count;"]
    return [block("for (ptrdiff_t _row = _begin; _row < _end;)", row)]
