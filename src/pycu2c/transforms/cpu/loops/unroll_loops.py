"""Unroll short loops around work-item loops whose trip count is known (CPU).

``half = 4; while half > 0: WorkItemLoop(…half…); half //= 2`` -> ``WorkItemLoop(…4…)
WorkItemLoop(…2…) WorkItemLoop(…1…)``. The loops over threads then have constant bounds, which
halves the time of a reduction tree. Requires the form WORK_ITEM_LOOPS (``ir/forms.py``). Guarantees
that the counter has its final value if it is used later.
"""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.analysis.variables import accessed_names
from pycu2c.base.records import dataclass, replace
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import binary, cast, unary

MAX_ITERATIONS = 12
MAX_STATEMENTS = 60  # of all iterations


def unroll_block_loops(module: ir.Module) -> ir.Module:
    """Unroll the kernel's loops outside its work-item loops."""
    return walk.with_kernel_body(module, _block(module.kernel.body))


def _block(body: ir.Body) -> ir.Body:
    """Process a block outside the work-item loops."""
    out: list[ir.Stmt] = []
    for i, s in enumerate(body):
        if isinstance(s, ir.If | ir.While | ir.BlockLoop):
            s = walk.map_bodies(s, _block)
        index = _find_counter_declaration(s, out) if isinstance(s, ir.While) else None
        unrolled = _unroll(s, out[index]) if isinstance(s, ir.While) and index is not None else None
        if unrolled is None or index is None:
            out.append(s)
            continue
        *iterations, final_assignment = unrolled
        assert isinstance(final_assignment, ir.Assign)
        if final_assignment.var.name in accessed_names((*out[index:], *body[i + 1 :])):
            out += unrolled
        else:
            out[index:] = [*out[index + 1 :], *iterations]
    return tuple(out)


def _find_counter_declaration(s: ir.While, preceding: list[ir.Stmt]) -> int | None:
    """Return the position of the counter's declaration, if it is not reassigned before the loop."""
    name = s.body[-1].var.name if s.body and isinstance(s.body[-1], ir.Assign) else None
    for position, x in reversed(list(enumerate(preceding))):
        if isinstance(x, ir.Declare) and x.var.name == name:
            return position
        if any(isinstance(y, ir.Assign) and y.var.name == name for y in walk.statements((x,))):
            return None
    return None


def _unroll(s: ir.While, declaration: ir.Stmt) -> list[ir.Stmt] | None:
    """Return the unrolled iterations and the final assignment of the counter, or None."""
    match declaration, s.body:
        case ir.Declare(var, ir.Const() as start), (*rest, ir.Assign(counter, step)):
            iterations = tuple(rest)
            if counter.name != var.name or not all(
                isinstance(x, ir.WorkItemLoop) for x in iterations
            ):
                return None
            if any(
                isinstance(x, ir.Assign) and x.var.name == var.name
                for x in walk.statements(iterations)
            ):
                return None
            loop_counter = _LoopCounter(var, s.condition, step)
            values = loop_counter.values(start)
            if (
                values is None
                or len(values) * len(list(walk.statements(iterations))) > MAX_STATEMENTS
            ):
                return None
            last = values.pop()
            unrolled = [
                x
                for value in values
                for x in walk.map_expr(iterations, loop_counter.substitute(value))
            ]
            return [*unrolled, ir.Assign(var, last, s.span)]
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _LoopCounter:
    """The counter of a loop: its condition, and its value in the next iteration."""

    var: ir.Var
    condition: ir.Expr
    step: ir.Expr

    def values(self, value: ir.Const) -> list[ir.Const] | None:
        """Return the counter's value in each iteration, and after the loop; None if unknown."""
        if any(
            isinstance(e, ir.Var) and e.name != self.var.name
            for e in walk.expressions(self.condition)
        ):
            return None
        result = [value]
        while len(result) <= MAX_ITERATIONS:
            continues = walk.rewrite(self.condition, self.substitute(result[-1]))
            next_value = walk.rewrite(self.step, self.substitute(result[-1]))
            if not isinstance(continues, ir.Const) or not isinstance(next_value, ir.Const):
                return None
            if not continues.value:
                return result
            result.append(next_value)
        return None

    def substitute(self, value: ir.Const) -> Callable[[ir.Expr], ir.Expr]:
        def replace_counter(e: ir.Expr) -> ir.Expr:
            match e:
                case ir.Var(name=name) if name == self.var.name:
                    return replace(value, span=e.span)
                case ir.Binary(op=op, left=ir.Const() as left, right=ir.Const() as right):
                    return binary(op, left, right, e.span)
                case ir.Unary(op=op, operand=ir.Const() as operand):
                    return unary(op, operand, e.span)
                case ir.Cast(operand=ir.Const() as operand, type=target_type):
                    return cast(operand, target_type)
                case _:
                    return e

        return replace_counter
