"""Spell IR statements as C statements, one for one."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from functools import partial
from typing import Literal, TypeAlias, assert_never

from pycu2c.analysis.variables import accessed_names
from pycu2c.base.dtypes import INT32, INT64
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import Array, MemorySpace, Scalar
from pycu2c.codegen import inline_c
from pycu2c.codegen.expressions import ExpressionSpeller
from pycu2c.codegen.large_arrays import LargeArrays
from pycu2c.csyntax import nodes as c
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.walk import all_expressions, statements
from pycu2c.ops.intrinsics.memory import atomic
from pycu2c.ops.operators import ADD, AND, C_SHL, C_SHR, DIV, MUL, OR, QUOTIENT, REMAINDER, SUB, XOR

# which comments the C has: "regions" names the source lines of work-item loops, "comments" and
# "source" quote Python, "positions" gives source positions, "lines" emits #line for debuggers
Comments: TypeAlias = Literal["none", "regions", "comments", "source", "positions", "lines"]

POSITION_MARK = "@ "

DYNAMIC = "dynamic_shared"  # the dynamic shared memory of a block

_INT = c.NamedType("int64_t")
_COMPOUND = (ADD, SUB, MUL, DIV, QUOTIENT, REMAINDER, AND, OR, XOR, C_SHL, C_SHR)


@dataclass(slots=True)
class StatementSpeller:
    """Spells the statements of one function."""

    speller: ExpressionSpeller
    comments: Comments = "none"
    in_block_loop: bool = False  # of a CPU kernel, where Return continues this loop
    regions: Mapping[ir.AxisLoop, str] = field(default_factory=dict)  # comments of parallel regions
    _line: int = 0  # the last quoted line of Python
    _file: str = ""
    _loops: int = 0  # inside the innermost work-item loop
    _labels: int = 0
    _label: str = ""
    large_arrays: LargeArrays = field(default_factory=LargeArrays)  # of a CPU kernel
    block_label: str = ""  # set if a jump to the end of a block was needed

    def block(self, body: ir.Body) -> tuple[c.Stmt, ...]:
        out: list[c.Stmt] = []
        for s in body:
            if not self._shares_line(s, body):
                out += self.quoted(s.span)
            out += self.statement(s)
        return tuple(out)

    def _shares_line(self, s: ir.Stmt, body: ir.Body) -> bool:
        """Return whether a comment would change the layout of ``if (c) return;`` or ``else if``."""
        jumps = (ir.If, ir.Break, ir.Continue, ir.Return, ir.NextWorkItem)
        return self.comments == "positions" and len(body) == 1 and isinstance(s, jumps)

    def quoted(self, span: Span) -> list[c.Stmt]:
        """Return the Python comments or lines before a statement that were not yet quoted."""
        if self.comments in ("none", "regions"):
            return []
        if self.comments == "positions":
            return [c.Comment(f"{POSITION_MARK}{span}")]
        if self.comments == "lines":
            return [c.LineDirective(span.line, span.file)]
        first = self._line + 1 if span.file == self._file else span.line
        self._file, self._line = span.file, max(self._line, span.line)
        lines = [linecache.getline(span.file, n).strip() for n in range(first, span.line + 1)]
        if self.comments == "comments":
            lines = [text for text in lines if text.startswith("#")]
        return [c.Comment(text.lstrip("# ")) for text in lines if text]

    def statement(self, s: ir.Stmt) -> list[c.Stmt]:
        match s:
            case ir.Allocate():
                return [self._allocate(s)]
            case ir.Declare():
                return [self._declare(s)]
            case ir.Assign():
                target = self.speller.variable(s.var.name)
                return [self._assign(target, s.value, scalar_type(s.var))]
            case ir.Store():
                return [self._store(s)]
            case ir.Evaluate():
                return [c.ExprStmt(_for_its_effect(self.speller.spell(s.value)))]
            case ir.Print():
                return [c.ExprStmt(self.speller.print_call(s))]
            case ir.If():
                return [self._if(s)]
            case ir.While():
                condition = self.speller.spell(s.condition, exact=False)
                return [c.WhileStmt(condition, self._loop_body(s.body))]
            case ir.For():
                return [self._for(s)]
            case ir.Break():
                return [c.BreakStmt()]
            case ir.Continue():
                return [c.ContinueStmt()]
            case ir.Return():
                return [self._return(s)]
            case ir.WorkItemLoop() | ir.StripLoop():
                raise AssertionError("thread loops have axes before emission")
            case ir.AxisLoop():
                comment = self.regions.get(s)
                return [*([c.Comment(comment)] if comment else []), *self._axis_loop(s)]
            case ir.NextWorkItem():
                return [self._next_thread()]
            case ir.InlineC():
                return [*inline_c.code_items(s.code.lines, self.comments)]
            case ir.BarrierWait() | ir.CoroutineLoop() | ir.BlockLoop():
                raise AssertionError("coroutines and cpu_entry_point emit these statements")
            case _:
                assert_never(s)

    def _allocate(self, s: ir.Allocate) -> c.Stmt:
        kind = s.var.type
        assert isinstance(kind, Array)
        if kind.shape is None:
            return dynamic_array(s.var, self.speller, c.Name(DYNAMIC))
        array = c.ArrayType(self.speller.type(kind.element), kind.shape)
        name = self.speller.names[s.var.name]
        if self.in_block_loop:
            return self.large_arrays.declare(kind, array, name, self.speller.names)
        qualifiers = self.speller.file.dialect.shared if kind.space is MemorySpace.SHARED else ()
        return c.DeclStmt(array, name, None, qualifiers)

    def _declare(self, s: ir.Declare) -> c.Stmt:
        kind = s.var.type
        assert isinstance(kind, Scalar)
        init = None if s.init is None else self.speller.converted(s.init, kind.dtype)
        return c.DeclStmt(self.speller.type(kind), self.speller.names[s.var.name], init)

    def _assign(self, lvalue: c.Expr, value: ir.Expr, kind: Scalar) -> c.Stmt:
        """Assign; ``x = x + v`` becomes ``x += v``, ``v = {a, v.y, v.z}`` becomes ``v.x = a``."""
        component = self._changed_component(lvalue, value)
        if component is not None:
            name, new = component
            return self._assign(c.MemberExpr(lvalue, name), new, scalar_type(new))
        compound = self._compound(lvalue, value, kind)
        return compound or c.AssignStmt(lvalue, self.speller.converted(value, kind.dtype))

    def _compound(self, lvalue: c.Expr, value: ir.Expr, kind: Scalar) -> c.Stmt | None:
        """Return ``x += v``, also for unsigned arithmetic such as ``x += 1ULL``, or None."""
        small = _computed_in_int(value, kind)
        if small is not None and self.speller.spell(small.left) == lvalue:
            right = self.speller.converted(small.right, small.type.dtype)
            return c.AssignStmt(lvalue, right, f"{small.op.c}=")
        wrapped = _wrapped_sum(value)
        value = wrapped or value
        if not isinstance(value, ir.Binary) or value.op not in _COMPOUND or kind.dtype.bits < 32:
            return None
        left = value.left.operand if wrapped and isinstance(value.left, ir.Cast) else value.left
        if not isinstance(left, (ir.Var, ir.Load, ir.Member)) or self.speller.spell(left) != lvalue:
            return None
        literal = isinstance(value.right, ir.Const) and not wrapped
        exact = value.op not in (C_SHL, C_SHR) and not literal
        return c.AssignStmt(lvalue, self.speller.spell(value.right, exact), f"{value.op.c}=")

    def _store(self, s: ir.Store) -> c.Stmt:
        lvalue = self.speller.lvalue(s)
        if s.path and scalar_type(s.value).dtype in self.speller.file.structs.copies:
            return c.AssignStmt(lvalue, self.speller.stored_value(s))
        return self._assign(lvalue, s.value, scalar_type(s.value))

    def _changed_component(self, lvalue: c.Expr, value: ir.Expr) -> tuple[str, ir.Expr] | None:
        """Return the component in which a vector differs from the assigned one, if it is one."""
        if not isinstance(value, ir.Pack) or not value.type.dtype.is_vector:
            return None
        pairs = [(f.name, part) for f, part in zip(value.type.dtype.fields, value.parts)]
        changed = [
            (name, e)
            for name, e in pairs
            if not isinstance(e, ir.Member) or self.speller.spell(e) != c.MemberExpr(lvalue, name)
        ]
        return changed[0] if len(changed) == 1 else None

    def _if(self, s: ir.If) -> c.Stmt:
        condition = self.speller.spell(s.condition, exact=False)
        return c.IfStmt(condition, self.block(s.then), self.block(s.orelse))

    def _loop_body(self, body: ir.Body) -> tuple[c.Stmt, ...]:
        self._loops += 1
        out = self.block(body)
        self._loops -= 1
        return out

    def _for(self, s: ir.For) -> c.Stmt:
        kind = scalar_type(s.var)
        name = self.speller.variable(s.var.name)
        start = self.speller.converted(s.start, kind.dtype)
        stop = self.speller.spell(s.stop, exact=False)
        stride = s.step.value if isinstance(s.step, ir.Const) else None
        backwards = stride is not None and stride < 0
        step: c.AssignStmt | c.Increment
        if stride in (1, -1):
            step = c.Increment(name, "++" if stride == 1 else "--")
        elif stride is not None and stride < 0:
            step = c.AssignStmt(name, self.speller.integer(int(-stride), kind.dtype, False), "-=")
        else:
            step = c.AssignStmt(name, self.speller.converted(s.step, kind.dtype), "+=")
        condition = c.BinaryExpr(">" if backwards else "<", name, stop)
        return c.ForStmt(self._counter(s.var, start), condition, step, self._loop_body(s.body))

    def _counter(self, var: ir.Var, start: c.Expr) -> c.DeclStmt | c.AssignStmt:
        """Declare or assign the counter of a loop."""
        return c.DeclStmt(self.speller.type(scalar_type(var)), self.speller.names[var.name], start)

    def _return(self, s: ir.Return) -> c.Stmt:
        if self.in_block_loop:
            if self._loops == 0:
                return c.ContinueStmt()
            self.block_label = "next_block"
            return c.Goto(self.block_label)
        if s.value is None:
            return c.ReturnStmt()
        return c.ReturnStmt(self.speller.converted(s.value, scalar_type(s.value).dtype))

    # ---- the CPU's loops over the threads of a block ----

    def _axis_loop(self, s: ir.AxisLoop) -> list[c.Stmt]:
        """Return the ``for`` loop along one axis; a block if there is one thread."""
        self._labels += 1
        outer = self._loops, self._label
        self._loops, self._label = 0, ""
        body = self.block(s.body)
        if self._label:
            body = (*body, c.LabelStatement(self._label))
        self._loops, self._label = outer
        name = self.speller.names[s.var.name]
        start = self.speller.converted(s.start, INT64)
        if _runs_once(s) and not _ends_threads(s.body):
            is_read = s.var.name in accessed_names(s.body)
            index = [c.DeclStmt(_INT, name, start, ("const",))] if is_read else []
            return [c.CompoundStmt((*index, *body))]
        condition = c.BinaryExpr("<", c.Name(name), self.speller.spell(s.stop, exact=False))
        step: c.AssignStmt | c.Increment = c.Increment(c.Name(name))
        if not (isinstance(s.step, ir.Const) and s.step.value == 1):
            step = c.AssignStmt(c.Name(name), self.speller.converted(s.step, INT64), "+=")
        loop = c.ForStmt(c.DeclStmt(_INT, name, start), condition, step, body)
        if s.lockstep:
            return [c.Pragma(f"omp simd{self._reduction_clause(s)}"), loop]
        return [c.Pragma("GCC unroll 4"), loop] if _only_adds(s.body) else [loop]

    def _reduction_clause(self, s: ir.AxisLoop) -> str:
        """Return the clause that combines with or the variables that any thread sets."""
        private = {x.var.name for x in statements(s.body) if isinstance(x, ir.Declare | ir.For)}
        assigned = (x.var.name for x in statements(s.body) if isinstance(x, ir.Assign))
        names = [
            self.speller.names[name] for name in dict.fromkeys(assigned) if name not in private
        ]
        return f" reduction(|:{', '.join(names)})" if names else ""

    def _next_thread(self) -> c.Stmt:
        if self._loops == 0:
            return c.ContinueStmt()
        self._label = f"next_thread_{self._labels}"
        return c.Goto(self._label)


def dynamic_array(var: ir.Var, speller: ExpressionSpeller, memory: c.Expr) -> c.Stmt:
    """Declare a pointer to dynamic shared memory; all dynamic arrays start there."""
    assert isinstance(var.type, Array)
    pointer = c.PointerType(speller.type(var.type.element))
    constant = replace(pointer, const=True)
    return c.DeclStmt(constant, speller.names[var.name], c.CastExpr(pointer, memory))


def _wrapped_sum(value: ir.Expr) -> ir.Binary | None:
    """Return arithmetic in the unsigned type of the same width, as in ``x += 1ULL``."""
    if not isinstance(value, ir.Cast) or not isinstance(value.operand, ir.Binary):
        return None
    dtype, unsigned = value.type.dtype, value.operand.type.dtype
    is_wrapped = dtype.is_signed and dtype.is_integer and not unsigned.is_signed
    left = value.operand.left
    if not is_wrapped or dtype.bits != unsigned.bits or not isinstance(left, ir.Cast):
        return None
    return value.operand if scalar_type(left.operand).dtype is dtype else None


def _computed_in_int(value: ir.Expr, kind: Scalar) -> ir.Binary | None:
    """Return ``x + v`` of 8 or 16 bits, which C computes in int and truncates, as ``x += v``."""
    if not kind.dtype.is_integer or kind.dtype.bits >= 32:
        return None
    if isinstance(value, ir.Binary) and value.op in _COMPOUND:
        return value if isinstance(value.left, (ir.Var, ir.Load, ir.Member)) else None
    wide = value.operand if isinstance(value, ir.Cast) else None
    if (
        not isinstance(wide, ir.Binary)
        or wide.op not in _COMPOUND
        or not wide.type.dtype.is_integer
    ):
        return None
    if wide.type.dtype is not INT32 and kind.dtype.bits > 8:  # a product that may overflow an int
        return None
    left = wide.left
    if not isinstance(left, ir.Cast) or not isinstance(left.operand, (ir.Var, ir.Load, ir.Member)):
        return None
    return replace(wide, left=left.operand)


def _only_adds(body: ir.Body) -> bool:
    """Return whether each thread only updates memory of its OS thread, as in a histogram.

    The loop over the threads then takes a considerable part of the time.
    """
    if not all(isinstance(s, ir.Declare | ir.Evaluate) for s in body):
        return False
    values = [s.value for s in body if isinstance(s, ir.Evaluate)]
    updates = (isinstance(e, ir.Apply) and e.intrinsic in atomic.OWN.values() for e in values)
    return bool(values) and all(updates)


def _for_its_effect(e: c.Expr) -> c.Expr:
    """Remove the conversion of a call whose value is not used."""
    match e:
        case c.CastExpr(type=kind, operand=inner) if kind != c.NamedType("void"):
            return _for_its_effect(inner)
        case c.BinaryExpr(op="!=", left=c.CallExpr() as inner, right=c.Number()):
            return inner
        case _:
            return e


def thread_rank(body: ir.Body) -> list[c.Stmt]:
    """Return the declaration of ``thread``, the rank in the block, if a body reads it."""
    intrinsics = (e.intrinsic.name for e in all_expressions(body) if isinstance(e, ir.Apply))
    if "block.thread" not in intrinsics:
        return []
    index, extent = (partial(c.MemberExpr, c.Name(name)) for name in ("threadIdx", "blockDim"))
    rank: c.Expr = c.BinaryExpr("+", index("y"), c.BinaryExpr("*", extent("y"), index("z")))
    rank = c.BinaryExpr("+", index("x"), c.BinaryExpr("*", extent("x"), rank))
    return [c.DeclStmt(c.NamedType("int64_t", const=True), "thread", rank)]


def _runs_once(s: ir.AxisLoop) -> bool:
    match s.start, s.stop:
        case ir.Const(start), ir.Const(stop):
            return stop - start == 1
    return False


def _ends_threads(body: ir.Body) -> bool:
    return any(isinstance(s, ir.NextWorkItem) for s in statements(body))
