"""Emit a module as C or CUDA C.

The differences between targets are in ``dialect``, and for CPU kernels in ``cpu_entry_point`` and
``coroutines``.
"""

from __future__ import annotations

from functools import partial

from pycu2c.analysis.effects import dynamic_shared_arrays, inline_c_body, written_arrays
from pycu2c.analysis.suspension_points import coroutine_loop
from pycu2c.analysis.variables import accessed_names
from pycu2c.base.output.tracing import span
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import Array, MemorySpace, Scalar
from pycu2c.codegen import coroutines, inline_c, vector_math
from pycu2c.codegen.cpu_entry_point import (
    Blocks,
    EntryPoint,
    coordinates_used,
    cpu_kernel,
    cpu_types,
    discard,
    split_block_loop,
)
from pycu2c.codegen.dialect import Dialect
from pycu2c.codegen.expressions import ExpressionEmitter, FileDefinitions
from pycu2c.codegen.helpers.catalog import texts_of
from pycu2c.codegen.large_arrays import has_thread_tiles
from pycu2c.codegen.names import global_names, name_variables, names_as_written
from pycu2c.codegen.print_log import Prints
from pycu2c.codegen.reserved_names import NAMES_OF_CUDA_HEADERS
from pycu2c.codegen.statements import Comments, StatementEmitter, thread_rank
from pycu2c.codegen.structs import Structs
from pycu2c.csyntax import nodes as c
from pycu2c.csyntax.printer import print_file
from pycu2c.declarations.link_files import Link
from pycu2c.ir import nodes as ir
from pycu2c.ir import parallel_regions, walk
from pycu2c.ir.builders import literal
from pycu2c.ir.call_graph import callees
from pycu2c.ir.print_format import PrintFormat


@dataclass(frozen=True, slots=True)
class EmittedFile:
    """Generated text.

    ``entry`` is the C name of the kernel, ``prints`` has the formats of its prints by number,
    ``waits`` the suspension points of a coroutine kernel from number 1, ``links`` the files to
    link.
    """

    text: str
    entry: str
    prints: tuple[PrintFormat, ...] = ()
    waits: tuple[ir.BarrierWait, ...] = ()
    links: tuple[Link, ...] = ()


@span("compile.passes", "emit")
def emit(module: ir.Module, dialect: Dialect, comments: Comments = "none") -> EmittedFile:
    """Return the C file of a lowered module: used helpers, device functions, the kernel."""
    items, emitter = items_of(module, dialect, comments)
    text = print_items(items, dialect)
    entry, prints = emitter.file.functions[module.kernel.name], tuple(emitter.file.prints.numbers)
    return EmittedFile(text, entry, prints, tuple(emitter.waits), inline_c.links_of(module))


def items_of(
    module: ir.Module, dialect: Dialect, comments: Comments, reserved: frozenset[str] = frozenset()
) -> tuple[list[c.Item], ModuleEmitter]:
    """Return the items of the file of a module, and their emitter.

    ``reserved`` are names that the module must not define.
    """
    emitter = ModuleEmitter(module, dialect, comments, reserved)
    file = emitter.file
    devices = emitter.devices()
    loop = coroutine_loop(module.kernel.body)
    kernel = emitter.kernel() if loop is None else emitter.coroutine_kernel(loop)
    items: list[c.Item] = [c.Include(header) for header in file.headers]
    items += file.structs.headers()
    # rename functions that the included headers declare
    if items and NAMES_OF_CUDA_HEADERS & {*file.functions.values()}:
        return items_of(module, dialect, comments, reserved | NAMES_OF_CUDA_HEADERS)
    for struct in file.structs.definitions():
        items += [c.Blank(), struct]
    if dialect.name == "c":
        name = file.functions[module.kernel.name]
        items += [c.Blank(), *cpu_types(module, name, emitter.kernel_type)]
    if loop is not None:
        items += [c.Blank(), c.Verbatim(coroutines.INTERFACE)]
    dynamic_arrays = dynamic_shared_arrays(module)
    if dialect.dynamic_shared and dynamic_arrays:
        alignment = max(16, *(array.alignment for array in dynamic_arrays))
        items += [c.Blank(), c.Verbatim(dialect.dynamic_shared.format(alignment))]
    for text in emitter.helper_texts():
        items += [c.Blank(), c.Verbatim(text)]
    items += file.prints.definitions()
    items += emitter.constants()
    for lines in inline_c.preambles(module):
        items += [c.Blank(), *inline_c.code_items(lines, comments)]
    forward_called = _forward_called(module)
    if forward_called:
        items.append(c.Blank())
        items += [c.Prototype(d) for f, d in devices if f.name in forward_called]
    for function, declaration in devices:
        items += [c.Blank(), *emitter.line_directive(function), declaration]
    items += [c.Blank(), *emitter.line_directive(module.kernel), *kernel]
    return items, emitter


def print_items(items: list[c.Item], dialect: Dialect) -> str:
    """Return the text of a file, with the headers that its identifiers need."""
    start = next((i for i, item in enumerate(items) if not isinstance(item, c.Blank)), 0)
    text = print_file(c.File(tuple(items[start:])))
    headers = [c.Include(header) for header in dialect.headers(text)]
    return print_file(c.File((*headers, c.Blank()))) + text if headers else text


def _forward_called(module: ir.Module) -> set[str]:
    """Return the device functions that are called before their definition."""
    defined_later = [f.name for f in module.device_functions]
    names: set[str] = set()
    for function in module.device_functions:
        defined_later.remove(function.name)
        names |= callees(function) & set(defined_later)
    return names


def _allocates_shared_memory(function: ir.Function) -> bool:
    allocations = (s.var.type for s in walk.statements(function.body) if isinstance(s, ir.Allocate))
    return any(isinstance(t, Array) and t.space is MemorySpace.SHARED for t in allocations)


class ModuleEmitter:
    """Emits the functions of a module, and collects the definitions that they need."""

    def __init__(
        self, module: ir.Module, dialect: Dialect, comments: Comments, reserved: frozenset[str]
    ) -> None:
        self.module, self.comments = module, comments
        self.written_names = written_arrays(module)
        taken = inline_c.reserved_names(module)
        functions = global_names(module, {*taken, *reserved})
        structs = Structs(module, dialect, {*functions.values()})
        self.file = FileDefinitions(
            dialect,
            functions,
            coordinates_used(module) if dialect.name == "c" else {},
            structs,
            Prints(dialect, structs.type_name),
        )
        self.reserved = {*functions.values(), *taken, *structs.type_names}
        self.waits: list[ir.BarrierWait] = []
        self.kernel_type = partial(self.ctype, module.kernel)

    def expression_emitter(self, function: ir.Function) -> ExpressionEmitter:
        functions = self.file.functions
        constants = {c.var.name: functions[c.var.name] for c in self.module.constants}
        names = name_variables(function, self.reserved, constants)
        if inline_c_body(function) is not None:
            names = names_as_written(function)
        pointers = frozenset(p.name for p in function.parameters if p.part is ir.ArgumentPart.DATA)
        return ExpressionEmitter(self.file, names, pointers)

    def ctype(self, function: ir.Function, p: ir.Parameter) -> c.CType:
        """Return the C type of a flat parameter; pointers to data that is only read are const."""
        name = self.file.structs.type_name(p.type.dtype)
        if not isinstance(p.type, Array):
            return c.NamedType(name)
        is_read_only = p.name not in self.written_names[function.name]
        return c.PointerType(c.NamedType(name, const=is_read_only), restrict=p.unaliased)

    def line_directive(self, function: ir.Function) -> list[c.Item]:
        """Return the ``#line`` directive of a function, for debuggers."""
        span = function.span
        return [c.LineDirective(span.line, span.file)] if self.comments == "lines" else []

    def devices(self) -> list[tuple[ir.Function, c.FunctionDecl]]:
        """Return the device functions; of equal ones, whose types are equal in C, the first.

        Functions that allocate shared memory are not merged, so that each has its own.
        """
        distinct = _forward_called(self.module)
        found: dict[c.FunctionDecl, tuple[ir.Function, c.FunctionDecl]] = {}
        for function in self.module.device_functions:
            declaration = self.device(function)
            if function.name in distinct or _allocates_shared_memory(function):
                found[declaration] = function, declaration
                continue
            _, first = found.setdefault(replace(declaration, name=""), (function, declaration))
            self.file.functions[function.name] = first.name
        return list(found.values())

    def device(self, function: ir.Function) -> c.FunctionDecl:
        expressions = self.expression_emitter(function)
        body = StatementEmitter(expressions, self.comments).block(function.body)
        coordinates = self.file.coordinates.get(function.name, ())
        dim3 = c.NamedType("struct dim3", const=True)
        if self.file.dialect.name == "c":
            body = (*_discard_unused(function, expressions), *thread_rank(function.body), *body)
        return c.FunctionDecl(
            self.file.functions[function.name],
            _result_type(function, expressions),
            (
                *(c.ParameterDecl(dim3, name) for name in coordinates),
                *self._parameters(expressions, function),
            ),
            body,
            self.file.dialect.device_qualifiers,
        )

    def _parameters(
        self, expressions: ExpressionEmitter, function: ir.Function
    ) -> list[c.ParameterDecl]:
        return [
            c.ParameterDecl(self.ctype(function, p), expressions.names[p.name])
            for p in function.parameters
        ]

    def kernel(self) -> list[c.Item]:
        function = self.module.kernel
        expressions = self.expression_emitter(function)
        on_cpu = self.file.dialect.name == "c"
        regions = parallel_regions.lines_of_regions(function) if self.comments == "regions" else {}
        statements = StatementEmitter(expressions, self.comments, on_cpu, regions)
        if on_cpu:
            statements.large_arrays.has_thread_tiles = has_thread_tiles(function.body)
            return self._cpu_kernel(statements)
        body = statements.block(function.body)
        name, result = self.file.functions[function.name], _result_type(function, expressions)
        parameters = tuple(self._parameters(expressions, function))
        return [c.FunctionDecl(name, result, parameters, body, self._qualifiers())]

    def _cpu_kernel(self, statements: StatementEmitter) -> list[c.Item]:
        function = self.module.kernel
        ir_prologue, loop, ir_epilogue = split_block_loop(function)
        prologue, block, epilogue = map(statements.block, (ir_prologue, loop.body, ir_epilogue))
        if statements.block_label:
            block = (*block, c.LabelStatement(statements.block_label))
        blocks = Blocks(prologue, block, epilogue, loop.order, loop.in_rows)
        names = statements.expressions.names.assigned
        name = self.file.functions[function.name]
        entry = EntryPoint(name, self.module, names, self.kernel_type)
        kernel = cpu_kernel(entry, blocks, self.file.coordinates[function.name])
        return [*statements.large_arrays.functions, kernel]

    def _qualifiers(self) -> tuple[str, ...]:
        if not self.module.cluster:
            return self.file.dialect.kernel_qualifiers
        sizes = ", ".join(map(str, self.module.cluster))
        return (
            *self.file.dialect.kernel_qualifiers,
            self.file.dialect.cluster_dims.format(sizes),
        )

    def coroutine_kernel(self, loop: ir.CoroutineLoop) -> list[c.Item]:
        """Return the items of a coroutine kernel."""
        function = self.module.kernel
        expressions = self.expression_emitter(function)
        expressions.struct_members = coroutines.struct_members(
            function, loop, expressions.names.assigned
        )
        expressions.distributed_shared = partial(coroutines.distributed_shared_array, expressions)
        statements = coroutines.CoroutineEmitter(expressions, self.comments, waits=self.waits)
        name, cluster = self.file.functions[function.name], self.module.cluster
        return coroutines.coroutine_items(
            coroutines.CoroutineDefinition(name, function, loop, cluster),
            statements,
            self.kernel_type,
        )

    def constants(self) -> list[c.Item]:
        """Return the definitions of the constant arrays."""
        expressions = self.expression_emitter(self.module.kernel)
        out: list[c.Item] = []
        for constant in self.module.constants:
            t = constant.var.type
            assert isinstance(t, Array)
            assert t.shape is not None
            elements = constant.values
            if not elements:  # C has no empty arrays
                components = [0] * len(t.dtype.fields) if t.dtype.is_vector else [0]
                elements = (literal(t.element(*components), constant.var.span),)
            extents = t.shape if constant.values else (1,) * t.ndim
            array = c.ArrayType(expressions.type(t.element), extents)
            values = tuple(map(expressions.constant_element, elements))
            name = self.file.functions[constant.var.name]
            out += [
                c.Blank(),
                c.ConstantTable(array, name, values, self.file.dialect.constant_qualifiers),
            ]
        return out

    def helper_texts(self) -> list[str]:
        texts = texts_of(self.file.helpers, self.file.dialect.name)
        if self.file.vectors and self.file.dialect.name == "c":
            texts.insert(0, vector_math.declarations(self.file.vectors))
        return texts


def _result_type(function: ir.Function, expressions: ExpressionEmitter) -> c.CType:
    """Return the result type of a function in C."""
    if isinstance(function.result, Scalar):
        return expressions.type(function.result)
    return c.NamedType("void")


def _discard_unused(function: ir.Function, expressions: ExpressionEmitter) -> list[c.Stmt]:
    """Return statements that mark unused parameters, to avoid warnings of gcc."""
    names_read = accessed_names(function.body)
    return [
        discard(expressions.names[p.name]) for p in function.parameters if p.name not in names_read
    ]
