"""Linearize: make evaluation order explicit.

``out[i] = f(x) + a[i]``, where f writes memory -> ``first = f(x); out[i] = first + a[i]``. Lets
become variables; Lets of equal value in one statement share a variable. Expressions whose
evaluation order C leaves unspecified are split into statements where the order is observable.
Requires the form C_SEMANTICS (``ir/forms.py``). Guarantees that no Let remains. Uses
``analysis.effects`` and ``analysis.value_numbering``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from pycu2c.analysis.effects import any_effect, has_effect, reads_memory
from pycu2c.analysis.value_numbering import value_number
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import WEAK_BOOL, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import cast, const, is_atom, negation, scalar_type
from pycu2c.transforms.cpu.simd import divergent_loops

LetBindings = dict[str, ir.Expr]  # the values of Lets by name


def linearize(module: ir.Module, effectful: frozenset[str]) -> ir.Module:
    """Linearize all functions of a module."""
    return walk.map_functions(module, lambda f: _linear_function(f, effectful, lambda _: False))


def linearize_blocks(module: ir.Module, effectful: frozenset[str]) -> ir.Module:
    """Linearize; barriers and calls of block-level functions also become statements (CPU)."""
    inlined_names = (
        divergent_loops.functions_to_inline(module) if module.device_functions else frozenset()
    )
    effectful = effectful | inlined_names

    def is_separate(e: ir.Expr) -> bool:
        if isinstance(e, ir.Apply):
            return e.intrinsic.synchronizes
        return isinstance(e, ir.Call) and e.function in inlined_names

    return walk.map_functions(module, lambda f: _linear_function(f, effectful, is_separate))


def _linear_function(
    function: ir.Function, effectful: frozenset[str], is_separate: Callable[[ir.Expr], bool]
) -> ir.Function:
    return replace(function, body=_Linearizer(effectful, is_separate).body(function.body))


@dataclass(slots=True)
class _Linearizer:
    effectful: frozenset[str]  # names of device functions with side effects
    is_separate: Callable[[ir.Expr], bool]  # whether a call becomes ``x = f(...)`` or ``f(...)``
    _counter: int = 0
    _has_effects: bool = True  # whether this statement has operands with side effects
    # in this statement, the results of Lets by node, and their variables by value number
    _bound_lets: dict[int, ir.Expr] = field(default_factory=dict)
    _variables: dict[Hashable, ir.Expr] = field(default_factory=dict)

    def body(self, body: ir.Body) -> ir.Body:
        results: list[ir.Stmt] = []
        for s in body:
            results += self.statement(s)
        return tuple(results)

    def statement(self, s: ir.Stmt) -> ir.Body:
        preceding: list[ir.Stmt] = []
        self._bound_lets, self._variables = {}, {}
        self._has_effects = any(any_effect(e, self.effectful) for e in walk.operands(s))
        if isinstance(s, ir.Assign) and self.is_separate(s.value):
            call = walk.with_children(s.value, self.sequence(walk.children(s.value), preceding, {}))
            return (*preceding, replace(s, value=call))
        new = self.sequence(walk.operands(s), preceding, {})
        inner = walk.map_bodies(s, self.body)
        if isinstance(inner, ir.While) and preceding:
            exit_loop = ir.If(negation(new[0]), (ir.Break(s.span),), (), s.span)
            return (ir.While(const(True, s.span), (*preceding, exit_loop, *inner.body), s.span),)
        if isinstance(s, ir.Evaluate) and not has_effect(new[0], self.effectful):
            return tuple(preceding)
        if isinstance(inner, ir.For):
            new = self._bind_bounds(inner, new, preceding)
        return (*preceding, walk.with_operands(inner, new))

    def _bind_bounds(
        self, loop: ir.For, new: tuple[ir.Expr, ...], preceding: list[ir.Stmt]
    ) -> tuple[ir.Expr, ...]:
        """Store loop bounds in variables if needed: C evaluates the bound in every iteration."""
        return (
            new[0],
            *(self.to_variable(e, "bound", preceding) if preceding else e for e in new[1:]),
        )

    def to_variable(self, e: ir.Expr, hint: str, preceding: list[ir.Stmt]) -> ir.Expr:
        """Compute a value before the statement and return its variable."""
        if isinstance(e, ir.Const):
            return e
        var = self.variable(hint, scalar_type(e), e)
        preceding.append(ir.Assign(var, e, e.span))
        return var

    def variable(self, hint: str, var_type: Scalar, origin: ir.Expr) -> ir.Var:
        self._counter += 1
        return ir.Var(f"{hint}.s{self._counter}", var_type, origin.span)

    def sequence(
        self, exprs: Sequence[ir.Expr], preceding: list[ir.Stmt], lets: LetBindings
    ) -> tuple[ir.Expr, ...]:
        """Linearize operands left to right, and return them.

        Statements that must run first are appended to ``preceding``. An operand that a later one
        may change is stored in a variable.
        """
        if not self._has_effects:
            return tuple(self.expression(e, preceding, lets) for e in exprs)
        results: list[ir.Expr] = []
        for e in exprs:
            operand_statements: list[ir.Stmt] = []
            new = self.expression(e, operand_statements, lets)
            has_side_effect = any_effect(new, self.effectful) or self._has_side_effect(
                operand_statements
            )
            if has_side_effect or (
                operand_statements and any(any_effect(o, self.effectful) for o in results)
            ):
                results = [self._protect(o, preceding) for o in results]
            preceding += operand_statements
            if any(any_effect(o, self.effectful) for o in results) and reads_memory(new):
                results = [self._protect(o, preceding) for o in results]
            results.append(new)
        return tuple(results)

    def _has_side_effect(self, body: Sequence[ir.Stmt]) -> bool:
        """Return whether statements do more than assign new variables."""
        return any(any_effect(e, self.effectful) for e in walk.all_expressions(tuple(body)))

    def _protect(self, e: ir.Expr, preceding: list[ir.Stmt]) -> ir.Expr:
        """Store an operand that a later operand may change in a variable."""
        is_stable = not any_effect(e, self.effectful) and not reads_memory(e)
        if is_stable or isinstance(e, ir.ElementOf) or not isinstance(e.type, Scalar):
            return e  # variables do not change inside an expression
        return self.to_variable(e, "first", preceding)

    def expression(self, e: ir.Expr, preceding: list[ir.Stmt], lets: LetBindings) -> ir.Expr:
        match e:
            case ir.Var():
                return lets.get(e.name, e)
            case ir.Let():
                return self.let(e, preceding, lets)
            case ir.Select():
                return self.select(e, preceding, lets)
            case ir.Logical():
                return self.logical(e, preceding, lets)
            case ir.Call() | ir.Apply() if self.is_separate(e):
                call = walk.with_children(e, self.sequence(walk.children(e), preceding, lets))
                if isinstance(e.type, Scalar):
                    return self.to_variable(call, "result", preceding)
                preceding.append(ir.Evaluate(call, e.span))
                return const(False, e.span)
            case _:
                return walk.with_children(e, self.sequence(walk.children(e), preceding, lets))

    def let(self, e: ir.Let, preceding: list[ir.Stmt], lets: LetBindings) -> ir.Expr:
        if id(e) in self._bound_lets:
            return self._bound_lets[id(e)]
        value = self.expression(e.value, preceding, lets)
        if not is_atom(value):
            value = self._shared_variable(value, e.name.split(".")[0], preceding)
        result = self.expression(e.body, preceding, {**lets, e.name: value})
        self._bound_lets[id(e)] = result
        return result

    def _shared_variable(self, e: ir.Expr, hint: str, preceding: list[ir.Stmt]) -> ir.Expr:
        """Return a variable of this statement that has the value, or a new one."""
        number = value_number(e)
        var = self._variables.get(number) or self.to_variable(e, hint, preceding)
        if number is not None:
            self._variables[number] = var
        return var

    def select(self, e: ir.Select, preceding: list[ir.Stmt], lets: LetBindings) -> ir.Expr:
        condition = self.expression(e.condition, preceding, lets)
        then, then_statements = self._branch(e.then, lets)
        orelse, orelse_statements = self._branch(e.orelse, lets)
        if not then_statements and not orelse_statements:
            return replace(e, condition=condition, then=then, orelse=orelse)
        var = self.variable("chosen", e.type, e)
        arms = [
            (*branch_statements, ir.Assign(var, value, value.span))
            for value, branch_statements in ((then, then_statements), (orelse, orelse_statements))
        ]
        preceding.append(ir.If(condition, arms[0], arms[1], e.span))
        return var

    def logical(self, e: ir.Logical, preceding: list[ir.Stmt], lets: LetBindings) -> ir.Expr:
        left = self.expression(e.left, preceding, lets)
        right, right_statements = self._branch(e.right, lets)
        if not right_statements:
            return replace(e, left=left, right=right)
        var = self.variable("holds", WEAK_BOOL, e)
        preceding.append(ir.Assign(var, cast(left, WEAK_BOOL), left.span))
        evaluates_right = var if e.op is ir.LogicalOp.AND else negation(var)
        preceding.append(
            ir.If(
                evaluates_right, (*right_statements, ir.Assign(var, right, right.span)), (), e.span
            )
        )
        return var

    def _branch(self, e: ir.Expr, lets: LetBindings) -> tuple[ir.Expr, tuple[ir.Stmt, ...]]:
        """Linearize a conditionally evaluated expression; its statements stay conditional."""
        branch_statements: list[ir.Stmt] = []
        saved = dict(self._bound_lets), dict(self._variables)  # bindings of a branch end with it
        value = self.expression(e, branch_statements, lets)
        self._bound_lets, self._variables = saved
        return value, tuple(branch_statements)
