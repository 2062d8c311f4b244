"""Generate an elementwise kernel as CUDA C++."""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.base import dtypes
from pycu2c.compat.cupy.bound_parameters import extent_name
from pycu2c.compat.cupy.compiled_kernel import GeneratedText
from pycu2c.compat.cupy.elementwise.source_parts import (
    ElementwiseForm,
    ElementwiseOperation,
    elements,
    fields_of,
    in_memory,
    is_also_written,
    preamble_text,
    size_declarations,
)
from pycu2c.compat.cupy.kernel_prologue import (
    as_statement,
    block,
    cuda_kernel,
    cuda_name,
    text_of,
    used_fields,
)

# A thread with several elements loads all of them before it computes. Enough bytes in flight per
# array hide the memory latency.
_BYTES_IN_FLIGHT = 16  # per array and thread
_MAX_ELEMENTS = 4
# statements that end an element early, or make it compute-bound
_SINGLE_ELEMENT = frozenset(("return", "break", "goto", "for", "while"))


def elements_of_thread(form: ElementwiseForm, operation: ElementwiseOperation) -> int:
    """Return the number of elements per thread."""
    sizes = [form.bounds[position].dtype.size for position in _prefetched(form)]
    surrounding = operation.loop_prep or operation.after_loop
    if form.axes > 1 or not sizes or surrounding or operation.names & _SINGLE_ELEMENT:
        return 1
    return min(max(_BYTES_IN_FLIGHT // min(sizes), 1), _MAX_ELEMENTS)


def cuda_text(form: ElementwiseForm, operation: ElementwiseOperation) -> GeneratedText:
    """Generate a CUDA kernel."""
    index = dtypes.INT64 if form.wide else dtypes.INT32
    count = elements_of_thread(form, operation)
    work = (
        _multiple_elements(form, operation, count)
        if count > 1
        else _single_element(form, operation)
    )
    lines = [
        *size_declarations(form, operation),
        as_statement(operation.loop_prep),
        *work,
        as_statement(operation.after_loop),
    ]
    passed = used_fields(
        fields_of(form, index, dtypes.UINT64 if form.wide else dtypes.UINT32), lines
    )
    kernel = cuda_kernel(operation.name, passed, lines)
    above = preamble_text(form, operation, kernel, on_cpu=False)
    name, text = operation.name, text_of([*above, kernel])
    return GeneratedText(text, cuda_name(name), tuple(passed), name, operation.written, count)


def _single_element(form: ElementwiseForm, operation: ElementwiseOperation) -> list[str]:
    """Generate one element per thread."""
    names = [f"_i{axis}" for axis in range(form.axes)] if form.axes > 1 else ["i"]
    indices = _axis_indices(form) if form.axes > 1 else []
    body = [*indices, *_body(form, operation, in_memory(form, names))]
    if operation.names & {"continue", "break"}:  # they end the element
        body = [f"{block('do', body)} while (0);"]
    return [
        "const ptrdiff_t i = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x;",
        block("if (i < _size)", body),
    ]


def _multiple_elements(
    form: ElementwiseForm, operation: ElementwiseOperation, count: int
) -> list[str]:
    """Generate several elements per thread, with the block size as stride."""
    element_at, copies, reads = in_memory(form, ["i"]), [], []
    for position in _prefetched(form):
        bound = form.bounds[position]
        copies.append(f"{bound.ctype} _read_{bound.name}[{count}];")
        reads.append(f"_read_{bound.name}[_k] = {element_at[position]};")
        element_at[position] = f"_read_{bound.name}[_k]"
    each = f"for (int _k = 0; _k < {count}; _k++)"
    index = "const ptrdiff_t i = _begin + _k * blockDim.x;"
    body = block("if (i < _size)", _body(form, operation, element_at))
    return [
        f"const ptrdiff_t _begin = (ptrdiff_t)blockIdx.x * ({count} * blockDim.x) + threadIdx.x;",
        *copies,
        "#pragma unroll",
        block(each, [index, block("if (i < _size)", reads)]),
        "#pragma unroll",
        block(each, [index, body]),
    ]


def _prefetched(form: ElementwiseForm) -> list[int]:
    """Return the positions of parameters that are read and not written."""
    return [
        position
        for position, bound in enumerate(form.bounds)
        if bound.kind == "array" and bound.info.is_const and not is_also_written(form, bound)
    ]


def _body(
    form: ElementwiseForm, operation: ElementwiseOperation, element_at: Mapping[int, str]
) -> list[str]:
    return [
        "_ind.set(i);" if "_ind" in operation.names else "",
        *elements(form, element_at),
        as_statement(operation.text),
    ]


def _axis_indices(form: ElementwiseForm) -> list[str]:
    """Declare the index of an element along each axis, in 32 bits if possible."""
    unsigned, signed = ("unsigned long long", "ptrdiff_t") if form.wide else ("unsigned int", "int")
    lines = [f"{unsigned} _left = ({unsigned})i;"]
    for axis in range(form.axes - 1, 0, -1):
        lines.append(f"const {signed} _i{axis} = _left % {extent_name(axis)};")
        lines.append(f"_left /= {extent_name(axis)};")
    return [*lines, f"const {signed} _i0 = _left;"]
