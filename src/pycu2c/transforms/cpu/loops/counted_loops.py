"""Convert counting ``while`` loops to ``for`` loops (CPU).

``i = cuda.grid(1); while i < n: a; i += cuda.gridsize(1)`` -> ``for i in range(cuda.grid(1), n,
cuda.gridsize(1)): a``

Requires the form DECLARED (``ir/forms.py``). The loop must increment its counter last in each
iteration, and nowhere else, without ``continue``. The increment must be positive, and invariant
like the bound. The counter must be a weak int, whose sums do not wrap, and dead after the loop.
Other passes and C compilers optimize ``for`` loops better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pycu2c.analysis.effects import is_speculatable
from pycu2c.analysis.thread_bounds import BoundSolver
from pycu2c.analysis.variables import (
    NameGenerator,
    defined_names,
    fresh_names,
    names_in,
    single_definitions,
)
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import WEAK_INT
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ops.operators import ADD, GT, LT
from pycu2c.transforms.cuda.merge_live_ranges import rename_variables


def convert_while_to_for(module: ir.Module, assumptions: LaunchAssumptions) -> ir.Module:
    """Convert the counting loops of all functions."""

    def convert(function: ir.Function) -> ir.Function:
        parameters = {p.name: p for p in function.parameters}
        solver = BoundSolver(assumptions, parameters, single_definitions(function.body), {})
        assignment_counts = Counter(
            s.var.name for s in walk.statements(function.body) if isinstance(s, ir.Assign)
        )
        conversion = _LoopConversion(solver, assignment_counts, fresh_names(function))
        return walk.with_body(function, conversion.block(function.body))

    return walk.map_functions(module, convert)


@dataclass(frozen=True, slots=True)
class _LoopConversion:
    solver: BoundSolver
    assignment_counts: Mapping[str, int]  # by variable
    fresh: NameGenerator

    def block(self, body: ir.Body) -> ir.Body:
        out: list[ir.Stmt] = []
        for i, s in enumerate(body):
            s = walk.map_bodies(s, self.block)
            loop = self._as_for_loop(s, body[i + 1 :]) if isinstance(s, ir.While) else None
            declaration = _declaration(loop.var.name, out) if loop else None
            if loop is None or declaration is None or declaration.init is None:
                out.append(s)
            elif self._can_move_declaration(declaration, declaration.init, out):
                out.remove(declaration)
                out.append(replace(loop, start=declaration.init))
            else:
                out.append(self._with_new_counter(loop))
        return tuple(out)

    def _as_for_loop(self, s: ir.While, rest: ir.Body) -> ir.For | None:
        """Return the ``for`` loop, with the counter as its start, or None."""
        match s:
            case ir.While(
                condition=ir.Binary(op=comparison, left=left, right=right),
                body=(*body, ir.Assign(var=var, value=ir.Binary(op=op, left=a, right=b))),
            ) if op is ADD and comparison in (LT, GT) and var.type == WEAK_INT:
                counter, stop = (left, right) if comparison is LT else (right, left)
                counter_value, step = (a, b) if _is_variable(a, var) else (b, a)
                if not (
                    _is_variable(counter, var)
                    and _is_variable(counter_value, var)
                    and self.assignment_counts[var.name] == 1
                ):
                    return None
                if not self._has_constant_stride(stop, step, s.body) or walk.has_jump(
                    tuple(body), ir.Continue
                ):
                    return None
                if var.name in names_in(*walk.all_expressions(rest)):
                    return None
                return ir.For(var, var, stop, step, tuple(body), s.span)
            case _:
                return None

    def _has_constant_stride(self, stop: ir.Expr, step: ir.Expr, body: ir.Body) -> bool:
        """Return whether every iteration adds the same positive amount, up to the same bound."""
        changed = defined_names(body)
        is_invariant = _is_invariant(stop, changed) and _is_invariant(step, changed)
        return is_invariant and self.solver.of(step).low > 0

    def _can_move_declaration(
        self, declaration: ir.Declare, init: ir.Expr, preceding: list[ir.Stmt]
    ) -> bool:
        """Return whether only the loop reads the counter's initial value.

        The value must also be the same if it is computed later.
        """
        following = tuple(preceding[preceding.index(declaration) + 1 :])
        if declaration.var.name in names_in(*walk.all_expressions(following)):
            return False
        return _is_invariant(
            init, {name for name in names_in(init) if self.assignment_counts.get(name)}
        )

    def _with_new_counter(self, loop: ir.For) -> ir.For:
        name = self.fresh(loop.var.name)
        body = rename_variables(loop.body, {loop.var.name: name})
        return replace(loop, var=replace(loop.var, name=name), body=body)


def _declaration(name: str, body: list[ir.Stmt]) -> ir.Declare | None:
    """Return the declaration of a variable in this block, or None."""
    for s in body:
        if isinstance(s, ir.Declare) and s.var.name == name:
            return s
    return None


def _is_variable(e: ir.Expr, var: ir.Var) -> bool:
    return isinstance(e, ir.Var) and e.name == var.name


def _is_invariant(e: ir.Expr, changed: set[str]) -> bool:
    """Return whether an expression is arithmetic on unchanged variables."""
    return is_speculatable(e) and changed.isdisjoint(names_in(e))
