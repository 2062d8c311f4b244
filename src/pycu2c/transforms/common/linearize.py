"""Evaluation order made explicit: Lets become variables, and what C may evaluate in any order
is put into statements wherever the order could be seen.

``out[i] = f(x) + a[i]`` where f writes memory -> ``first = f(x); out[i] = first + a[i]``
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pycu2c.analysis.effects import any_effect, effectful, has_effect, reads_memory
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import WEAK_BOOL, Scalar
from pycu2c.ir.builders import cast, const, is_atom, negation, scalar_type
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Body,
    Break,
    Call,
    Const,
    ElementOf,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Let,
    Logical,
    LogicalOp,
    Module,
    Select,
    Stmt,
    Var,
    While,
)
from pycu2c.ir.walk import (
    all_expressions,
    bodies,
    children,
    map_functions,
    operands,
    with_bodies,
    with_children,
    with_operands,
)
from pycu2c.transforms.cpu.simd import divergent_loops

Given = dict[str, Expr]  # what the names of Lets stand for


def linearize(module: Module) -> Module:
    """No Let is left, and no expression whose order of evaluation C leaves open matters."""
    devices = effectful(module)
    return map_functions(module, lambda f: _linear_function(f, devices, lambda _: False))


def linearize_blocks(module: Module) -> Module:
    """As ``linearize``; where threads meet, and calls of what a block runs together, are
    statements of their own."""
    together = divergent_loops.run_apart(module) if module.devices else frozenset()
    devices = effectful(module) | together

    def apart(e: Expr) -> bool:
        if isinstance(e, Apply):
            return e.intrinsic.synchronizes
        return isinstance(e, Call) and e.function in together

    return map_functions(module, lambda f: _linear_function(f, devices, apart))


def _linear_function(
    function: Function, devices: frozenset[str], apart: Callable[[Expr], bool]
) -> Function:
    return replace(function, body=_Linearizer(devices, apart).body(function.body))


@dataclass(slots=True)
class _Linearizer:
    devices: frozenset[str]  # whose calls have an effect
    apart: Callable[[Expr], bool]  # what becomes ``x = f(...)`` or ``f(...)``
    _fresh: int = 0
    _kept: dict[int, Expr] = field(default_factory=dict)  # Lets bound in this statement

    def body(self, body: Body) -> Body:
        out: list[Stmt] = []
        for s in body:
            out += self.statement(s)
        return tuple(out)

    def statement(self, s: Stmt) -> Body:
        before: list[Stmt] = []
        self._kept = {}
        if isinstance(s, Assign) and self.apart(s.value):
            call = with_children(s.value, self.sequence(children(s.value), before, {}))
            return (*before, replace(s, value=call))
        new = self.sequence(operands(s), before, {})
        inner = with_bodies(s, tuple(self.body(b) for b in bodies(s)))
        if isinstance(inner, While) and before:
            leave = If(negation(new[0]), (Break(s.span),), (), s.span)
            return (While(const(True, s.span), (*before, leave, *inner.body), s.span),)
        if isinstance(s, Evaluate) and not has_effect(new[0], self.devices):
            return tuple(before)
        if isinstance(inner, For):
            new = self._counted(inner, new, before)
        return (*before, with_operands(inner, new))

    def _counted(self, loop: For, new: tuple[Expr, ...], before: list[Stmt]) -> tuple[Expr, ...]:
        """C reads the bound in every iteration: it must be as cheap as before, and steady."""
        return (new[0], *(self.kept(e, "bound", before) if before else e for e in new[1:]))

    def kept(self, e: Expr, hint: str, before: list[Stmt]) -> Expr:
        """The value in a variable, computed before the statement."""
        if isinstance(e, Const):
            return e
        var = self.variable(hint, scalar_type(e), e)
        before.append(Assign(var, e, e.span))
        return var

    def variable(self, hint: str, kind: Scalar, at: Expr) -> Var:
        self._fresh += 1
        return Var(f"{hint}.s{self._fresh}", kind, at.span)

    def sequence(self, given: Sequence[Expr], before: list[Stmt], lets: Given) -> tuple[Expr, ...]:
        """Operands, left to right: what a later one could change is kept in a variable."""
        out: list[Expr] = []
        for e in given:
            mine: list[Stmt] = []
            new = self.expression(e, mine, lets)
            acts = any_effect(new, self.devices) or self._acts(mine)
            if acts or (mine and any(any_effect(o, self.devices) for o in out)):
                out = [self._safe(o, before) for o in out]
            before += mine
            if any(any_effect(o, self.devices) for o in out) and reads_memory(new):
                out = [self._safe(o, before) for o in out]
            out.append(new)
        return tuple(out)

    def _acts(self, body: Sequence[Stmt]) -> bool:
        """Whether statements do more than give values to new variables."""
        return any(any_effect(e, self.devices) for e in all_expressions(tuple(body)))

    def _safe(self, e: Expr, before: list[Stmt]) -> Expr:
        """An operand that something evaluated after it could change, kept now."""
        steady = not any_effect(e, self.devices) and not reads_memory(e)
        if steady or isinstance(e, ElementOf) or not isinstance(e.type, Scalar):
            return e  # variables do not change inside an expression
        return self.kept(e, "first", before)

    def expression(self, e: Expr, before: list[Stmt], lets: Given) -> Expr:
        match e:
            case Var():
                return lets.get(e.name, e)
            case Let():
                return self.let(e, before, lets)
            case Select():
                return self.select(e, before, lets)
            case Logical():
                return self.logical(e, before, lets)
            case Call() | Apply() if self.apart(e):
                call = with_children(e, self.sequence(children(e), before, lets))
                if isinstance(e.type, Scalar):
                    return self.kept(call, "result", before)
                before.append(Evaluate(call, e.span))
                return const(False, e.span)
            case _:
                return with_children(e, self.sequence(children(e), before, lets))

    def let(self, e: Let, before: list[Stmt], lets: Given) -> Expr:
        if id(e) in self._kept:
            return self._kept[id(e)]
        value = self.expression(e.value, before, lets)
        if not is_atom(value):
            value = self.kept(value, e.name.split(".")[0], before)
        result = self.expression(e.body, before, {**lets, e.name: value})
        self._kept[id(e)] = result
        return result

    def select(self, e: Select, before: list[Stmt], lets: Given) -> Expr:
        condition = self.expression(e.condition, before, lets)
        then, then_before = self._arm(e.then, lets)
        orelse, orelse_before = self._arm(e.orelse, lets)
        if not then_before and not orelse_before:
            return replace(e, condition=condition, then=then, orelse=orelse)
        var = self.variable("chosen", e.type, e)
        arms = [
            (*inside, Assign(var, value, value.span))
            for value, inside in ((then, then_before), (orelse, orelse_before))
        ]
        before.append(If(condition, arms[0], arms[1], e.span))
        return var

    def logical(self, e: Logical, before: list[Stmt], lets: Given) -> Expr:
        left = self.expression(e.left, before, lets)
        right, right_before = self._arm(e.right, lets)
        if not right_before:
            return replace(e, left=left, right=right)
        var = self.variable("holds", WEAK_BOOL, e)
        before.append(Assign(var, cast(left, WEAK_BOOL), left.span))
        goes_on = var if e.op is LogicalOp.AND else negation(var)
        before.append(If(goes_on, (*right_before, Assign(var, right, right.span)), (), e.span))
        return var

    def _arm(self, e: Expr, lets: Given) -> tuple[Expr, tuple[Stmt, ...]]:
        """An expression that may not be evaluated: what it needs stays under its condition."""
        inside: list[Stmt] = []
        outer = dict(self._kept)  # what is bound in an arm is not bound after it
        value = self.expression(e, inside, lets)
        self._kept = outer
        return value, tuple(inside)
