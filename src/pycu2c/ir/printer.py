"""Print the IR: one statement per line, with the type of a variable at its first assignment.

``docs/how_it_works/ir.md`` describes the form. The text has no source positions, so moving a kernel
does not change its golden files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import assert_never

from pycu2c.base import dtypes
from pycu2c.base.external_code import DialectCode
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import VOID, WEAK_INT, WEAK_INT32, Scalar, Type, boolean
from pycu2c.ir import nodes as ir
from pycu2c.ir.print_format import format_text
from pycu2c.ir.walk import path_indices

_TYPE_NAMES: dict[Type, str] = {
    WEAK_INT32: "small",
    boolean: "bool_",
    Scalar(dtypes.FLOAT32, weak=True): "single",
    Scalar(dtypes.COMPLEX64, weak=True): "single_complex",
}
Marked = Collection[int]  # ids of the nodes to highlight


def print_module(module: ir.Module, marked: Marked = ()) -> str:
    """Print all functions, callees first; ``<<  >>`` encloses marked expressions."""
    functions = [print_function(f, "device", marked) for f in module.device_functions]
    constants = "".join(f"{print_constant(constant)}\n" for constant in module.constants)
    kernel = print_function(module.kernel, "kernel", marked)
    if module.cluster:
        head, _, rest = kernel.partition("\n")
        kernel = f"{head} in clusters of {', '.join(map(str, module.cluster))}\n{rest}"
    texts = [*functions, kernel]
    return "\n".join([constants, *texts] if constants else texts)


def print_constant(constant: ir.ConstantArray) -> str:
    """Print a constant array: ``constant table: constant float32[4] = 1.0, …``."""
    values = ", ".join(str(e.value) if isinstance(e, ir.Const) else "…" for e in constant.values)
    return f"constant {constant.var.name}: {print_type(constant.var.type)} = {values}"


def print_function(function: ir.Function, keyword: str = "kernel", marked: Marked = ()) -> str:
    """Print the header and the body of a function."""
    printer = _Printer(marked, {p.name for p in function.parameters})
    parameters = ", ".join(_parameter(p) for p in function.parameters)
    result = "" if function.result == VOID else f" -> {print_type(function.result)}"
    head = f"{keyword} {function.name}({parameters}){result}"
    lines = [head]
    if function.external_code is not None:
        lines += [line for code in function.external_code.codes for line in c_text(code, "  ")]
    return "".join(f"{line}\n" for line in (*lines, *printer.block(function.body, 1)))


def c_text(code: DialectCode, indent: str) -> Iterator[str]:
    """Yield the lines of inline C, aligned: ``in cuda: return x * y;``."""
    head = f"{indent}in {code.dialect}: "
    for line in code.lines:
        yield f"{head}{line.text}".rstrip()
        head = " " * len(head)


def print_stmt(s: ir.Stmt) -> str:
    """Print a statement with its blocks."""
    return "\n".join(_Printer().statement(s, 0))


def print_expr(e: ir.Expr) -> str:
    """Print an expression, fully parenthesized."""
    return _Printer().expression(e)


def print_indices(access: ir.Access) -> str:
    return ", ".join(map(print_expr, access.indices))


def print_type(type_: Type) -> str:
    """Print a type.

    ``small`` is a Python int that fits in 32 bits, ``single`` a Python float in 32 bits, ``bool_``
    numpy's bool.
    """
    return _TYPE_NAMES.get(type_) or str(type_)


def _parameter(p: ir.Parameter) -> str:
    pointer = "pointer " if p.part is ir.ArgumentPart.DATA else ""
    restrict = "restrict " if p.unaliased else ""
    return f"{p.name}: {restrict}{pointer}{print_type(p.type)}"


@dataclass(slots=True)
class _Printer:
    marked: Marked = ()
    typed: set[str] = field(default_factory=set)  # variables whose type has been printed

    def block(self, body: ir.Body, depth: int) -> Iterator[str]:
        for s in body:
            yield from self.statement(s, depth)
        if not body:
            yield f"{'  ' * depth}pass"

    def statement(self, s: ir.Stmt, depth: int) -> Iterator[str]:
        indent = "  " * depth
        mark = "  <-- here" if id(s) in self.marked else ""
        match s:
            case ir.If():
                yield from self.branches(s, depth, f"{indent}if ", mark)
            case ir.While():
                yield f"{indent}while {self.expression(s.condition)}:{mark}"
                yield from self.block(s.body, depth + 1)
            case ir.For():
                bounds = self.comma_separated((s.start, s.stop, s.step))
                suffix = " around threads" if s.interchanged else ""
                if s.unroll is not None:
                    suffix += f" unrolled by {s.unroll}" if s.unroll else " unrolled"
                yield f"{indent}for {self.target(s.var)} in range({bounds}){suffix}:{mark}"
                yield from self.block(s.body, depth + 1)
            case ir.StripLoop():
                yield f"{indent}for each strip of threads:{mark}"
                yield from self.block(s.body, depth + 1)
            case ir.WorkItemLoop():
                yield f"{indent}for each thread:{mark}"
                yield from self.block(s.body, depth + 1)
            case ir.BlockLoop():
                order = "" if s.order == (0, 1, 2) else f", {''.join('xyz'[a] for a in s.order)}"
                yield f"{indent}for each {'row of blocks' if s.in_rows else 'block'}{order}:{mark}"
                yield from self.block(s.body, depth + 1)
            case ir.CoroutineLoop():
                yield f"{indent}for each thread, as a coroutine:{mark}"
                yield from self.block(s.body, depth + 1)
            case ir.AxisLoop():
                by_one = isinstance(s.step, ir.Const) and s.step.value == 1
                limits = (s.start, s.stop) if by_one else (s.start, s.stop, s.step)
                lockstep = " in lockstep" if s.lockstep else ""
                threads = f"threads({self.comma_separated(limits)}){lockstep}"
                yield f"{indent}for {self.target(s.var)} in {threads}:{mark}"
                yield from self.block(s.body, depth + 1)
            case ir.InlineC():
                yield from c_text(s.code, indent)
            case _:
                yield indent + self.simple(s) + mark

    def branches(self, s: ir.If, depth: int, head: str, mark: str) -> Iterator[str]:
        yield f"{head}{self.expression(s.condition)}:{mark}"
        yield from self.block(s.then, depth + 1)
        indent = "  " * depth
        match s.orelse:
            case ():
                return
            case (ir.If() as inner,):
                mark = "  <-- here" if id(inner) in self.marked else ""
                yield from self.branches(inner, depth, f"{indent}elif ", mark)
            case _:
                yield f"{indent}else:"
                yield from self.block(s.orelse, depth + 1)

    def simple(
        self,
        s: ir.Allocate
        | ir.Declare
        | ir.Assign
        | ir.Store
        | ir.Evaluate
        | ir.Print
        | ir.Break
        | ir.Continue
        | ir.Return
        | ir.NextWorkItem
        | ir.BarrierWait,
    ) -> str:
        match s:
            case ir.Allocate():
                return f"allocate {self.target(s.var)}"
            case ir.Declare():
                value = "" if s.init is None else f" = {self.expression(s.init)}"
                return f"declare {self.target(s.var)}{value}"
            case ir.Assign():
                value = self.expression(s.value)  # printed first, as a Let inside prints its type
                return f"{self.target(s.var)} = {value}"
            case ir.Store():
                target = f"{self.expression(s.array)}[{self.comma_separated(s.indices)}]"
                return f"{target}{self.path(s.path)} = {self.expression(s.value)}"
            case ir.Evaluate():
                return self.expression(s.value)
            case ir.Print():
                listed = f" {self.comma_separated(s.values)}" if s.values else ""
                return f'print "{format_text(s.text)}"{listed}'
            case ir.Break():
                return "break"
            case ir.Continue():
                return "continue"
            case ir.Return():
                return "return" if s.value is None else f"return {self.expression(s.value)}"
            case ir.NextWorkItem():
                return "next thread"
            case ir.BarrierWait():
                return self.barrier(s)
            case _:
                assert_never(s)

    def barrier(self, s: ir.BarrierWait) -> str:
        """Print a barrier: ``barrier warp mask, contributing bits[warp] += x``."""
        mask = "" if s.mask is None else f" {self.expression(s.mask)}"
        head = "yield" if s.scope is ir.SyncScope.YIELD else f"barrier {s.scope.value}{mask}"
        listed = "; ".join(map(self.contribution, s.contributions))
        return f"{head}, contributing {listed}" if listed else head

    def contribution(self, contribution: ir.Contribution) -> str:
        granularity = contribution.granularity
        op = "=" if granularity is ir.Granularity.THREAD else "+="
        value = self.expression(contribution.value)
        return f"{contribution.array.name}[{granularity.value}] {op} {value}"

    def target(self, var: ir.Var) -> str:
        is_typed = var.name in self.typed
        self.typed.add(var.name)
        text = var.name if is_typed else f"{var.name}: {print_type(var.type)}"
        return f"<<{text}>>" if id(var) in self.marked else text

    def view(self, e: ir.View) -> str:
        """Print a view: ``view a[i, 0 on: step 2, length 5]``."""
        indices = [self.expression(index) for index in e.first]
        path_texts = [self.expression(index) for index in path_indices(e.path)]
        for axis, step, length in zip(e.axes, e.steps, e.lengths):
            extent = f" on: step {self.expression(step)}, length {self.expression(length)}"
            if axis >= 0:
                indices[axis] += extent
            else:  # ~n is the n-th index in the path
                path_texts[~axis] += extent
        path = _dotted(e.path, path_texts)
        return f"view {self.expression(e.array)}[{', '.join(indices)}]{path}"

    def path(self, path: ir.Path) -> str:
        return _dotted(path, [self.expression(index) for index in path_indices(path)])

    def comma_separated(self, items: Iterable[ir.Expr]) -> str:
        return ", ".join(self.expression(e) for e in items)

    def expression(self, e: ir.Expr) -> str:
        text = self._expression(e)
        return f"<<{text}>>" if id(e) in self.marked else text

    def _expression(self, e: ir.Expr) -> str:
        match e:
            case ir.Const():
                return repr(e.value) if e.type.weak else f"{e.value!r}:{print_type(e.type)}"
            case ir.Var():
                return f"{e.name} of cluster" if ir.in_cluster(e) else e.name
            case ir.Unary():
                return f"{e.op}.{print_type(e.operand.type)}({self.expression(e.operand)})"
            case ir.Binary():
                operands = self.comma_separated((e.left, e.right))
                return f"{e.op}.{print_type(e.left.type)}({operands})"
            case ir.Logical():
                return f"({self.expression(e.left)} {e.op.value} {self.expression(e.right)})"
            case ir.Select():
                condition, then = self.expression(e.condition), self.expression(e.then)
                return f"({then} if {condition} else {self.expression(e.orelse)})"
            case ir.Cast():
                return f"{print_type(e.type)}({self.expression(e.operand)})"
            case ir.Load():
                return f"{self.expression(e.array)}[{self.comma_separated(e.indices)}]"
            case ir.ElementOf():
                element = f"{self.expression(e.array)}[{self.comma_separated(e.indices)}]"
                return f"&{element}{self.path(e.path)}"
            case ir.Member():
                return f"{self.expression(e.operand)}.{e.field}"
            case ir.Item():
                return f"{self.expression(e.operand)}[{self.expression(e.index)}]"
            case ir.Pack():
                return f"{{{self.comma_separated(e.parts)}}}"
            case ir.View():
                return self.view(e)
            case ir.Dim() | ir.Stride():
                name = "dim" if isinstance(e, ir.Dim) else "stride"
                suffix = "" if e.type == WEAK_INT else f".{print_type(e.type)}"
                return f"{name}{suffix}({self.expression(e.array)}, {e.axis})"
            case ir.Let():
                value = self.expression(e.value)
                body = self.expression(e.body)
                return f"(let {e.name}: {print_type(e.value.type)} = {value} in {body})"
            case ir.Apply():
                return f"{e.intrinsic.name}{_type_suffix(e)}({self.comma_separated(e.arguments)})"
            case ir.Call():
                return f"{e.function}({self.comma_separated(e.arguments)})"
            case _:
                assert_never(e)


def _dotted(path: ir.Path, indices: Iterable[str]) -> str:
    """Print a path: ``.corners[2].x``."""
    following = iter(indices)
    return "".join(f".{step}" if isinstance(step, str) else f"[{next(following)}]" for step in path)


def _type_suffix(e: ir.Apply) -> str:
    """Return the type of an overloaded intrinsic, or of a result that is a small int."""
    is_typed = e.intrinsic.result in ("T", "F") or e.type == WEAK_INT32
    return f".{print_type(e.type)}" if is_typed else ""
