"""Linearize: make evaluation order explicit.

``out[i] = f(x) + a[i]``, where f writes memory -> ``first = f(x); out[i] = first + a[i]``. Lets
become variables. Expressions whose evaluation order C leaves unspecified are split into statements
where the order is observable. Guarantees that no Let remains. Uses ``analysis.effects``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pycu2c.analysis.effects import any_effect, has_effect, reads_memory
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

LetBindings = dict[str, Expr]  # what the names of Lets stand for


def linearize(module: Module, effectful: frozenset[str]) -> Module:
    """Linearize all functions of a module."""
    return map_functions(module, lambda f: _linear_function(f, effectful, lambda _: False))


def linearize_blocks(module: Module, effectful: frozenset[str]) -> Module:
    """Linearize; barriers and calls of block-level functions also become statements (CPU)."""
    inlined_names = divergent_loops.functions_to_inline(module) if module.devices else frozenset()
    devices = effectful | inlined_names

    def is_separate(e: Expr) -> bool:
        if isinstance(e, Apply):
            return e.intrinsic.synchronizes
        return isinstance(e, Call) and e.function in inlined_names

    return map_functions(module, lambda f: _linear_function(f, devices, is_separate))


def _linear_function(
    function: Function, devices: frozenset[str], is_separate: Callable[[Expr], bool]
) -> Function:
    return replace(function, body=_Linearizer(devices, is_separate).body(function.body))


@dataclass(slots=True)
class _Linearizer:
    devices: frozenset[str]  # device functions with side effects
    is_separate: Callable[[Expr], bool]  # becomes ``x = f(...)`` or ``f(...)``
    _counter: int = 0
    _bound_lets: dict[int, Expr] = field(default_factory=dict)  # of this statement

    def body(self, body: Body) -> Body:
        results: list[Stmt] = []
        for s in body:
            results += self.statement(s)
        return tuple(results)

    def statement(self, s: Stmt) -> Body:
        before: list[Stmt] = []
        self._bound_lets = {}
        if isinstance(s, Assign) and self.is_separate(s.value):
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
        """Store loop bounds in variables if needed: C evaluates the bound in every iteration."""
        return (new[0], *(self.to_variable(e, "bound", before) if before else e for e in new[1:]))

    def to_variable(self, e: Expr, hint: str, before: list[Stmt]) -> Expr:
        """Compute a value before the statement and return its variable."""
        if isinstance(e, Const):
            return e
        var = self.variable(hint, scalar_type(e), e)
        before.append(Assign(var, e, e.span))
        return var

    def variable(self, hint: str, kind: Scalar, at: Expr) -> Var:
        self._counter += 1
        return Var(f"{hint}.s{self._counter}", kind, at.span)

    def sequence(
        self, exprs: Sequence[Expr], before: list[Stmt], lets: LetBindings
    ) -> tuple[Expr, ...]:
        """Linearize operands left to right; values that a later one may change go to variables."""
        results: list[Expr] = []
        for e in exprs:
            preceding: list[Stmt] = []
            new = self.expression(e, preceding, lets)
            has_side_effect = any_effect(new, self.devices) or self._has_side_effect(preceding)
            if has_side_effect or (preceding and any(any_effect(o, self.devices) for o in results)):
                results = [self._protect(o, before) for o in results]
            before += preceding
            if any(any_effect(o, self.devices) for o in results) and reads_memory(new):
                results = [self._protect(o, before) for o in results]
            results.append(new)
        return tuple(results)

    def _has_side_effect(self, body: Sequence[Stmt]) -> bool:
        """Return whether statements do more than assign new variables."""
        return any(any_effect(e, self.devices) for e in all_expressions(tuple(body)))

    def _protect(self, e: Expr, before: list[Stmt]) -> Expr:
        """Store an operand that a later operand may change in a variable."""
        is_stable = not any_effect(e, self.devices) and not reads_memory(e)
        if is_stable or isinstance(e, ElementOf) or not isinstance(e.type, Scalar):
            return e  # variables do not change inside an expression
        return self.to_variable(e, "first", before)

    def expression(self, e: Expr, before: list[Stmt], lets: LetBindings) -> Expr:
        match e:
            case Var():
                return lets.get(e.name, e)
            case Let():
                return self.let(e, before, lets)
            case Select():
                return self.select(e, before, lets)
            case Logical():
                return self.logical(e, before, lets)
            case Call() | Apply() if self.is_separate(e):
                call = with_children(e, self.sequence(children(e), before, lets))
                if isinstance(e.type, Scalar):
                    return self.to_variable(call, "result", before)
                before.append(Evaluate(call, e.span))
                return const(False, e.span)
            case _:
                return with_children(e, self.sequence(children(e), before, lets))

    def let(self, e: Let, before: list[Stmt], lets: LetBindings) -> Expr:
        if id(e) in self._bound_lets:
            return self._bound_lets[id(e)]
        value = self.expression(e.value, before, lets)
        if not is_atom(value):
            value = self.to_variable(value, e.name.split(".")[0], before)
        result = self.expression(e.body, before, {**lets, e.name: value})
        self._bound_lets[id(e)] = result
        return result

    def select(self, e: Select, before: list[Stmt], lets: LetBindings) -> Expr:
        condition = self.expression(e.condition, before, lets)
        then, then_before = self._branch(e.then, lets)
        orelse, orelse_before = self._branch(e.orelse, lets)
        if not then_before and not orelse_before:
            return replace(e, condition=condition, then=then, orelse=orelse)
        var = self.variable("chosen", e.type, e)
        arms = [
            (*preceding_statements, Assign(var, value, value.span))
            for value, preceding_statements in ((then, then_before), (orelse, orelse_before))
        ]
        before.append(If(condition, arms[0], arms[1], e.span))
        return var

    def logical(self, e: Logical, before: list[Stmt], lets: LetBindings) -> Expr:
        left = self.expression(e.left, before, lets)
        right, right_before = self._branch(e.right, lets)
        if not right_before:
            return replace(e, left=left, right=right)
        var = self.variable("holds", WEAK_BOOL, e)
        before.append(Assign(var, cast(left, WEAK_BOOL), left.span))
        evaluates_right = var if e.op is LogicalOp.AND else negation(var)
        before.append(
            If(evaluates_right, (*right_before, Assign(var, right, right.span)), (), e.span)
        )
        return var

    def _branch(self, e: Expr, lets: LetBindings) -> tuple[Expr, tuple[Stmt, ...]]:
        """Linearize a conditionally evaluated expression; its statements stay conditional."""
        preceding_statements: list[Stmt] = []
        saved = dict(self._bound_lets)  # bindings of a branch end with it
        value = self.expression(e, preceding_statements, lets)
        self._bound_lets = saved
        return value, tuple(preceding_statements)
