"""CPU: a short loop around thread loops, whose rounds are known, is written out.

``half = 4; while half > 0: WorkItemLoop(…half…); half //= 2`` ->
``WorkItemLoop(…4…) WorkItemLoop(…2…) WorkItemLoop(…1…)``

The loops over threads then have numbers as bounds: those of a tree of sums take half as long.
"""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.analysis.effects import accessed_names
from pycu2c.base.records import dataclass, replace
from pycu2c.ir.builders import binary, cast, unary
from pycu2c.ir.nodes import (
    Assign,
    Binary,
    BlockLoop,
    Body,
    Cast,
    Const,
    Declare,
    Expr,
    If,
    Module,
    Stmt,
    Unary,
    Var,
    While,
    WorkItemLoop,
)
from pycu2c.ir.walk import bodies, expressions, map_expr, rewrite, statements, with_bodies

MOST_ROUNDS = 12
MOST_STATEMENTS = 60  # of all rounds together


def unroll_block_loops(module: Module) -> Module:
    """Write out the loops of the kernel that stand outside its thread loops."""
    kernel = module.kernel
    return replace(module, kernel=replace(kernel, body=_block(kernel.body)))


def _block(body: Body) -> Body:
    """A block outside the thread loops."""
    out: list[Stmt] = []
    for i, s in enumerate(body):
        if isinstance(s, If | While | BlockLoop):
            s = with_bodies(s, tuple(_block(b) for b in bodies(s)))
        start = _start(s, out) if isinstance(s, While) else None
        rounds = _rounds(s, out[start]) if isinstance(s, While) and start is not None else None
        if rounds is None or start is None:
            out.append(s)
            continue
        *loops, ended = rounds
        assert isinstance(ended, Assign)
        if ended.var.name in accessed_names((*out[start:], *body[i + 1 :])):
            out += rounds
        else:
            out[start:] = [*out[start + 1 :], *loops]
    return tuple(out)


def _start(s: While, before: list[Stmt]) -> int | None:
    """Where the variable that a loop counts has been declared, if it is as it was then."""
    name = s.body[-1].var.name if s.body and isinstance(s.body[-1], Assign) else None
    for number, x in reversed(list(enumerate(before))):
        if isinstance(x, Declare) and x.var.name == name:
            return number
        if any(isinstance(y, Assign) and y.var.name == name for y in statements((x,))):
            return None
    return None


def _rounds(s: While, before: Stmt) -> list[Stmt] | None:
    """What a loop does, round by round, if the statement ``before`` sets its only variable; then
    what that variable is."""
    match before, s.body:
        case Declare(var, Const() as start), (*rest, Assign(counted, step)):
            loops = tuple(rest)
            if counted.name != var.name or not all(isinstance(x, WorkItemLoop) for x in loops):
                return None
            if any(isinstance(x, Assign) and x.var.name == var.name for x in statements(loops)):
                return None
            counting = _Counting(var, s.condition, step)
            values = counting.values(start)
            if values is None or len(values) * len(list(statements(loops))) > MOST_STATEMENTS:
                return None
            last = values.pop()
            rounds = [x for value in values for x in map_expr(loops, counting.being(value))]
            return [*rounds, Assign(var, last, s.span)]
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Counting:
    """The variable of a loop, how long it goes on, and its value in the next round."""

    var: Var
    condition: Expr
    step: Expr

    def values(self, value: Const) -> list[Const] | None:
        """One for each round, and the one that ends the loop."""
        if any(isinstance(e, Var) and e.name != self.var.name for e in expressions(self.condition)):
            return None
        found = [value]
        while len(found) <= MOST_ROUNDS:
            going = rewrite(self.condition, self.being(found[-1]))
            following = rewrite(self.step, self.being(found[-1]))
            if not isinstance(going, Const) or not isinstance(following, Const):
                return None
            if not going.value:
                return found
            found.append(following)
        return None

    def being(self, value: Const) -> Callable[[Expr], Expr]:
        def changed(e: Expr) -> Expr:
            match e:
                case Var(name=name) if name == self.var.name:
                    return replace(value, span=e.span)
                case Binary(op=op, left=Const() as left, right=Const() as right):
                    return binary(op, left, right, e.span)
                case Unary(op=op, operand=Const() as operand):
                    return unary(op, operand, e.span)
                case Cast(operand=Const() as operand, type=type_):
                    return cast(operand, type_)
                case _:
                    return e

        return changed
