"""Generate an elementwise kernel as CUDA C++."""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.base import dtypes
from pycu2c.compat.cupy.bound_parameters import extent_name
from pycu2c.compat.cupy.compiled_kernel import GeneratedText
from pycu2c.compat.cupy.elementwise.source_parts import (
    ElementwiseOperation,
    ElementwiseSpec,
    element_accesses,
    element_declarations,
    is_also_written,
    kernel_struct_fields,
    preamble_definitions,
    raw_array_and_index_declarations,
)
from pycu2c.compat.cupy.kernel_definition import (
    as_statement,
    block,
    cuda_kernel,
    cuda_name,
    join_sections,
    used_fields,
)

# A thread with several elements loads all of them before it computes. Enough bytes in flight per
# array hide the memory latency.
_BYTES_IN_FLIGHT = 16  # per array and thread
_MAX_ELEMENTS = 4
# keywords of operations that skip elements or are compute-bound: one element per thread
_ONE_ELEMENT_KEYWORDS = frozenset(("return", "break", "goto", "for", "while"))


def elements_of_thread(spec: ElementwiseSpec, operation: ElementwiseOperation) -> int:
    """Return the number of elements per thread."""
    sizes = [spec.bound_parameters[position].dtype.size for position in _prefetched(spec)]
    outside_loop = operation.loop_prep or operation.after_loop
    if spec.axes > 1 or not sizes or outside_loop or operation.names & _ONE_ELEMENT_KEYWORDS:
        return 1
    return min(max(_BYTES_IN_FLIGHT // min(sizes), 1), _MAX_ELEMENTS)


def cuda_text(spec: ElementwiseSpec, operation: ElementwiseOperation) -> GeneratedText:
    """Generate a CUDA kernel."""
    stride_dtype = dtypes.INT64 if spec.needs_index64 else dtypes.INT32
    count = elements_of_thread(spec, operation)
    statements = (
        _multiple_elements(spec, operation, count)
        if count > 1
        else _single_element(spec, operation)
    )
    lines = [
        *raw_array_and_index_declarations(spec, operation),
        as_statement(operation.loop_prep),
        *statements,
        as_statement(operation.after_loop),
    ]
    fields = used_fields(
        kernel_struct_fields(
            spec, stride_dtype, dtypes.UINT64 if spec.needs_index64 else dtypes.UINT32
        ),
        lines,
    )
    kernel = cuda_kernel(operation.name, fields, lines)
    preamble = preamble_definitions(spec, operation, kernel, on_cpu=False)
    name, text = operation.name, join_sections([*preamble, kernel])
    return GeneratedText(text, cuda_name(name), tuple(fields), name, operation.user_texts, count)


def _single_element(spec: ElementwiseSpec, operation: ElementwiseOperation) -> list[str]:
    """Generate one element per thread."""
    names = [f"_i{axis}" for axis in range(spec.axes)] if spec.axes > 1 else ["i"]
    indices = _axis_indices(spec) if spec.axes > 1 else []
    body = [*indices, *_body(spec, operation, element_accesses(spec, names))]
    if operation.names & {"continue", "break"}:  # they skip the rest of the element
        body = [f"{block('do', body)} while (0);"]
    return [
        "const ptrdiff_t i = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x;",
        block("if (i < _size)", body),
    ]


def _multiple_elements(
    spec: ElementwiseSpec, operation: ElementwiseOperation, count: int
) -> list[str]:
    """Generate several elements per thread, with the block size as stride."""
    element_at, buffers, loads = element_accesses(spec, ["i"]), [], []
    for position in _prefetched(spec):
        bound = spec.bound_parameters[position]
        buffers.append(f"{bound.ctype} _read_{bound.name}[{count}];")
        loads.append(f"_read_{bound.name}[_k] = {element_at[position]};")
        element_at[position] = f"_read_{bound.name}[_k]"
    loop_head = f"for (int _k = 0; _k < {count}; _k++)"
    index_declaration = "const ptrdiff_t i = _begin + _k * blockDim.x;"
    body = block("if (i < _size)", _body(spec, operation, element_at))
    return [
        f"const ptrdiff_t _begin = (ptrdiff_t)blockIdx.x * ({count} * blockDim.x) + threadIdx.x;",
        *buffers,
        "#pragma unroll",
        block(loop_head, [index_declaration, block("if (i < _size)", loads)]),
        "#pragma unroll",
        block(loop_head, [index_declaration, body]),
    ]


def _prefetched(spec: ElementwiseSpec) -> list[int]:
    """Return the positions of the arrays that are read and not written."""
    return [
        position
        for position, bound in enumerate(spec.bound_parameters)
        if bound.kind == "array" and bound.info.is_const and not is_also_written(spec, bound)
    ]


def _body(
    spec: ElementwiseSpec, operation: ElementwiseOperation, element_at: Mapping[int, str]
) -> list[str]:
    return [
        "_ind.set(i);" if "_ind" in operation.names else "",
        *element_declarations(spec, element_at),
        as_statement(operation.text),
    ]


def _axis_indices(spec: ElementwiseSpec) -> list[str]:
    """Declare the index of an element along each axis, in 32 bits if possible."""
    unsigned, signed = (
        ("unsigned long long", "ptrdiff_t") if spec.needs_index64 else ("unsigned int", "int")
    )
    lines = [f"{unsigned} _left = ({unsigned})i;"]
    for axis in range(spec.axes - 1, 0, -1):
        lines.append(f"const {signed} _i{axis} = _left % {extent_name(axis)};")
        lines.append(f"_left /= {extent_name(axis)};")
    return [*lines, f"const {signed} _i0 = _left;"]
