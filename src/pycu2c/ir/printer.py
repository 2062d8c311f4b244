"""IR -> text: one statement per line, types where a variable is first assigned. Knows every
node; ``docs/ir.md`` describes the form. Spans are left out, so that goldens are stable."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import assert_never

from pycu2c.base import dtypes
from pycu2c.base.external_code import Code
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import SMALL, VOID, WEAK_INT, Scalar, Type, boolean
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Assign,
    AxisLoop,
    Binary,
    BlockLoop,
    Body,
    Break,
    Call,
    Cast,
    Const,
    ConstantArray,
    Continue,
    CText,
    Declare,
    Dim,
    ElementOf,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Item,
    Let,
    Load,
    Logical,
    Member,
    Module,
    NextThread,
    Pack,
    Parameter,
    Part,
    Path,
    Per,
    Print,
    Return,
    Select,
    Stmt,
    Store,
    Stride,
    Strips,
    ThreadLoop,
    ThreadSteps,
    Unary,
    Var,
    View,
    Wait,
    While,
    in_cluster,
)
from pycu2c.ir.print_format import shown
from pycu2c.ir.walk import inside

_NAMES: dict[Type, str] = {
    SMALL: "small",
    boolean: "bool_",
    Scalar(dtypes.FLOAT32, weak=True): "single",
    Scalar(dtypes.COMPLEX64, weak=True): "single_complex",
}
Marked = Collection[int]  # the ids of nodes that the reader is to look at


def print_module(module: Module, marked: Marked = ()) -> str:
    """All functions, callees first; marked expressions stand in ``<<  >>``."""
    functions = [print_function(f, "device", marked) for f in module.devices]
    constants = "".join(f"{print_constant(constant)}\n" for constant in module.constants)
    kernel = print_function(module.kernel, "kernel", marked)
    if module.cluster:
        head, _, rest = kernel.partition("\n")
        kernel = f"{head} in clusters of {', '.join(map(str, module.cluster))}\n{rest}"
    texts = [*functions, kernel]
    return "\n".join([constants, *texts] if constants else texts)


def print_constant(constant: ConstantArray) -> str:
    """``constant table: constant float32[4] = 1.0, …``."""
    values = ", ".join(str(e.value) if isinstance(e, Const) else "…" for e in constant.values)
    return f"constant {constant.var.name}: {print_type(constant.var.type)} = {values}"


def print_function(function: Function, word: str = "kernel", marked: Marked = ()) -> str:
    """A function, its head and its body."""
    printer = _Printer(marked, {p.name for p in function.parameters})
    parameters = ", ".join(_parameter(p) for p in function.parameters)
    result = "" if function.result == VOID else f" -> {print_type(function.result)}"
    head = f"{word} {function.name}({parameters}){result}"
    lines = [head]
    if function.foreign is not None:
        lines += [line for code in function.foreign.codes for line in c_text(code, "  ")]
    return "".join(f"{line}\n" for line in (*lines, *printer.block(function.body, 1)))


def c_text(code: Code, indent: str) -> Iterator[str]:
    """``in cuda: return x * y;``, each further line under the first."""
    head = f"{indent}in {code.dialect}: "
    for line in code.lines:
        yield f"{head}{line.text}".rstrip()
        head = " " * len(head)


def print_stmt(s: Stmt) -> str:
    """A statement and what is in it."""
    return "\n".join(_Printer().statement(s, 0))


def print_expr(e: Expr) -> str:
    """An expression, fully bracketed."""
    return _Printer().expression(e)


def print_type(kind: Type) -> str:
    """``small`` is a Python int of which 32 bits are enough, ``single`` a Python float that is
    kept in 32, ``bool_`` numpy's bool."""
    return _NAMES.get(kind) or str(kind)


def _parameter(p: Parameter) -> str:
    pointer = "pointer " if p.part is Part.DATA else ""
    return f"{p.name}: {pointer}{print_type(p.type)}"


@dataclass(slots=True)
class _Printer:
    marked: Marked = ()
    typed: set[str] = field(default_factory=set)  # variables whose type has been shown

    def block(self, body: Body, depth: int) -> Iterator[str]:
        for s in body:
            yield from self.statement(s, depth)
        if not body:
            yield f"{'  ' * depth}pass"

    def statement(self, s: Stmt, depth: int) -> Iterator[str]:
        indent = "  " * depth
        here = "  <-- here" if id(s) in self.marked else ""
        match s:
            case If():
                yield from self.branches(s, depth, f"{indent}if ", here)
            case While():
                yield f"{indent}while {self.expression(s.condition)}:{here}"
                yield from self.block(s.body, depth + 1)
            case For():
                bounds = self.listed((s.start, s.stop, s.step))
                around = " around threads" if s.interchanged else ""
                yield f"{indent}for {self.target(s.var)} in range({bounds}){around}:{here}"
                yield from self.block(s.body, depth + 1)
            case Strips():
                yield f"{indent}for each strip of threads:{here}"
                yield from self.block(s.body, depth + 1)
            case ThreadLoop():
                yield f"{indent}for each thread:{here}"
                yield from self.block(s.body, depth + 1)
            case BlockLoop():
                along = "" if s.order == (0, 1, 2) else f", {''.join('xyz'[a] for a in s.order)}"
                yield f"{indent}for each {'row of blocks' if s.in_rows else 'block'}{along}:{here}"
                yield from self.block(s.body, depth + 1)
            case ThreadSteps():
                yield f"{indent}for each thread, from wait to wait:{here}"
                yield from self.block(s.body, depth + 1)
            case AxisLoop():
                every = isinstance(s.step, Const) and s.step.value == 1
                limits = (s.start, s.stop) if every else (s.start, s.stop, s.step)
                together = " in lockstep" if s.lockstep else ""
                threads = f"threads({self.listed(limits)}){together}"
                yield f"{indent}for {self.target(s.var)} in {threads}:{here}"
                yield from self.block(s.body, depth + 1)
            case CText():
                yield from c_text(s.code, indent)
            case _:
                yield indent + self.simple(s) + here

    def branches(self, s: If, depth: int, head: str, here: str) -> Iterator[str]:
        yield f"{head}{self.expression(s.condition)}:{here}"
        yield from self.block(s.then, depth + 1)
        indent = "  " * depth
        match s.orelse:
            case ():
                return
            case (If() as inner,):
                mark = "  <-- here" if id(inner) in self.marked else ""
                yield from self.branches(inner, depth, f"{indent}elif ", mark)
            case _:
                yield f"{indent}else:"
                yield from self.block(s.orelse, depth + 1)

    def simple(
        self,
        s: Allocate
        | Declare
        | Assign
        | Store
        | Evaluate
        | Print
        | Break
        | Continue
        | Return
        | NextThread
        | Wait,
    ) -> str:
        match s:
            case Allocate():
                return f"allocate {self.target(s.var)}"
            case Declare():
                value = "" if s.init is None else f" = {self.expression(s.init)}"
                return f"declare {self.target(s.var)}{value}"
            case Assign():
                value = self.expression(s.value)  # first: a Let in it shows its own variable
                return f"{self.target(s.var)} = {value}"
            case Store():
                place = f"{self.expression(s.array)}[{self.listed(s.indices)}]"
                return f"{place}{self.path(s.path)} = {self.expression(s.value)}"
            case Evaluate():
                return self.expression(s.value)
            case Print():
                listed = f" {self.listed(s.values)}" if s.values else ""
                return f'print "{shown(s.text)}"{listed}'
            case Break():
                return "break"
            case Continue():
                return "continue"
            case Return():
                return "return" if s.value is None else f"return {self.expression(s.value)}"
            case NextThread():
                return "next thread"
            case Wait():
                return self.wait(s)
            case _:
                assert_never(s)

    def wait(self, s: Wait) -> str:
        """``wait for warp mask, giving bits[warp] += x``."""
        mask = "" if s.mask is None else f" {self.expression(s.mask)}"
        head = f"wait for {s.meeting.value}{mask}"
        given = [
            f"{gift.slots.name}[{gift.per.value}] {'=' if gift.per is Per.THREAD else '+='} "
            f"{self.expression(gift.value)}"
            for gift in s.gifts
        ]
        return f"{head}, giving {'; '.join(given)}" if given else head

    def target(self, var: Var) -> str:
        shown = var.name in self.typed
        self.typed.add(var.name)
        text = var.name if shown else f"{var.name}: {print_type(var.type)}"
        return f"<<{text}>>" if id(var) in self.marked else text

    def view(self, e: View) -> str:
        """``a[i, (0 + 2*k) of 5]``: the axes of the view with their steps and lengths."""
        shown = [self.expression(index) for index in e.first]
        own = [self.expression(index) for index in inside(e.path)]
        for axis, step, length in zip(e.axes, e.steps, e.lengths):
            pace = f" on: step {self.expression(step)}, length {self.expression(length)}"
            if axis >= 0:
                shown[axis] += pace
            else:
                own[~axis] += pace
        path = _dotted(e.path, own)
        return f"view {self.expression(e.array)}[{', '.join(shown)}]{path}"

    def path(self, path: Path) -> str:
        return _dotted(path, [self.expression(index) for index in inside(path)])

    def listed(self, items: Iterable[Expr]) -> str:
        return ", ".join(self.expression(e) for e in items)

    def expression(self, e: Expr) -> str:
        text = self._expression(e)
        return f"<<{text}>>" if id(e) in self.marked else text

    def _expression(self, e: Expr) -> str:
        match e:
            case Const():
                return repr(e.value) if e.type.weak else f"{e.value!r}:{print_type(e.type)}"
            case Var():
                return f"{e.name} of cluster" if in_cluster(e) else e.name
            case Unary():
                return f"{e.op}.{print_type(e.operand.type)}({self.expression(e.operand)})"
            case Binary():
                operands = self.listed((e.left, e.right))
                return f"{e.op}.{print_type(e.left.type)}({operands})"
            case Logical():
                return f"({self.expression(e.left)} {e.op.value} {self.expression(e.right)})"
            case Select():
                condition, then = self.expression(e.condition), self.expression(e.then)
                return f"({then} if {condition} else {self.expression(e.orelse)})"
            case Cast():
                return f"{print_type(e.type)}({self.expression(e.operand)})"
            case Load():
                return f"{self.expression(e.array)}[{self.listed(e.indices)}]"
            case ElementOf():
                place = f"{self.expression(e.array)}[{self.listed(e.indices)}]"
                return f"&{place}{self.path(e.path)}"
            case Member():
                return f"{self.expression(e.operand)}.{e.field}"
            case Item():
                return f"{self.expression(e.operand)}[{self.expression(e.index)}]"
            case Pack():
                return f"{{{self.listed(e.parts)}}}"
            case View():
                return self.view(e)
            case Dim() | Stride():
                word = "dim" if isinstance(e, Dim) else "stride"
                kind = "" if e.type == WEAK_INT else f".{print_type(e.type)}"
                return f"{word}{kind}({self.expression(e.array)}, {e.axis})"
            case Let():
                value = self.expression(e.value)
                body = self.expression(e.body)
                return f"(let {e.name}: {print_type(e.value.type)} = {value} in {body})"
            case Apply():
                return f"{e.intrinsic.name}{_variant(e)}({self.listed(e.arguments)})"
            case Call():
                return f"{e.function}({self.listed(e.arguments)})"
            case _:
                assert_never(e)


def _dotted(path: Path, indices: Iterable[str]) -> str:
    """``.corners[2].x``"""
    given = iter(indices)
    return "".join(f".{step}" if isinstance(step, str) else f"[{next(given)}]" for step in path)


def _variant(e: Apply) -> str:
    """The type, where operands of several types are possible, or the result is a small int."""
    shown = e.intrinsic.result in ("T", "F") or e.type == SMALL
    return f".{print_type(e.type)}" if shown else ""
