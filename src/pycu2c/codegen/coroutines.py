"""Emit coroutine kernels for the CPU: kernels whose threads suspend at barriers.

The code of the kernel becomes one C function. Its ``switch (self->pc)`` resumes a thread where it
was suspended. ``runtime/cpu/coroutine_scheduler.c`` calls the function;
``INTERFACE`` declares the structs that both use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import Template

from pycu2c.analysis.effects import accesses_cluster, is_dynamic
from pycu2c.analysis.suspension_points import live_across_suspension_points
from pycu2c.analysis.variables import accessed_names
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import Array
from pycu2c.codegen.cpu_entry_point import TypeOf, discard, read_extent, read_parameters
from pycu2c.codegen.expressions import ExpressionEmitter
from pycu2c.codegen.helpers.templates import c_definition
from pycu2c.codegen.statements import DYNAMIC, StatementEmitter, dynamic_array, thread_rank
from pycu2c.csyntax import nodes as c
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import scalar_type

WAIT_NUMBER_BITS = 20
_MAX_OPERATIONS = 1 << (31 - 3 - WAIT_NUMBER_BITS)  # in the remaining bits of an int
# precedes the text of runtime/cpu/coroutine_scheduler.c
INTERFACE = Template(c_definition("c/coroutine_interface")).substitute(
    operation=3 + WAIT_NUMBER_BITS
)
_BEGIN, _RUN, _PUBLISH, _SET_CLUSTER, _KERNEL = c_definition("c/coroutine_kernel").split("\n\n")

_REASONS = {scope: f"WAIT_{scope.name}" for scope in ir.SyncScope}
_SELF, _BLOCK = c.Name("self"), c.Name("block")


def struct_members(
    function: ir.Function, loop: ir.CoroutineLoop, names: Mapping[str, str]
) -> dict[str, c.Expr]:
    """Return the variables that are members of the struct of the thread or of the block."""
    members: dict[str, c.Expr] = {
        v.name: c.MemberExpr(_SELF, names[v.name], arrow=True)
        for v in live_across_suspension_points(loop.body)
    }
    for var in _shared_arrays(function):
        members[var.name] = c.MemberExpr(_BLOCK, names[var.name], arrow=True)
    return members


def distributed_shared_array(expressions: ExpressionEmitter, array: ir.Var, rank: c.Expr) -> c.Expr:
    """Return the shared array of another block of the cluster: ``block->cluster[1]->tile``."""
    other_block = c.Index(c.MemberExpr(_BLOCK, "cluster", arrow=True), rank)
    if not is_dynamic(array):
        return c.MemberExpr(other_block, expressions.names[array.name], arrow=True)
    memory = c.MemberExpr(other_block, DYNAMIC, arrow=True)
    return c.CastExpr(c.PointerType(_element(array, expressions)), memory)


def _shared_arrays(function: ir.Function) -> list[ir.Var]:
    return [s.var for s in _allocations(function) if not is_dynamic(s.var)]


def _dynamic_arrays(function: ir.Function) -> list[ir.Allocate]:
    """Return the arrays in dynamic shared memory."""
    return [s for s in _allocations(function) if is_dynamic(s.var)]


def _allocations(function: ir.Function) -> list[ir.Allocate]:
    return [s for s in function.body if isinstance(s, ir.Allocate)]


@dataclass(slots=True)
class CoroutineEmitter(StatementEmitter):
    """Emits the body of a coroutine; ``waits`` collects its suspension points.

    ``operations`` numbers the operations of each scope. Only threads that execute the same
    operation synchronize with each other.
    """

    waits: list[ir.BarrierWait] = field(default_factory=list)
    operations: dict[ir.SyncScope, dict[object, int]] = field(default_factory=dict)

    def statement(self, s: ir.Stmt) -> list[c.Stmt]:
        expressions = self.expressions
        match s:
            case ir.BarrierWait():
                return self._wait(s)
            case ir.Declare() if s.var.name in expressions.struct_members:
                if s.init is None:
                    return []
                value = expressions.convert_implicitly(s.init, scalar_type(s.var).dtype)
                return [c.AssignStmt(expressions.variable(s.var.name), value)]
            case ir.Allocate() if s.var.name in expressions.struct_members:
                return []
            case ir.Return():
                return [c.ReturnStmt(c.Name("ENDED"))]
            case _:
                return StatementEmitter.statement(self, s)

    def _counter(self, var: ir.Var, start: c.Expr) -> c.DeclStmt | c.AssignStmt:
        if var.name in self.expressions.struct_members:
            return c.AssignStmt(self.expressions.variable(var.name), start)
        return StatementEmitter._counter(self, var, start)

    def _wait(self, s: ir.BarrierWait) -> list[c.Stmt]:
        self.waits.append(s)
        number = len(self.waits)
        out: list[c.Stmt] = []
        for contribution in s.contributions:
            value = self.expressions.convert_implicitly(
                contribution.value, scalar_type(contribution.value).dtype
            )
            out.append(
                c.AssignStmt(_member(self.expressions.names[contribution.array.name]), value)
            )
        if s.mask is not None:
            out.append(c.AssignStmt(_member("mask"), self.expressions.emit(s.mask, exact=False)))
        out.append(c.AssignStmt(_member("pc"), c.Number(str(number))))
        return [*out, c.ReturnStmt(self._wait_status(s)), c.Case(number)]

    def _wait_status(self, s: ir.BarrierWait) -> c.Expr:
        """Return the reason of a wait, combined with the number of the operation."""
        numbers = self.operations.setdefault(s.scope, {})
        operation = s.intrinsic, tuple(contribution.array.name for contribution in s.contributions)
        number = numbers.setdefault(operation, len(numbers))
        assert number < _MAX_OPERATIONS
        reason = c.Name(_REASONS[s.scope])
        if number == 0:
            return reason
        return c.BinaryExpr(
            "|", reason, c.BinaryExpr("<<", c.Number(str(number)), c.Name("OPERATION"))
        )


def _member(name: str) -> c.Expr:
    return c.MemberExpr(_SELF, name, arrow=True)


@dataclass(frozen=True, slots=True)
class CoroutineDefinition:
    """A coroutine kernel: its name in C, and the size of its clusters, if any."""

    name: str
    function: ir.Function
    loop: ir.CoroutineLoop
    cluster: tuple[int, ...]


def coroutine_items(
    kernel: CoroutineDefinition, statements: CoroutineEmitter, type_of: TypeOf
) -> list[c.Item]:
    """Return the structs, the resumable function, and the functions that the scheduler calls."""
    name, expressions = kernel.name, statements.expressions
    uses_cluster = accesses_cluster(kernel.loop.body)
    step = _step(kernel, statements, type_of)
    items: list[c.Item] = [*_structs(kernel, statements, uses_cluster), step]
    waits = statements.waits
    contributions = [contribution for wait in waits for contribution in wait.contributions]
    has_masks = any(wait.mask is not None for wait in waits)
    waits_for_blocks = any(w.scope in (ir.SyncScope.GRID, ir.SyncScope.YIELD) for w in waits)
    in_cluster = uses_cluster or any(w.scope is ir.SyncScope.CLUSTER for w in waits)
    values = {
        "name": name,
        "space": " " * len(name),
        "mask": " | (uint64_t)self->mask << 32" if has_masks else "",
        "publish": f"{name}_publish" if contributions else "NULL",
        "waits_for_blocks": str(int(waits_for_blocks)),
        "cluster": ", ".join(map(str, kernel.cluster if in_cluster else (1, 1, 1))),
        "set_cluster": f"{name}_set_cluster" if uses_cluster else "NULL",
        "cleared": "\n".join(_clear_statements(contributions, expressions)),
        "cases": "\n".join(_publish_cases(waits, expressions)),
    }
    publish, set_cluster = [_PUBLISH] * bool(contributions), [_SET_CLUSTER] * uses_cluster
    for text in (_BEGIN, _RUN, *publish, *set_cluster, _KERNEL):
        items += [c.Blank(), c.Verbatim(Template(text.strip("\n")).substitute(values))]
    return items


def _structs(
    kernel: CoroutineDefinition, statements: CoroutineEmitter, uses_cluster: bool
) -> Iterator[c.Item]:
    name, expressions = kernel.name, statements.expressions
    dim3 = c.NamedType("struct dim3")
    shared = [_field(var, expressions) for var in _shared_arrays(kernel.function)]
    if uses_cluster:
        blocks = c.PointerType(c.PointerType(c.NamedType(f"struct {name}_block"), const=True))
        shared.insert(0, c.ParameterDecl(blocks, "cluster"))
    if _dynamic_arrays(kernel.function):  # aligned for vectors
        element = c.NamedType("__attribute__((aligned(64))) unsigned char")
        shared.append(c.ParameterDecl(c.ArrayType(element, ()), DYNAMIC))
    yield c.Comment("The shared memory of a block.")
    yield c.Struct(f"{name}_block", (c.ParameterDecl(dim3, "blockIdx"), *shared))
    yield c.Blank()
    state = [c.ParameterDecl(c.NamedType("int32_t"), "pc")]
    if any(wait.mask is not None for wait in statements.waits):
        state.append(c.ParameterDecl(c.NamedType("uint32_t"), "mask"))
    state.append(c.ParameterDecl(dim3, "threadIdx"))
    contributions = {
        contribution.array.name: contribution.array
        for wait in statements.waits
        for contribution in wait.contributions
    }
    state += [
        c.ParameterDecl(_element(v, expressions), expressions.names[v.name])
        for v in contributions.values()
    ]
    state += [_field(var, expressions) for var in live_across_suspension_points(kernel.loop.body)]
    yield c.Comment("The state of a suspended thread.")
    yield c.Struct(f"{name}_thread", tuple(state))
    yield c.Blank()


def _element(var: ir.Var, expressions: ExpressionEmitter) -> c.NamedType:
    assert isinstance(var.type, Array)
    return expressions.type(var.type.element)


def _field(var: ir.Var, expressions: ExpressionEmitter) -> c.ParameterDecl:
    t = var.type
    if isinstance(t, Array):
        assert t.shape is not None
        return c.ParameterDecl(
            c.ArrayType(expressions.type(t.element), t.shape), expressions.names[var.name]
        )
    return c.ParameterDecl(expressions.type(scalar_type(var)), expressions.names[var.name])


def _step(
    kernel: CoroutineDefinition, statements: CoroutineEmitter, type_of: TypeOf
) -> c.FunctionDecl:
    """Return the function that resumes a thread: the code of the kernel in a switch."""
    function, expressions = kernel.function, statements.expressions
    coordinates = expressions.file.coordinates[function.name]
    body = statements.block(kernel.loop.body)
    out = read_parameters(function, expressions.names.assigned, type_of)
    dynamic_memory = c.MemberExpr(_BLOCK, DYNAMIC, arrow=True)
    out += [dynamic_array(s.var, expressions, dynamic_memory) for s in _dynamic_arrays(function)]
    out += [read_extent(name) for name in ("gridDim", "blockDim") if name in coordinates]
    for name, struct in (("blockIdx", _BLOCK), ("threadIdx", _SELF)):
        if name in coordinates:
            value = c.MemberExpr(struct, name, arrow=True)
            out.append(c.DeclStmt(c.NamedType("struct dim3", const=True), name, value))
    out += thread_rank(kernel.loop.body)
    reads_parameters = accessed_names(function.body) & {p.name for p in function.parameters}
    if not reads_parameters and not {"gridDim", "blockDim"} & set(coordinates):
        out.append(discard("args"))
    if "blockIdx" not in coordinates and not _allocations(function):
        out.append(discard("block"))
    out.append(c.Switch(_member("pc"), (c.Case(0), *body)))
    out.append(c.ReturnStmt(c.Name("ENDED")))
    structs = {
        "args": f"const struct {kernel.name}_args",
        "block": f"struct {kernel.name}_block",
        "self": f"struct {kernel.name}_thread",
    }
    parameters = tuple(
        c.ParameterDecl(c.PointerType(c.NamedType(struct)), name)
        for name, struct in structs.items()
    )
    name, result = f"{kernel.name}_step", c.NamedType("int")
    return c.FunctionDecl(name, result, parameters, tuple(out), ("static", "inline"))


# ---- contributions ------------------------------------------------------------------------------


def _clear_statements(
    contributions: Sequence[ir.Contribution], expressions: ExpressionEmitter
) -> Iterator[str]:
    """Yield statements that set sums to 0 before the threads of a warp or block add to them.

    Parameters of the function that are not used are cast to void.
    """
    for contribution in {x.array.name: x for x in contributions}.values():
        array = f"block->{expressions.names[contribution.array.name]}"
        if contribution.granularity is ir.Granularity.WARP:
            yield f"    {array}[warp] = 0;"
        elif contribution.granularity is ir.Granularity.BLOCK:
            yield f"    if (is_first) {array}[0] = 0;"
    if not any(x.granularity is ir.Granularity.BLOCK for x in contributions):
        yield "    (void)is_first;"
    if all(x.granularity is ir.Granularity.BLOCK for x in contributions):
        yield "    (void)warp;"


def _publish_cases(
    waits: Sequence[ir.BarrierWait], expressions: ExpressionEmitter
) -> Iterator[str]:
    indices = {
        ir.Granularity.THREAD: "32 * warp + lane] =",
        ir.Granularity.WARP: "warp] +=",
        ir.Granularity.BLOCK: "0] +=",
    }
    for number, wait in enumerate(waits, start=1):
        if not wait.contributions:
            continue
        yield f"        case {number}:"
        for contribution in wait.contributions:
            name = expressions.names[contribution.array.name]
            yield f"            block->{name}[{indices[contribution.granularity]} self->{name};"
        yield "            break;"
