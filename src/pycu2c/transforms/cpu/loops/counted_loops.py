"""CPU: ``while`` loops that count become ``for`` loops, of which other passes and compilers know
more.

``i = cuda.grid(1); while i < n: a; i += cuda.gridsize(1)`` ->
``for i in range(cuda.grid(1), n, cuda.gridsize(1)): a``

That is so where the last thing that a round does is to add to the counter, nothing else changes it
or goes on with the next round before, what is added is more than 0 and like the end the same in all
rounds, no sum can wrap, and nobody reads the counter after the loop. Takes flat, legal, declared
functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pycu2c.analysis.effects import names_in
from pycu2c.analysis.launch_assumptions import Facts, is_fixed
from pycu2c.analysis.live_across_barriers import single_definitions
from pycu2c.analysis.thread_bounds import BoundSolver
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import WEAK_INT
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Binary,
    Body,
    Cast,
    Const,
    Continue,
    Declare,
    Expr,
    For,
    Function,
    Module,
    Stmt,
    Var,
    While,
)
from pycu2c.ir.walk import all_expressions, bodies, children, map_functions, statements, with_bodies
from pycu2c.ops.operators import ADD, GT, LT
from pycu2c.transforms.cuda.merge_live_ranges import rename_variables


def convert_while_to_for(module: Module, facts: Facts) -> Module:
    """Make for loops of those that are."""

    def counted(function: Function) -> Function:
        parameters = {p.name: p for p in function.parameters}
        known = BoundSolver(facts, parameters, single_definitions(function.body), {})
        times = Counter(s.var.name for s in statements(function.body) if isinstance(s, Assign))
        taken = {*parameters, *times, *(e.name for e in _variables(function.body))}
        return replace(function, body=_Counting(known, times, taken).block(function.body))

    return map_functions(module, counted)


def _variables(body: Body) -> list[Var]:
    named = [s.var for s in statements(body) if isinstance(s, Declare | For)]
    return [*named, *(e for e in all_expressions(body) if isinstance(e, Var))]


@dataclass(frozen=True, slots=True)
class _Counting:
    known: BoundSolver
    times: Mapping[str, int]  # how often each variable is assigned
    taken: set[str]  # names

    def block(self, body: Body) -> Body:
        out: list[Stmt] = []
        for i, s in enumerate(body):
            s = with_bodies(s, tuple(self.block(b) for b in bodies(s)))
            loop = self._counted(s, body[i + 1 :]) if isinstance(s, While) else None
            begun = _declaration(loop.var.name, out) if loop else None
            if loop is None or begun is None or begun.init is None:
                out.append(s)
            elif self._may_move(begun, begun.init, out):
                out.remove(begun)
                out.append(replace(loop, start=begun.init))
            else:
                out.append(self._with_own_counter(loop))
        return tuple(out)

    def _counted(self, s: While, rest: Body) -> For | None:
        """The loop with its counter's first value as its start."""
        match s:
            case While(
                condition=Binary(op=comparison, left=left, right=right),
                body=(*body, Assign(var=var, value=Binary(op=op, left=a, right=b))),
            ) if op is ADD and comparison in (LT, GT) and var.type == WEAK_INT:
                counter, stop = (left, right) if comparison is LT else (right, left)
                own, step = (a, b) if _is(a, var) else (b, a)
                if not (_is(counter, var) and _is(own, var) and self.times[var.name] == 1):
                    return None
                if not self._is_fixed(stop, step, s.body) or _goes_on(tuple(body)):
                    return None
                if var.name in names_in(*all_expressions(rest)):
                    return None
                return For(var, var, stop, step, tuple(body), s.span)
            case _:
                return None

    def _is_fixed(self, stop: Expr, step: Expr, body: Body) -> bool:
        """Whether all rounds lead upwards by the same, to the same end."""
        changed = {s.var.name for s in statements(body) if isinstance(s, Assign | Declare)}
        steady = _is_steady(stop, changed) and _is_steady(step, changed)
        return steady and self.known.of(step).low > 0

    def _may_move(self, begun: Declare, init: Expr, before: list[Stmt]) -> bool:
        """Whether the loop alone asks for what the counter begins with, and may ask late."""
        after = tuple(before[before.index(begun) + 1 :])
        if begun.var.name in names_in(*all_expressions(after)):
            return False
        return _is_steady(init, {name for name in names_in(init) if self.times.get(name)})

    def _with_own_counter(self, loop: For) -> For:
        free, number = loop.var.name, 0
        while free in self.taken:
            number += 1
            free = f"{loop.var.name}.{number}"
        self.taken.add(free)
        body = rename_variables(loop.body, {loop.var.name: free})
        return replace(loop, var=replace(loop.var, name=free), body=body)


def _declaration(name: str, body: list[Stmt]) -> Declare | None:
    """Where a variable begins, if it does so in this block."""
    for s in body:
        if isinstance(s, Declare) and s.var.name == name:
            return s
    return None


def _is(e: Expr, var: Var) -> bool:
    return isinstance(e, Var) and e.name == var.name


def _is_steady(e: Expr, changed: set[str]) -> bool:
    """Arithmetic on numbers, coordinates and variables that are left alone."""
    match e:
        case Const():
            return True
        case Var(name=name):
            return name not in changed
        case Binary() | Cast():
            return all(_is_steady(x, changed) for x in children(e))
        case Apply(intrinsic=row):
            return is_fixed(row)
        case _:
            return False


def _goes_on(body: Body) -> bool:
    """Whether a round may go on with the next one before its end."""
    for s in body:
        if isinstance(s, Continue):
            return True
        if not isinstance(s, While | For) and any(_goes_on(b) for b in bodies(s)):
            return True
    return False
