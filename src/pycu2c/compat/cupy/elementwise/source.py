"""Generate the text of an elementwise kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pycu2c.base import dtypes
from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass
from pycu2c.compat.cupy.bound_parameters import (
    BoundParameter,
    KernelField,
    extent_name,
    offset,
    raw_array_views,
    size_dtypes,
    split_index,
    typedefs,
    used_fields,
)
from pycu2c.compat.cupy.compiled_kernel import GeneratedText
from pycu2c.compat.cupy.kernel_definition import (
    as_statement,
    block,
    cpu_kernel,
    cpu_name,
    cuda_kernel,
    cuda_name,
    join_sections,
)
from pycu2c.compat.cupy.parameter_declarations import names_in
from pycu2c.compat.cupy.preamble import required_definitions, without_headers

CHUNK = 1024  # elements of a block on the CPU, as which the thread pool schedules a chunk
_PREVENTS_SIMD = frozenset(("return", "break", "goto", "static", "asm", "printf"))
# A thread with several elements loads all of them before it computes. Enough bytes in flight per
# array hide the memory latency.
_BYTES_IN_FLIGHT = 16  # per array and thread
_MAX_ELEMENTS = 4
# keywords of operations that skip elements or are compute-bound: one element per thread
_ONE_ELEMENT_KEYWORDS = frozenset(("return", "break", "goto", "for", "while"))


@dataclass(frozen=True, slots=True)
class ElementwiseOperation:
    """The texts of the user. ``macros``: ``#define`` lines from the options."""

    name: str
    text: str
    preamble: str = ""
    loop_prep: str = ""
    after_loop: str = ""
    macros: tuple[str, ...] = ()

    @property
    def user_texts(self) -> dict[str, str]:
        """Return the texts by their names in error messages."""
        texts = (self.text, self.preamble, self.loop_prep, self.after_loop)
        return dict(zip(("operation", "preamble", "loop_prep", "after_loop"), texts))

    @property
    def names(self) -> frozenset[str]:
        return names_in(self.text, self.loop_prep, self.after_loop)


@dataclass(frozen=True, slots=True)
class ElementwiseSpec:
    """What the generated text depends on.

    axes: the number of axes. needs_index64: whether indices require 64 bits.
    """

    bound_parameters: tuple[BoundParameter, ...]
    placeholders: tuple[tuple[str, DType], ...]
    axes: int
    needs_index64: bool


def elementwise_text(
    spec: ElementwiseSpec, operation: ElementwiseOperation, backend: str
) -> GeneratedText:
    """Generate the kernel for a back end."""
    on_cpu, name = backend == "cpu", operation.name
    elements = CHUNK if on_cpu else elements_of_thread(spec, operation)
    loop = _cpu_loop if on_cpu else _several_elements if elements > 1 else _one_element
    body = [
        *_raw_arrays_and_index(spec, operation),
        as_statement(operation.loop_prep),
        *loop(spec, operation),
        as_statement(operation.after_loop),
    ]
    fields = _fields(spec, body, on_cpu=on_cpu)
    kernel = cpu_kernel(name, fields, body) if on_cpu else [cuda_kernel(name, fields, body)]
    text = join_sections([*_preamble(spec, operation, kernel, on_cpu=on_cpu), *kernel])
    entry = cpu_name(name) if on_cpu else cuda_name(name)
    return GeneratedText(text, entry, fields, name, operation.user_texts, elements)


def _fields(spec: ElementwiseSpec, body: Sequence[str], *, on_cpu: bool) -> tuple[KernelField, ...]:
    wide = on_cpu or spec.needs_index64
    extent = dtypes.INT64 if on_cpu else dtypes.UINT64 if wide else dtypes.UINT32
    sizes = size_dtypes(spec.bound_parameters, dtypes.INT64 if wide else dtypes.INT32)
    sizes |= {extent_name(axis): extent for axis in range(1, spec.axes)} | {"_size": dtypes.INT64}
    return used_fields(spec.bound_parameters, sizes, {}, body)


def _preamble(
    spec: ElementwiseSpec, operation: ElementwiseOperation, kernel: Sequence[str], *, on_cpu: bool
) -> list[str]:
    """Return the definitions before the kernel that the kernel and the user's texts use."""
    types = [b.dtype for b in spec.bound_parameters] + [dtype for _, dtype in spec.placeholders]
    names = names_in(operation.preamble, *kernel, *operation.macros)
    return [
        *required_definitions(types, names, on_cpu=on_cpu),
        "\n".join(operation.macros),
        "\n".join(typedefs(spec.placeholders)),
        without_headers(operation.preamble, on_cpu=on_cpu),
    ]


def _raw_arrays_and_index(spec: ElementwiseSpec, operation: ElementwiseOperation) -> list[str]:
    """Declare raw arrays, and ``n`` and ``_ind`` if the operation uses them."""
    names, parameters = operation.names, {b.name for b in spec.bound_parameters}
    lines = raw_array_views(spec.bound_parameters)
    if "n" in names and "n" not in parameters:
        lines.append("const ptrdiff_t n = _size;")
    if "_ind" in names:
        extents = ", ".join(extent_name(axis) for axis in range(1, spec.axes))
        first = f"_size / ({extents.replace(', ', ' * ')})" if extents else "_size"
        shape = f"{first}, {extents}" if extents else first
        lines.append(f"CIndexer<{spec.axes}> _ind = {{_size, {{{shape}}}, {{}}}};")
    return lines


# ---- elements ------------------------------------------------------------------------------------


def _element_accesses(spec: ElementwiseSpec, names: Sequence[str]) -> dict[int, str]:
    """Return the C expression of the element of each array, by the position of its parameter.

    ``names`` are those of the indices.
    """
    return {
        position: f"{bound.pointer}[{offset(bound, names) or '0'}]"
        for position, bound in enumerate(spec.bound_parameters)
        if bound.kind == "array"
    }


def _is_also_written(spec: ElementwiseSpec, bound: BoundParameter) -> bool:
    return any(b.name == bound.name and not b.info.is_const for b in spec.bound_parameters)


def _body(
    spec: ElementwiseSpec, operation: ElementwiseOperation, element_at: Mapping[int, str]
) -> list[str]:
    """Declare inputs as copies of elements and outputs as references, and apply the operation.

    ``element_at``: the C expression of the element, by the position of its parameter.
    """
    lines = ["_ind.set(i);" if "_ind" in operation.names else ""]
    inputs = {b.name: b for b in spec.bound_parameters if b.info.is_const}
    for position, bound in enumerate(spec.bound_parameters):
        if bound.kind != "array":
            continue
        element = element_at[position]
        if not bound.info.is_const:
            lines.append(f"{bound.ctype} &{bound.name} = {element};")
            same_name = inputs.get(bound.name)
            if same_name:
                source = element_at[spec.bound_parameters.index(same_name)]
                lines.append(f"{bound.name} = {source};")
        elif not _is_also_written(spec, bound):
            lines.append(f"const {bound.ctype} {bound.name} = {element};")
    return [*lines, as_statement(operation.text)]


# ---- loops of a GPU ------------------------------------------------------------------------------


def elements_of_thread(spec: ElementwiseSpec, operation: ElementwiseOperation) -> int:
    """Return the number of elements per thread of a GPU."""
    sizes = [spec.bound_parameters[position].dtype.size for position in _prefetched(spec)]
    outside_loop = operation.loop_prep or operation.after_loop
    if spec.axes > 1 or not sizes or outside_loop or operation.names & _ONE_ELEMENT_KEYWORDS:
        return 1
    return min(max(_BYTES_IN_FLIGHT // min(sizes), 1), _MAX_ELEMENTS)


def _one_element(spec: ElementwiseSpec, operation: ElementwiseOperation) -> list[str]:
    unsigned, signed = ("size_t", "ptrdiff_t") if spec.needs_index64 else ("unsigned", "int")
    names = [f"_i{axis}" for axis in range(spec.axes)] if spec.axes > 1 else ["i"]
    indices = split_index(f"({unsigned})i", 0, spec.axes, signed, "_i", unsigned)
    body = [*indices, *_body(spec, operation, _element_accesses(spec, names))]
    if operation.names & {"continue", "break"}:  # they skip the rest of the element
        body = [f"{block('do', body)} while (0);"]
    return [
        "const ptrdiff_t i = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x;",
        block("if (i < _size)", body),
    ]


def _several_elements(spec: ElementwiseSpec, operation: ElementwiseOperation) -> list[str]:
    """Generate several elements per thread, with the block size as stride."""
    count = elements_of_thread(spec, operation)
    element_at, buffers, loads = _element_accesses(spec, ["i"]), [], []
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
        if bound.kind == "array" and bound.info.is_const and not _is_also_written(spec, bound)
    ]


# ---- loops of the CPU ----------------------------------------------------------------------------


def _cpu_loop(spec: ElementwiseSpec, operation: ElementwiseOperation) -> list[str]:
    """Generate loops over a range of blocks, each of ``CHUNK`` elements.

    Several axes have a loop along the last one, up to the end of the row or of the range.
    """
    lines = [
        f"const ptrdiff_t _begin = _first_block * {CHUNK};",
        f"const ptrdiff_t _end = _last_block * {CHUNK} < _size ? _last_block * {CHUNK} : _size;",
    ]
    pragma = "#pragma omp simd" if _is_vectorizable(spec, operation) else ""
    if spec.axes == 1:
        body = _cpu_body(spec, operation, _element_accesses(spec, ["i"]))
        return [*lines, pragma, block("for (ptrdiff_t i = _begin; i < _end; i++)", body)]
    last = spec.axes - 1
    rest = f"{extent_name(last)} - _i{last}"
    row = [
        *split_index("_row", 0, spec.axes, "ptrdiff_t", "_i"),
        f"const ptrdiff_t _count = {rest} < _end - _row ? {rest} : _end - _row;",
    ]
    element_at: dict[int, str] = {}
    for position, bound in enumerate(spec.bound_parameters):
        if bound.kind != "array":
            continue
        start = offset(bound, [f"_i{axis}" for axis in range(spec.axes)])
        at = f"_at{bound.pointer}"
        row.append(f"{bound.element} *const {at} = {bound.pointer}{f' + {start}' * bool(start)};")
        element_at[position] = f"{at}[{offset(bound, ['_j'], last) or '0'}]"
    index = "const ptrdiff_t i = _row + _j;" if operation.names & {"i", "_ind"} else ""
    body = [index, *_cpu_body(spec, operation, element_at)]
    row += [pragma, block("for (ptrdiff_t _j = 0; _j < _count; _j++)", body), "_row += _count;"]
    return [*lines, block("for (ptrdiff_t _row = _begin; _row < _end;)", row)]


def _cpu_body(
    spec: ElementwiseSpec, operation: ElementwiseOperation, element_at: Mapping[int, str]
) -> list[str]:
    """Return the body of a loop; ``return`` in the operation continues with the next element."""
    *declarations, text = _body(spec, operation, element_at)
    if "return" in operation.names:
        text = block("[&]", [f"{block('do', [text])} while (0);"]) + "();"
    return [*declarations, text]


def _is_vectorizable(spec: ElementwiseSpec, operation: ElementwiseOperation) -> bool:
    """Return whether the loop can be vectorized, because elements are independent."""
    names = operation.names
    prevents_simd = operation.loop_prep or operation.after_loop or names & _PREVENTS_SIMD
    writes_raw_array = any(b.kind == "raw" and not b.info.is_const for b in spec.bound_parameters)
    has_atomics = any(n.startswith("atomic") for n in names)
    return not (prevents_simd or writes_raw_array or has_atomics)
