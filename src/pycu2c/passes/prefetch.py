"""CPU: where a block walks over data in steps of the grid, it asks for what it reads next.

``for i0 in range(…, n, gridsize): AxisLoop(… x[i0 + t] …)`` -> before the AxisLoop,
``if i0 + gridsize < n: prefetch(x[i0 + gridsize], 256)``

Processors foresee neighbours, not the next of pieces that lie apart.
"""

from __future__ import annotations

from pycu2c.intrinsics.block import PREFETCHED, prefetch
from pycu2c.ir.construct import binary, integer
from pycu2c.ir.nodes import (
    Apply,
    AxisLoop,
    Binary,
    Const,
    Declare,
    Evaluate,
    Expr,
    For,
    If,
    Load,
    Module,
    Stmt,
    Var,
)
from pycu2c.ir.walk import all_expressions, map_stmt
from pycu2c.operators import ADD, LT
from pycu2c.passes.facts import Facts
from pycu2c.records import replace
from pycu2c.types import VOID, Array, Space

_MOST_ARRAYS = 4


def ask_early(module: Module, facts: Facts) -> Module:
    """Takes a kernel in loops along axes, of blocks along x whose size is known."""
    if facts.block is None or facts.block[1:] != (1, 1):
        return module
    body = map_stmt(module.kernel.body, lambda s: (_asking(s, facts),))
    return replace(module, kernel=replace(module.kernel, body=body))


def _asking(s: Stmt, facts: Facts) -> Stmt:
    match s:
        case For(step=step, body=(AxisLoop(body=(Declare(var=place, init=init), *_)) as loop,)):
            if isinstance(step, Const) or not _walks_along(init, s.var, loop.var):
                return s
            following = binary(ADD, s.var, step, s.span)
            count = integer(facts.threads, s.span)
            asked = tuple(
                Evaluate(
                    Apply(prefetch, (Load(a, (following,), s.span), count), VOID, s.span), s.span
                )
                for a in _read_along(loop, place)
            )
            if not 0 < len(asked) <= _MOST_ARRAYS:
                return s
            return replace(
                s, body=(If(binary(LT, following, s.stop, s.span), asked, (), s.span), loop)
            )
        case _:
            return s


def _walks_along(init: Expr | None, first: Var, axis: Var) -> bool:
    match init:
        case Binary(op=op, left=Var(name=a), right=Var(name=b)):
            return op is ADD and (a, b) == (first.name, axis.name)
        case _:
            return False


def _read_along(loop: AxisLoop, place: Var) -> list[Var]:
    """The arguments of which a thread reads the element at its place."""
    found: dict[str, Var] = {}
    for e in all_expressions(loop.body):
        match e:
            case Load(array=Var(type=Array() as kind) as array, indices=(Var(name=name),)):
                near = kind.space is Space.GLOBAL and kind.layout == "C"
                if near and kind.dtype in PREFETCHED and name == place.name:
                    found[array.name] = array
            case _:
                pass
    return list(found.values())
