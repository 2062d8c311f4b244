"""Find shuffles whose values are used only in some lanes: a correct kernel may read undefined ones.

``x += shfl_down(mask, x, n)`` reduces to the first lane of the mask, whatever the others compute.
So does ``y = shfl_down(mask, x, n)`` before ``if y > x: x = y``. Before ``if lane < 8: x += y``,
the value of ``y`` is used in these lanes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pycu2c.base.records import dataclass, field
from pycu2c.checks.device_functions.warp_lanes import SHUFFLES
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk


@dataclass(slots=True)
class ShuffleUses:
    """The identities of shuffles of sums, and of those whose value a condition guards."""

    sums: set[int] = field(default_factory=set)
    guarded: set[int] = field(default_factory=set)


def shuffle_uses(body: ir.Body) -> ShuffleUses:
    """Return the uses of the shuffles of a function."""
    uses = ShuffleUses()
    _visit(body, uses)
    return uses


def _visit(body: ir.Body, uses: ShuffleUses) -> None:
    for position, s in enumerate(body):
        if isinstance(s, ir.Assign | ir.Declare):
            for e in _shuffles(s):
                _classify(s.var.name, e, body[position + 1 :], uses)
        for inner in walk.bodies(s):
            _visit(inner, uses)


def _classify(result: str, e: ir.Apply, later: ir.Body, uses: ShuffleUses) -> None:
    """Classify a shuffle by the first statement that uses the variable with its result."""
    values = _names((e.arguments[1],))
    use = next((s for s in later if result in _names(walk.all_expressions((s,)))), None)
    inside = walk.statements((use,)) if use else ()
    if result in values or any(isinstance(x, ir.Assign) and x.var.name in values for x in inside):
        uses.sums.add(id(e))
    if isinstance(use, ir.If):
        condition = _names((use.condition,))
        if result not in condition:
            uses.guarded.add(id(e))
        elif values & condition:  # of which an assignment to the value may be dead
            uses.sums.add(id(e))
    if isinstance(use, ir.Assign | ir.Declare) and _selects(use, result):
        uses.guarded.add(id(e))


def _selects(s: ir.Stmt, name: str) -> bool:
    return any(
        isinstance(e, ir.Select) and name in _names((e,)) and name not in _names((e.condition,))
        for e in walk.all_expressions((s,))
    )


def _shuffles(s: ir.Stmt) -> Iterator[ir.Apply]:
    for e in (x for operand in walk.operands(s) for x in walk.expressions(operand)):
        if isinstance(e, ir.Apply) and e.intrinsic.name in SHUFFLES:
            yield e


def _names(values: Iterable[ir.Expr]) -> set[str]:
    return {x.name for e in values for x in walk.expressions(e) if isinstance(x, ir.Var)}
