"""The text of an elementwise kernel: CUDA C++, and the C++ of a loop for the CPU. The operation is
the same in both. Knows no arrays and no compiler."""

from __future__ import annotations

from pycu2c import dtypes
from pycu2c.cupy.bound import (
    Bound,
    Field,
    extent_name,
    fields,
    number_field,
    offset,
    typedefs,
    views_of_raw,
)
from pycu2c.cupy.compiled import Text
from pycu2c.cupy.declared import names_in
from pycu2c.cupy.frames import block, cpu_kernel, cpu_name, cuda_kernel, statement, text_of, used
from pycu2c.cupy.preludes import prelude, without_headers
from pycu2c.dtypes import DType
from pycu2c.records import dataclass

PIECE = 1024  # elements that the CPU's pool hands out as one


@dataclass(frozen=True, slots=True)
class Operation:
    """What a user has written."""

    name: str
    text: str
    preamble: str = ""
    loop_prep: str = ""
    after_loop: str = ""

    @property
    def written(self) -> dict[str, str]:
        """The texts, by what errors call them."""
        parts = (self.text, self.preamble, self.loop_prep, self.after_loop)
        return dict(zip(("operation", "preamble", "loop_prep", "after_loop"), parts))

    @property
    def names(self) -> frozenset[str]:
        return names_in(self.text, self.loop_prep, self.after_loop)


@dataclass(frozen=True, slots=True)
class Form:
    """A call as far as the text depends on it: its parameters, the placeholders, the number of
    axes, whether places along them need 64 bits."""

    bounds: tuple[Bound, ...]
    placeholders: tuple[tuple[str, DType], ...]
    axes: int
    wide: bool


def _fields(form: Form, index: DType, extent: DType) -> list[Field]:
    count = len(form.bounds)
    extents = [
        number_field(extent_name(axis), extent, count + axis) for axis in range(1, form.axes)
    ]
    size = number_field("_size", dtypes.INT64, count, "ptrdiff_t")
    return [*fields(form.bounds, index), *extents, size]


def _top(form: Form, operation: Operation, extra: str, *, on_cpu: bool) -> list[str]:
    """What stands before the kernel."""
    types = [b.row for b in form.bounds] + [row for _, row in form.placeholders]
    text = "\n".join((operation.preamble, operation.loop_prep, operation.text))
    needed = prelude(types, names_in(text, extra), on_cpu=on_cpu)
    preamble = without_headers(operation.preamble, on_cpu=on_cpu)
    return [*needed, "\n".join(typedefs(form.placeholders)), preamble]


def _known(form: Form, operation: Operation) -> list[str]:
    """What an operation knows beside its parameters, if it asks for it."""
    names, taken = operation.names, {b.name for b in form.bounds}
    found = views_of_raw(form.bounds)
    if "n" in names and "n" not in taken:
        found.append("const ptrdiff_t n = _size;")
    if "_ind" in names:
        extents = ", ".join(extent_name(axis) for axis in range(1, form.axes))
        first = f"_size / ({extents.replace(', ', ' * ')})" if extents else "_size"
        shape = f"{first}, {extents}" if extents else first
        found.append(f"CIndexer<{form.axes}> _ind = {{_size, {{{shape}}}, {{}}}};")
    return found


def _elements(form: Form, places: dict[int, str]) -> list[str]:
    """The declarations of elements: of what is read copies, of what is written references."""
    found = []
    inputs = {b.name: b for b in form.bounds if b.info.is_const}
    for position, bound in enumerate(form.bounds):
        if bound.kind != "array":
            continue
        element = f"{bound.pointer}[{places[position]}]"
        if not bound.info.is_const:
            found.append(f"{bound.ctype} &{bound.name} = {element};")
            given = inputs.get(bound.name)
            if given:
                found.append(f"{bound.name} = {_value(form, given, places)};")
        elif not _is_also_written(form, bound):
            found.append(f"const {bound.ctype} {bound.name} = {element};")
    return found


def _value(form: Form, given: Bound, places: dict[int, str]) -> str:
    return f"{given.pointer}[{places[form.bounds.index(given)]}]"


def _is_also_written(form: Form, bound: Bound) -> bool:
    return any(b.name == bound.name and not b.info.is_const for b in form.bounds)


# ---- CUDA ----------------------------------------------------------------------------------


def cuda_text(form: Form, operation: Operation) -> Text:
    """A kernel with a thread for each element."""
    index = dtypes.INT64 if form.wide else dtypes.INT32
    names = [f"_i{axis}" for axis in range(form.axes)] if form.axes > 1 else ["i"]
    places = {k: offset(b, names) or "0" for k, b in enumerate(form.bounds)}
    body = [
        *(_places(form) if form.axes > 1 else ()),
        "_ind.set(i);" if "_ind" in operation.names else "",
        *_elements(form, places),
        statement(operation.text),
    ]
    thread = "(ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x"
    lines = [
        *_known(form, operation),
        statement(operation.loop_prep),
        "const ptrdiff_t _step = (ptrdiff_t)gridDim.x * blockDim.x;",
        block(f"for (ptrdiff_t i = {thread}; i < _size; i += _step)", body),
        statement(operation.after_loop),
    ]
    passed = used(_fields(form, index, dtypes.UINT64 if form.wide else dtypes.UINT32), lines)
    kernel = cuda_kernel(operation.name, passed, lines)
    top = _top(form, operation, kernel, on_cpu=False)
    own, name = operation.written, operation.name
    return Text(text_of([*top, kernel]), name, tuple(passed), name, own)


def _places(form: Form) -> list[str]:
    """The place of an element along each axis, which 32 bits hold if they can."""
    whole, part = ("unsigned long long", "ptrdiff_t") if form.wide else ("unsigned int", "int")
    found = [f"{whole} _left = ({whole})i;"]
    for axis in range(form.axes - 1, 0, -1):
        found.append(f"const {part} _i{axis} = _left % {extent_name(axis)};")
        found.append(f"_left /= {extent_name(axis)};")
    return [*found, f"const {part} _i0 = _left;"]


# ---- the CPU -------------------------------------------------------------------------------

_IN_ORDER = frozenset(("return", "break", "goto", "static", "asm", "printf"))


def cpu_text(form: Form, operation: Operation) -> Text:
    """A function that does pieces of the elements in plain loops."""
    loop = _one_axis(form, operation) if form.axes == 1 else _rows(form, operation)
    lines = [
        *_known(form, operation),
        statement(operation.loop_prep),
        f"const ptrdiff_t _begin = _first * {PIECE};",
        f"const ptrdiff_t _end = _last * {PIECE} < _size ? _last * {PIECE} : _size;",
        *loop,
        statement(operation.after_loop),
    ]
    passed = used(_fields(form, dtypes.INT64, dtypes.INT64), lines)
    kernel = cpu_kernel(operation.name, passed, lines)
    top = _top(form, operation, "\n".join(kernel), on_cpu=True)
    own, name = operation.written, operation.name
    return Text(text_of([*top, *kernel]), cpu_name(name), tuple(passed), name, own)


def _body(operation: Operation) -> str:
    """The operation; one that returns leaves its element."""
    text = statement(operation.text)
    if "return" not in operation.names:
        return text
    return block("[&]", [f"{block('do', [text])} while (0);"]) + "();"


def _may_be_vectors(form: Form, operation: Operation) -> bool:
    """Whether no element has to do with another."""
    names = operation.names
    free = not (operation.loop_prep or operation.after_loop or names & _IN_ORDER)
    writes_anywhere = any(b.kind == "raw" and not b.info.is_const for b in form.bounds)
    return free and not writes_anywhere and not any(n.startswith("atomic") for n in names)


def _one_axis(form: Form, operation: Operation) -> list[str]:
    places = {k: offset(b, ["i"]) or "0" for k, b in enumerate(form.bounds)}
    body = ["_ind.set(i);" if "_ind" in operation.names else "", *_elements(form, places)]
    loop = block("for (ptrdiff_t i = _begin; i < _end; i++)", [*body, _body(operation)])
    return [_vectors(form, operation), loop]


def _vectors(form: Form, operation: Operation) -> str:
    return "#pragma omp simd" if _may_be_vectors(form, operation) else ""


def _rows(form: Form, operation: Operation) -> list[str]:
    """Along the last axis, as far as a row and the piece go."""
    last = form.axes - 1
    found = ["ptrdiff_t _left = _row;", f"const ptrdiff_t _k = _left % {extent_name(last)};"]
    for axis in range(last - 1, -1, -1):
        found.append(f"_left /= {extent_name(axis + 1)};")
        found.append(
            f"const ptrdiff_t _i{axis} = _left{f' % {extent_name(axis)}' if axis else ''};"
        )
    rest = f"{extent_name(last)} - _k"
    found.append(f"const ptrdiff_t _count = {rest} < _end - _row ? {rest} : _end - _row;")
    names = [*(f"_i{axis}" for axis in range(last)), "_k"]
    places: dict[int, str] = {}
    for position, bound in enumerate(form.bounds):
        if bound.kind != "array":
            continue
        start = offset(bound, names)
        found.append(
            f"{bound.element} *const _at{bound.pointer} = {bound.pointer}"
            f"{f' + {start}' if start else ''};"
        )
        ahead = offset(bound, ["0"] * last + ["_j"]).rpartition(" + ")[2]
        places[position] = ahead if bound.steps[last] != "none" else "0"
    moved = Form(_at_rows(form), form.placeholders, form.axes, form.wide)
    needs_i = operation.names & {"i", "_ind"}
    body = ["const ptrdiff_t i = _row + _j;" if needs_i else ""]
    body += ["_ind.set(i);" if "_ind" in operation.names else "", *_elements(moved, places)]
    loop = block("for (ptrdiff_t _j = 0; _j < _count; _j++)", [*body, _body(operation)])
    row = [*found, _vectors(form, operation), loop, "_row += _count;"]
    return [block("for (ptrdiff_t _row = _begin; _row < _end;)", row)]


def _at_rows(form: Form) -> tuple[Bound, ...]:
    """The parameters with pointers to where a row begins."""
    return tuple(
        Bound(b.info, b.row, b.kind, f"_at{b.pointer}", b.steps) if b.kind == "array" else b
        for b in form.bounds
    )
