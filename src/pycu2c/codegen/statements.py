"""Emit each IR statement as C statements."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Literal, TypeAlias, assert_never

from pycu2c.analysis.variables import accessed_names, names_in
from pycu2c.base.dtypes import INT32, INT64, DType
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import Array, MemorySpace, Scalar
from pycu2c.codegen import inline_c
from pycu2c.codegen.expressions import ExpressionEmitter
from pycu2c.codegen.large_arrays import ArrayPlacement
from pycu2c.csyntax import nodes as c
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.walk import all_expressions, contains, statements
from pycu2c.ops.intrinsics.memory import atomic
from pycu2c.ops.operators import ADD, AND, C_DIV, C_REM, C_SHL, C_SHR, DIV, MUL, OR, SUB, XOR

# which comments the C has: "regions" names the source lines of work-item loops, "comments" and
# "source" quote Python, "positions" gives source positions, "lines" emits #line for debuggers
Comments: TypeAlias = Literal["none", "regions", "comments", "source", "positions", "lines"]

POSITION_MARK = "@ "

DYNAMIC = "dynamic_shared"  # the dynamic shared memory of a block

_INT64 = c.NamedType("int64_t")
_COMPOUND_OPERATORS = (ADD, SUB, MUL, DIV, C_DIV, C_REM, AND, OR, XOR, C_SHL, C_SHR)
# the low bits of the result depend on the same bits of the operands alone
_LOW_BITS_OPERATORS = (ADD, SUB, MUL, AND, OR, XOR)


@dataclass(slots=True)
class StatementEmitter:
    """Emits the statements of one function."""

    expressions: ExpressionEmitter
    comments: Comments = "none"
    in_block_loop: bool = False  # in a CPU kernel, where Return continues the loop over blocks
    region_comments: Mapping[ir.AxisLoop, str] = field(default_factory=dict)
    _line: int = 0  # the last quoted line of Python
    _file: str = ""
    _loop_depth: int = 0  # inside the innermost work-item loop
    _axis_loop_count: int = 0
    _next_label: str = ""  # at the end of the current axis loop, if a jump needs it
    large_arrays: ArrayPlacement = field(default_factory=ArrayPlacement)  # of a CPU kernel
    block_label: str = ""  # at the end of the loop over blocks, if a jump needs it

    def block(self, body: ir.Body) -> tuple[c.Stmt, ...]:
        out: list[c.Stmt] = []
        for s in body:
            if not self._shares_line(s, body):
                out += self.quote(s.span)
            out += self.statement(s)
        return tuple(out)

    def _shares_line(self, s: ir.Stmt, body: ir.Body) -> bool:
        """Return whether a comment would change the layout of ``if (c) return;`` or ``else if``."""
        jumps = (ir.If, ir.Break, ir.Continue, ir.Return, ir.NextWorkItem)
        return self.comments == "positions" and len(body) == 1 and isinstance(s, jumps)

    def quote(self, span: Span) -> list[c.Stmt]:
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
                target = self.expressions.variable(s.var.name)
                return [self._assign(target, s.value, scalar_type(s.var))]
            case ir.Store():
                return [self._store(s)]
            case ir.Evaluate():
                return [c.ExprStmt(_without_conversion(self.expressions.emit(s.value)))]
            case ir.Print():
                return [c.ExprStmt(self.expressions.print_call(s))]
            case ir.If():
                return [self._if(s)]
            case ir.While():
                condition = self.expressions.emit(s.condition, exact=False)
                return [c.WhileStmt(condition, self._loop_body(s.body))]
            case ir.For():
                return [*self._loop_pragma(s), self._for(s)]
            case ir.Break():
                return [c.BreakStmt()]
            case ir.Continue():
                return [c.ContinueStmt()]
            case ir.Return():
                return [self._return(s)]
            case ir.WorkItemLoop() | ir.StripLoop():
                raise AssertionError(
                    "work-item loops are lowered to axis loops before code generation"
                )
            case ir.AxisLoop():
                comment = self.region_comments.get(s)
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
        t = s.var.type
        assert isinstance(t, Array)
        if t.shape is None:
            return dynamic_array(s.var, self.expressions, c.Name(DYNAMIC))
        array = c.ArrayType(self.expressions.type(t.element), t.shape)
        name = self.expressions.names[s.var.name]
        if self.in_block_loop:
            return self.large_arrays.declare(t, array, name, self.expressions.names)
        qualifiers = (
            self.expressions.file.dialect.shared_qualifiers if t.space is MemorySpace.SHARED else ()
        )
        if t.alignment:
            qualifiers += (self.expressions.file.dialect.alignment.format(t.alignment),)
        return c.DeclStmt(array, name, None, qualifiers)

    def _declare(self, s: ir.Declare) -> c.Stmt:
        t = s.var.type
        assert isinstance(t, Scalar)
        init = None if s.init is None else self.expressions.convert_implicitly(s.init, t.dtype)
        return c.DeclStmt(self.expressions.type(t), self.expressions.names[s.var.name], init)

    def _assign(self, lvalue: c.Expr, value: ir.Expr, t: Scalar) -> c.Stmt:
        """Assign; ``x = x + v`` becomes ``x += v``, ``v = {a, v.y, v.z}`` becomes ``v.x = a``."""
        component = self._changed_component(lvalue, value)
        if component is not None:
            name, new = component
            return self._assign(c.MemberExpr(lvalue, name), new, scalar_type(new))
        compound = self._compound(lvalue, value, t)
        return compound or c.AssignStmt(lvalue, self.expressions.convert_implicitly(value, t.dtype))

    def _compound(self, lvalue: c.Expr, value: ir.Expr, t: Scalar) -> c.Stmt | None:
        """Return ``x += v``, also for unsigned arithmetic such as ``x += 1ULL``, or None."""
        narrow = _computed_in_int(value, t)
        if narrow is not None and self.expressions.emit(narrow.left) == lvalue:
            return c.AssignStmt(lvalue, self._narrow_operand(narrow), f"{narrow.op.c}=")
        wrapped = _wrapped_sum(value)
        value = wrapped or value
        if (
            not isinstance(value, ir.Binary)
            or value.op not in _COMPOUND_OPERATORS
            or t.dtype.bits < 32
        ):
            return None
        left = value.left.operand if wrapped and isinstance(value.left, ir.Cast) else value.left
        if (
            not isinstance(left, (ir.Var, ir.Load, ir.Member))
            or self.expressions.emit(left) != lvalue
        ):
            return None
        if _is_widening(value.right) and value.op not in (C_SHL, C_SHR):
            right = self.expressions.convert_implicitly(value.right, value.type.dtype)
            return c.AssignStmt(lvalue, right, f"{value.op.c}=")
        is_literal = isinstance(value.right, ir.Const) and not wrapped
        exact = value.op not in (C_SHL, C_SHR) and not is_literal
        return c.AssignStmt(lvalue, self.expressions.emit(value.right, exact), f"{value.op.c}=")

    def _narrow_operand(self, e: ir.Binary) -> c.Expr:
        """Return ``v`` of ``x += v`` in int; sums and bit operations need no conversion of it."""
        if e.op in _LOW_BITS_OPERATORS:
            return self.expressions.convert_implicitly(e.right, e.type.dtype)
        is_literal = isinstance(e.right, ir.Const)
        return self.expressions.emit(e.right, e.op not in (C_SHL, C_SHR) and not is_literal)

    def _store(self, s: ir.Store) -> c.Stmt:
        lvalue = self.expressions.lvalue(s)
        if (
            s.path
            and scalar_type(s.value).dtype in self.expressions.file.structs.packed_field_dtypes
        ):
            return c.AssignStmt(lvalue, self.expressions.stored_value(s))
        return self._assign(lvalue, s.value, scalar_type(s.value))

    def _changed_component(self, lvalue: c.Expr, value: ir.Expr) -> tuple[str, ir.Expr] | None:
        """Return the only component that an assignment of a vector changes, or None."""
        if not isinstance(value, ir.Pack) or not value.type.dtype.is_vector:
            return None
        pairs = [(f.name, part) for f, part in zip(value.type.dtype.fields, value.parts)]
        changed = [
            (name, e)
            for name, e in pairs
            if not isinstance(e, ir.Member)
            or self.expressions.emit(e) != c.MemberExpr(lvalue, name)
        ]
        return changed[0] if len(changed) == 1 else None

    def _if(self, s: ir.If) -> c.Stmt:
        condition = self.expressions.emit(s.condition, exact=False)
        return c.IfStmt(condition, self.block(s.then), self.block(s.orelse))

    def _loop_body(self, body: ir.Body) -> tuple[c.Stmt, ...]:
        self._loop_depth += 1
        out = self.block(body)
        self._loop_depth -= 1
        return out

    def _loop_pragma(self, s: ir.For) -> Iterator[c.Stmt]:
        if self.in_block_loop and _sums_segment(s):
            yield c.Pragma("omp simd if(0)")
        if s.unroll is not None and self.expressions.file.dialect.name == "cuda":
            yield c.Pragma(f"unroll {s.unroll}" if s.unroll else "unroll")

    def _for(self, s: ir.For) -> c.Stmt:
        t = scalar_type(s.var)
        name = self.expressions.variable(s.var.name)
        start = self.expressions.convert_implicitly(s.start, t.dtype)
        stop = self.expressions.emit(s.stop, exact=False)
        stride = s.step.value if isinstance(s.step, ir.Const) else None
        is_descending = stride is not None and stride < 0
        step: c.AssignStmt | c.Increment
        if stride in (1, -1):
            step = c.Increment(name, "++" if stride == 1 else "--")
        elif stride is not None and stride < 0:
            step = c.AssignStmt(name, self.expressions.integer(int(-stride), t.dtype, False), "-=")
        else:
            step = c.AssignStmt(name, self.expressions.convert_implicitly(s.step, t.dtype), "+=")
        condition = c.BinaryExpr(">" if is_descending else "<", name, stop)
        return c.ForStmt(self._counter(s.var, start), condition, step, self._loop_body(s.body))

    def _counter(self, var: ir.Var, start: c.Expr) -> c.DeclStmt | c.AssignStmt:
        """Return the declaration of the counter of a loop; overrides may assign it instead."""
        return c.DeclStmt(
            self.expressions.type(scalar_type(var)), self.expressions.names[var.name], start
        )

    def _return(self, s: ir.Return) -> c.Stmt:
        if self.in_block_loop:
            if self._loop_depth == 0:
                return c.ContinueStmt()
            self.block_label = "next_block"
            return c.Goto(self.block_label)
        if s.value is None:
            return c.ReturnStmt()
        return c.ReturnStmt(
            self.expressions.convert_implicitly(s.value, scalar_type(s.value).dtype)
        )

    # ---- the CPU's loops over the threads of a block ----

    def _axis_loop(self, s: ir.AxisLoop) -> list[c.Stmt]:
        """Return the ``for`` loop along one axis; a block if there is one thread."""
        self._axis_loop_count += 1
        enclosing = self._loop_depth, self._next_label
        self._loop_depth, self._next_label = 0, ""
        body = self.block(s.body)
        if self._next_label:
            body = (*body, c.LabelStatement(self._next_label))
        self._loop_depth, self._next_label = enclosing
        name = self.expressions.names[s.var.name]
        start = self.expressions.convert_implicitly(s.start, INT64)
        if _runs_once(s) and not contains(s.body, ir.NextWorkItem):
            is_read = s.var.name in accessed_names(s.body)
            index = [c.DeclStmt(_INT64, name, start, ("const",))] if is_read else []
            return [c.CompoundStmt((*index, *body))]
        condition = c.BinaryExpr("<", c.Name(name), self.expressions.emit(s.stop, exact=False))
        step: c.AssignStmt | c.Increment = c.Increment(c.Name(name))
        if not (isinstance(s.step, ir.Const) and s.step.value == 1):
            step = c.AssignStmt(
                c.Name(name), self.expressions.convert_implicitly(s.step, INT64), "+="
            )
        loop = c.ForStmt(c.DeclStmt(_INT64, name, start), condition, step, body)
        if s.lockstep:
            return [c.Pragma(f"omp simd{self._reduction_clause(s)}"), loop]
        return [c.Pragma("GCC unroll 4"), loop] if _only_updates_memory(s.body) else [loop]

    def _reduction_clause(self, s: ir.AxisLoop) -> str:
        """Return the clause that combines by OR the variables that the threads of a loop assign."""
        private = {x.var.name for x in statements(s.body) if isinstance(x, ir.Declare | ir.For)}
        assigned = (x.var.name for x in statements(s.body) if isinstance(x, ir.Assign))
        names = [
            self.expressions.names[name] for name in dict.fromkeys(assigned) if name not in private
        ]
        return f" reduction(|:{', '.join(names)})" if names else ""

    def _next_thread(self) -> c.Stmt:
        if self._loop_depth == 0:
            return c.ContinueStmt()
        self._next_label = f"next_thread_{self._axis_loop_count}"
        return c.Goto(self._next_label)


def dynamic_array(var: ir.Var, expressions: ExpressionEmitter, memory: c.Expr) -> c.Stmt:
    """Return the declaration of a pointer to dynamic shared memory, where all such arrays start."""
    assert isinstance(var.type, Array)
    pointer = c.PointerType(expressions.type(var.type.element))
    const_pointer = replace(pointer, const=True)
    return c.DeclStmt(const_pointer, expressions.names[var.name], c.CastExpr(pointer, memory))


def _wrapped_sum(value: ir.Expr) -> ir.Binary | None:
    """Return arithmetic in the unsigned type of the same width, as in ``x += 1ULL``."""
    if not isinstance(value, ir.Cast) or not isinstance(value.operand, ir.Binary):
        return None
    dtype, unsigned = value.type.dtype, value.operand.type.dtype
    is_wrapped = dtype.is_signed and dtype.is_integer and not unsigned.is_signed
    left = value.operand.left
    if value.operand.op is C_SHR:  # in C, the type of x alone decides between two shifts
        return None
    if not is_wrapped or dtype.bits != unsigned.bits or not isinstance(left, ir.Cast):
        return None
    return value.operand if scalar_type(left.operand).dtype is dtype else None


def _computed_in_int(value: ir.Expr, t: Scalar) -> ir.Binary | None:
    """Return ``x + v`` of 8 or 16 bits, which C computes in int and truncates, as ``x += v``."""
    if not t.dtype.is_integer or t.dtype.bits >= 32:
        return None
    if isinstance(value, ir.Binary) and value.op in _COMPOUND_OPERATORS:
        return value if isinstance(value.left, (ir.Var, ir.Load, ir.Member)) else None
    wide_value = value.operand if isinstance(value, ir.Cast) else None
    if (
        not isinstance(wide_value, ir.Binary)
        or wide_value.op not in _COMPOUND_OPERATORS
        or not wide_value.type.dtype.is_integer
    ):
        return None
    if wide_value.type.dtype is not INT32 and t.dtype.bits > 8:  # may overflow an int
        return None
    left = wide_value.left
    if not isinstance(left, ir.Cast) or not isinstance(left.operand, (ir.Var, ir.Load, ir.Member)):
        return None
    if wide_value.op not in _LOW_BITS_OPERATORS and not _represents(wide_value.type.dtype, t.dtype):
        return None
    return replace(wide_value, left=left.operand)


def _is_widening(e: ir.Expr) -> bool:
    """Return whether this converts an integer to a wider one."""
    if not isinstance(e, ir.Cast):
        return False
    source, target = scalar_type(e.operand).dtype, e.type.dtype
    return source.is_integer and target.is_integer and source.bits < target.bits


def _represents(wide: DType, narrow: DType) -> bool:
    """Return whether an integer type has all values of another."""
    return wide.minimum <= narrow.minimum and narrow.maximum <= wide.maximum


def _sums_segment(loop: ir.For) -> bool:
    """Return whether a loop only sums floats in order, from a start that is no constant.

    gcc 13 vectorizes it for AVX-512 with gathers and masks. As the additions stay in order, and
    segments are short, it takes up to twice as long then.
    """
    if isinstance(loop.start, ir.Const):
        return False
    if not all(isinstance(s, ir.Declare | ir.Assign) for s in loop.body):
        return False
    assigned = (s for s in loop.body if isinstance(s, ir.Assign))
    return any(
        scalar_type(s.var).dtype.is_float and s.var.name in names_in(s.value) for s in assigned
    )


def _only_updates_memory(body: ir.Body) -> bool:
    """Return whether each thread only updates memory of its OS thread, as in a histogram.

    The loop over the threads then takes a considerable part of the time.
    """
    if not all(isinstance(s, ir.Declare | ir.Evaluate) for s in body):
        return False
    values = [s.value for s in body if isinstance(s, ir.Evaluate)]
    updates = (isinstance(e, ir.Apply) and e.intrinsic in atomic.NONATOMIC.values() for e in values)
    return bool(values) and all(updates)


def _without_conversion(e: c.Expr) -> c.Expr:
    """Remove the conversion from a call whose value is unused."""
    match e:
        case c.CastExpr(type=t, operand=inner) if t != c.NamedType("void"):
            return _without_conversion(inner)
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
