"""Device functions that a whole block runs together are put into their callers.

On the CPU a block is one C function: what holds a barrier or shared memory must be part of
it. ``total = block_sum(x)`` -> the body of block_sum, its result in a variable.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pycu2c.diagnostics import Label, fail
from pycu2c.ir.effects import is_block_level
from pycu2c.ir.nodes import (
    Allocate,
    Assign,
    Body,
    Break,
    Call,
    Const,
    Evaluate,
    Expr,
    For,
    Function,
    Let,
    Module,
    Return,
    Stmt,
    Store,
    Var,
    While,
)
from pycu2c.ir.walk import (
    bodies,
    children,
    operands,
    rewrite,
    statements,
    with_bodies,
    with_children,
    with_operands,
)
from pycu2c.types import WEAK_BOOL, Array, Scalar


def inline_block_level(module: Module) -> Module:
    """The module without device functions that hold barriers or shared memory."""
    inlined: dict[str, Function] = {}
    kept: list[Function] = []
    for function in module.devices:
        done = replace(function, body=_Inliner(inlined).body(function.body))
        if is_block_level(done):
            inlined[done.name] = done
        else:
            kept.append(done)
    kernel = module.kernel
    if inlined:
        kernel = replace(kernel, body=_Inliner(inlined).body(kernel.body))
    return Module(kernel, tuple(kept))


@dataclass(slots=True)
class _Inliner:
    functions: dict[str, Function]
    _count: int = 0
    _before: list[Stmt] = field(default_factory=list)

    def body(self, body: Body) -> Body:
        out: list[Stmt] = []
        for s in body:
            inner = tuple(self.body(b) for b in bodies(s))
            outer, self._before = self._before, []
            new = tuple(self.expression(e) for e in operands(s))
            assert not (self._before and isinstance(s, While)), "calls are statements by now"
            out += self._before
            self._before = outer
            done = with_bodies(with_operands(s, new), inner)
            if not (isinstance(done, Evaluate) and isinstance(done.value, (Const, Var))):
                out.append(done)
        return tuple(out)

    def expression(self, e: Expr) -> Expr:
        if isinstance(e, Call) and e.function in self.functions:
            arguments = tuple(self.expression(a) for a in e.arguments)
            return self._expanded(replace(e, arguments=arguments))
        return with_children(e, tuple(self.expression(c) for c in children(e)))

    def _expanded(self, call: Call) -> Expr:
        """The callee's body before this statement; its value as a variable."""
        function = self.functions[call.function]
        self._count += 1
        tag = f"i{self._count}"
        arrays: dict[str, Var] = {}
        for parameter, argument in zip(function.parameters, call.arguments):
            if isinstance(parameter.type, Array):
                assert isinstance(argument, Var)
                arrays[parameter.name] = argument
            else:
                var = Var(f"{parameter.name}.{tag}", parameter.type, argument.span)
                self._before.append(Assign(var, argument, argument.span))
        body = _renamed(function.body, tag, arrays)
        result = None
        if isinstance(function.result, Scalar):
            result = Var(f"result.{tag}", function.result, call.span)
        self._before += _without_returns(body, result, function)
        return result if result is not None else Const(False, WEAK_BOOL, call.span)


def _renamed(body: Body, tag: str, arrays: dict[str, Var]) -> Body:
    """A copy with variables of its own; array parameters are the caller's arrays."""

    def var(v: Var) -> Var:
        return arrays[v.name] if v.name in arrays else replace(v, name=f"{v.name}.{tag}")

    def expression(e: Expr) -> Expr:
        if isinstance(e, Var):
            return var(e)
        return replace(e, name=f"{e.name}.{tag}") if isinstance(e, Let) else e

    def statement(s: Stmt) -> Stmt:
        s = with_operands(s, tuple(rewrite(e, expression) for e in operands(s)))
        s = with_bodies(s, tuple(tuple(statement(x) for x in b) for b in bodies(s)))
        if isinstance(s, (Assign, For, Allocate)):
            return replace(s, var=var(s.var))
        return replace(s, array=var(s.array)) if isinstance(s, Store) else s

    return tuple(statement(s) for s in body)


def _without_returns(body: Body, result: Var | None, function: Function) -> list[Stmt]:
    """A last return becomes an assignment; earlier ones leave a loop that runs once."""
    returns = [s for s in statements(body) if isinstance(s, Return)]
    if not returns or (len(returns) == 1 and body[-1] is returns[0]):
        return _assigned(body, result)
    for s in statements(body):
        if isinstance(s, (For, While)) and any(isinstance(x, Return) for x in statements(s.body)):
            fail(
                "barrier-place",
                Label(s.span, f"{function.python_name} has a barrier and returns from this loop"),
                help="leave the loop with break, and return after it",
            )
    inside = (*_assigned(body, result, leave=True), Break(function.span))
    return [While(Const(True, WEAK_BOOL, function.span), inside, function.span)]


def _assigned(body: Body, result: Var | None, leave: bool = False) -> list[Stmt]:
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, Return):
            if s.value is not None and result is not None:
                out.append(Assign(result, s.value, s.span))
            if leave:
                out.append(Break(s.span))
        else:
            inner = tuple(tuple(_assigned(b, result, leave)) for b in bodies(s))
            out.append(with_bodies(s, inner))
    return out
