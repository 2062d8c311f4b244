"""For tests of the CPU passes: kernels written in Python as IR, and two ways to run IR.

``run_threads`` runs a kernel as CUDA does, each thread a generator that yields at barriers; it
refuses what CUDA leaves undefined. ``run_block`` runs the result of
``lower_to_work_item_loops``.
Numbers are Python ints.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field

from pycu2c.base.dtypes import INT64
from pycu2c.base.source import Span
from pycu2c.base.types import VOID, WEAK_BOOL, WEAK_INT, Array, MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, const, integer, truth, unary
from pycu2c.ops.intrinsics.all import REGISTRY
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE, Thread
from pycu2c.ops.operators import BINARY_BY_NODE, C_DIV, C_REM, UNARY_BY_NODE
from pycu2c.transforms.common.declare_variables import declare

LANES = 3  # of a strip: no divisor of the blocks that tests use
SPAN = Span("kernel.py", 1, 0, 1, 1)
PLACES = {"tid": "cuda.threadIdx.x", "bid": "cuda.blockIdx.x", "width": "cuda.blockDim.x"}
SPACES = {"shared": MemorySpace.SHARED, "local": MemorySpace.LOCAL}
C_OPERATORS = {ast.FloorDiv: C_DIV, ast.Mod: C_REM}


# ---- Python text -> IR -------------------------------------------------------------------------


def kernel(text: str) -> ir.Module:
    """A kernel in a little Python: ints, ``A[i]``, ``S = shared(8)``, ``sync()``, ``tid``.
    Parameters in capitals are arrays."""
    tree = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    reader = Reader()
    parameters = []
    for i, a in enumerate(tree.args.args):
        kind = Array(INT64, 1) if a.arg.isupper() else WEAK_INT
        reader.arrays[a.arg] = kind
        parameters.append(ir.Parameter(a.arg, kind, i))
    body = reader.body(tree.body)
    function = ir.Function(tree.name, tree.name, tuple(parameters), VOID, body, SPAN)
    return declare(ir.Module(function))


@dataclass
class Reader:
    arrays: dict[str, object] = field(default_factory=dict)

    def body(self, stmts: list[ast.stmt]) -> ir.Body:
        return tuple(new for s in stmts for new in self.stmt(s))

    def stmt(self, s: ast.stmt) -> ir.Body:
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=f))):
                shape = tuple(a.value for a in s.value.args)
                self.arrays[name] = Array(INT64, len(shape), "C", SPACES[f], shape)
                return (ir.Allocate(self.var(name), SPAN),)
            case ast.Assign(targets=[ast.Name(id=name)]):
                return (ir.Assign(self.var(name), self.expr(s.value), SPAN),)
            case ast.Assign(targets=[ast.Subscript() as target]):
                backend = self.expr(target)
                return (ir.Store(backend.array, backend.indices, self.expr(s.value), SPAN),)
            case ast.AugAssign(target=ast.Name(id=name)):
                value = self.binary(s.op, self.var(name), self.expr(s.value))
                return (ir.Assign(self.var(name), value, SPAN),)
            case ast.Expr(value=ast.Call(func=ast.Name(id="sync"))):
                return (
                    ir.BarrierWait(
                        ir.SyncScope.BLOCK, None, (), REGISTRY["cuda.syncthreads"], SPAN
                    ),
                )
            case ast.If():
                then, orelse = self.body(s.body), self.body(s.orelse)
                return (ir.If(truth(self.expr(s.test)), then, orelse, SPAN),)
            case ast.While():
                return (ir.While(truth(self.expr(s.test)), self.body(s.body), SPAN),)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=bounds)):
                start, stop, step = self.bounds([self.expr(b) for b in bounds])
                return (ir.For(self.var(name), start, stop, step, self.body(s.body), SPAN),)
            case ast.Break():
                return (ir.Break(SPAN),)
            case ast.Continue():
                return (ir.Continue(SPAN),)
            case ast.Return():
                return (ir.Return(None, SPAN),)
            case ast.Pass():
                return ()
        raise AssertionError(ast.dump(s))

    def bounds(self, arguments: list[ir.Expr]) -> tuple[ir.Expr, ir.Expr, ir.Expr]:
        start = arguments[0] if len(arguments) > 1 else integer(0, SPAN)
        stop = arguments[1] if len(arguments) > 1 else arguments[0]
        return start, stop, arguments[2] if len(arguments) > 2 else integer(1, SPAN)

    def var(self, name: str) -> ir.Var:
        return ir.Var(name, self.arrays.get(name, WEAK_INT), SPAN)

    def binary(self, op: ast.operator, left: ir.Expr, right: ir.Expr) -> ir.Expr:
        row = C_OPERATORS.get(type(op)) or BINARY_BY_NODE[type(op)]
        return ir.Binary(row, left, right, WEAK_INT, SPAN)

    def expr(self, e: ast.expr) -> ir.Expr:
        match e:
            case ast.Constant(value=value):
                return const(value, SPAN)
            case ast.Name(id=name) if name in PLACES:
                return ir.Apply(REGISTRY[PLACES[name]], (), WEAK_INT, SPAN)
            case ast.Name(id=name):
                return self.var(name)
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                parts = index.elts if isinstance(index, ast.Tuple) else [index]
                return ir.Load(self.var(name), tuple(self.expr(p) for p in parts), SPAN)
            case ast.BinOp(left, op, right):
                return self.binary(op, self.expr(left), self.expr(right))
            case ast.Compare(left, [op], [right]):
                return binary(BINARY_BY_NODE[type(op)], self.expr(left), self.expr(right), SPAN)
            case ast.UnaryOp(op, operand):
                return unary(UNARY_BY_NODE[type(op)], self.expr(operand), SPAN)
            case ast.BoolOp(op, values):
                junction = ir.LogicalOp.AND if isinstance(op, ast.And) else ir.LogicalOp.OR
                first, *others = (truth(self.expr(v)) for v in values)
                for other in others:
                    first = ir.Logical(junction, first, other, SPAN)
                return first
        raise AssertionError(ast.dump(e))


# ---- running IR --------------------------------------------------------------------------------


class Undefined(Exception):
    """The program is one that CUDA gives no meaning."""


Memory = dict[tuple[int, ...], int]
Steps = Generator[object, None, str]


_ANYTHING = 77  # what lies where nothing has been stored


@dataclass
class Code:
    """Runs statements. A variable is found in the innermost block that declares it."""

    scopes: list[dict[str, object]]
    arrays: dict[str, Memory]
    counts: list[int] = field(default_factory=list)  # iterations of the loops around
    threads: int = 0
    lanes: range = range(0)  # the threads that thread loops are over
    inactive: bool = False  # a lane that has left a strip's loop computes on, for nobody
    watch: object = None  # told about each access to memory

    def block(self, body: ir.Body) -> Steps:
        self.scopes.append({})
        jump = ""
        for s in body:
            jump = yield from self.stmt(s)
            if jump:
                break
        self.scopes.pop()
        return jump

    def stmt(self, s: ir.Stmt) -> Steps:
        match s:
            case ir.Allocate(var):
                self.arrays[var.name] = {}
            case ir.Declare(var, init):
                self.scopes[-1][var.name] = None if init is None else self.given(init)
            case ir.Assign(var, value):
                self.scope_of(var.name)[var.name] = self.expr(value)
            case ir.Store(array, indices, value):
                backend = tuple(self.expr(i) for i in indices)
                own = array.type.space is MemorySpace.BLOCK
                self.arrays[array.name][backend] = (self.given if own else self.expr)(value)
                self.note(array, backend, True)
            case ir.BarrierWait():
                yield (id(s), *self.counts)
            case ir.If():
                return (yield from self.block(s.then if self.expr(s.condition) else s.orelse))
            case ir.While() | ir.For():
                return (yield from self.loop(s))
            case ir.StripLoop(body):
                for first in range(0, self.threads, LANES):
                    self.lanes = range(first, min(first + LANES, self.threads))
                    yield from self.block(body)
                self.lanes = range(self.threads)
            case ir.WorkItemLoop():
                return (yield from self.thread_loop(s))
            case ir.AxisLoop():
                return (yield from self.axis_loop(s))
            case ir.Break() | ir.Continue() | ir.Return() | ir.NextWorkItem():
                return type(s).__name__
        return ""

    def loop(self, s: ir.While | ir.For) -> Steps:
        self.scopes.append({})
        self.counts.append(0)
        if isinstance(s, ir.For):
            self.scopes[-1][s.var.name] = self.expr(s.start)
            if s.var.name == "round.strip":
                self.inactive = not self.scope_of("running.strip")["running.strip"]
        jump = ""
        while not jump and self.goes_on(s):
            self.counts[-1] += 1
            assert self.counts[-1] < 1000, "endless"
            jump = yield from self.block(s.body)
            jump = "" if jump == "Continue" else jump
            if isinstance(s, ir.For) and not jump:
                self.scopes[-1][s.var.name] += self.expr(s.step)
        self.counts.pop()
        self.scopes.pop()
        self.inactive = False
        return "" if jump == "Break" else jump

    def goes_on(self, s: ir.While | ir.For) -> bool:
        if isinstance(s, ir.While):
            return bool(self.expr(s.condition))
        here, stop = self.expr(s.var), self.expr(s.stop)
        return here < stop if self.expr(s.step) > 0 else here > stop

    def thread_loop(self, s: ir.WorkItemLoop) -> Steps:
        for t in self.lanes:
            stand_at(t, self.threads)
            jump = yield from self.block(s.body)
            assert jump in ("", "NextWorkItem"), jump
        stand_at(None, self.threads)
        return ""

    def axis_loop(self, s: ir.AxisLoop) -> Steps:
        for backend in range(self.expr(s.start), self.expr(s.stop), self.expr(s.step)):
            self.scopes.append({s.var.name: backend})
            jump = yield from self.block(s.body)
            assert jump in ("", "NextWorkItem"), jump
            self.scopes.pop()
        return ""

    def scope_of(self, name: str) -> dict[str, object]:
        return next(scope for scope in reversed(self.scopes) if name in scope)

    def note(self, array: ir.Var, backend: tuple[int, ...], writes: bool) -> None:
        if self.watch is not None and array.type.space is MemorySpace.SHARED:
            self.watch(array.name, backend, writes)

    def given(self, e: ir.Expr) -> int | None:
        """What a variable is set to; a slot that nobody has set yet may be copied, not used."""
        match e:
            case ir.Cast(operand):
                return self.given(operand)
            case ir.Load(array, indices) if array.type.space is MemorySpace.BLOCK:
                return self.arrays[array.name].get(tuple(self.expr(i) for i in indices))
            case ir.Var(name):
                return self.scope_of(name)[name]
            case _:
                return self.expr(e)

    def expr(self, e: ir.Expr) -> int:
        match e:
            case ir.Const(value):
                return value
            case ir.Var(name):
                value = self.scope_of(name)[name]
                assert self.inactive or value is not None, f"{name} is read before it is set"
                return _ANYTHING if value is None else value
            case ir.Unary(op, operand):
                return op.compute(self.expr(operand))
            case ir.Binary(op, left, right):
                value = op.compute(self.expr(left), self.expr(right))
                return value if e.type == WEAK_BOOL else int(value)
            case ir.Logical(op, left, right):
                first = self.expr(left)
                return first if first is (op is ir.LogicalOp.OR) else self.expr(right)
            case ir.Load(array, indices):
                backend = tuple(self.expr(i) for i in indices)
                self.note(array, backend, False)
                return self.arrays[array.name][backend]
            case ir.Select(condition, then, orelse):
                return self.expr(then if self.expr(condition) else orelse)
            case ir.Cast(operand, type):
                value = self.expr(operand)
                return bool(value) if type == WEAK_BOOL else value
            case ir.Apply(intrinsic, arguments):
                return int(intrinsic.reference(*(self.expr(a) for a in arguments)))
        raise AssertionError(e)


def stand_at(thread: int | None, threads: int) -> None:
    """``threadIdx`` outside the thread loops is nothing that can be computed with."""
    REFERENCE_STATE.thread = Thread((thread, 0, 0), (0, 0, 0), (threads, 1, 1), (1, 1, 1))


def memory(values: Mapping[str, list[int] | int]) -> tuple[dict[str, object], dict[str, Memory]]:
    scalars = {name: v for name, v in values.items() if isinstance(v, int)}
    lists = {name: v for name, v in values.items() if isinstance(v, list)}
    return scalars, {name: {(i,): x for i, x in enumerate(v)} for name, v in lists.items()}


class Conflicts:
    """Tells races in shared memory: between two barriers, one thread writes what another uses.

    What a thread does last counts until the block's end: a barrier does not wait for it.
    """

    def __init__(self) -> None:
        self.thread = 0
        self.uses: set[tuple[object, int, bool]] = set()  # place, thread, whether it writes
        self.last_uses: set[tuple[object, int, bool]] = set()

    def __call__(self, name: str, backend: tuple[int, ...], writes: bool) -> None:
        self.uses.add(((name, backend), self.thread, writes))

    def check(self, ended: set[int]) -> None:
        both = self.uses | self.last_uses
        threads: dict[object, set[int]] = {}
        for backend, thread, _ in both:
            threads.setdefault(backend, set()).add(thread)
        if any(writes and len(threads[backend]) > 1 for backend, _, writes in both):
            raise Undefined("race")
        self.last_uses |= {use for use in self.uses if use[1] in ended}
        self.uses.clear()


def run_threads(
    module: ir.Module, values: Mapping[str, list[int] | int], threads: int
) -> dict[str, Memory]:
    """Run a kernel's only block as CUDA does. Local arrays and scalars are each thread's own."""
    scalars, shared = memory(values)
    body = module.kernel.body
    conflicts = Conflicts()
    running: dict[int, Steps] = {}
    for s in body:  # shared arrays first: every thread has the same one
        if isinstance(s, ir.Allocate) and s.var.type.space is MemorySpace.SHARED:
            shared[s.var.name] = {}
    body = tuple(s for s in body if not (isinstance(s, ir.Allocate) and s.var.name in shared))
    for t in range(threads):
        code = Code([dict(scalars)], dict(shared), watch=conflicts)
        running[t] = code.block(body)
    while running:
        waiting: set[object] = set()
        for t in list(running):
            stand_at(t, threads)
            conflicts.thread = t
            try:
                waiting.add(next(running[t]))
            except StopIteration:
                del running[t]
        conflicts.check(set(range(threads)) - set(running))
        if len(waiting) > 1:
            raise Undefined("threads wait at different barriers")
    return {name: shared[name] for name in shared if name in values}


def run_block(
    module: ir.Module, values: Mapping[str, list[int] | int], threads: int
) -> dict[str, Memory]:
    """Run what one block does."""
    scalars, shared = memory(values)
    stand_at(None, threads)
    code = Code([scalars], shared, threads=threads, lanes=range(threads))
    for _ in code.block(module.kernel.body):
        raise AssertionError("a barrier is left")
    return {name: shared[name] for name in shared if name in values}
