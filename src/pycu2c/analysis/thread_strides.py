"""Where the threads of a row go in memory: from element to element. Reads; changes nothing."""

from __future__ import annotations

from pycu2c.analysis.effects import names_in
from pycu2c.analysis.live_across_barriers import set_in, set_once
from pycu2c.analysis.simd_legality import Paces
from pycu2c.ir.nodes import AxisLoop, Binary, Cast, Const, Expr, For, Var, While
from pycu2c.ir.walk import expressions, rewrite, statements
from pycu2c.ops.operators import ADD, MUL, SUB


def is_plain_row(row: AxisLoop) -> bool:
    """Whether its threads are neighbours, run together, and do so little that they wait for
    memory."""
    is_short = not any(isinstance(s, For | While | AxisLoop) for s in statements(row.body))
    is_dense = isinstance(row.step, Const) and row.step.value == 1
    return row.lockstep and is_dense and is_short


class Walks:
    """The places that the threads of a row come to."""

    def __init__(self, row: AxisLoop) -> None:
        self._values, self._inside = set_once(row.body), set_in(row.body)
        self._paces = Paces(row.var.name, self._values, self._inside - self._values.keys())

    def place(self, index: Expr) -> Expr | None:
        """An index by which each thread goes to the element after its neighbour's, as any thread
        may compute it, and as is known outside of the row but for the row's own variable."""
        place = self._computed(index)
        is_known = self._inside.isdisjoint(names_in(place)) and _is_plain(place)
        return place if is_known and self._paces.of(index) == 1 else None

    def _computed(self, e: Expr) -> Expr:
        """An expression without the variables that stand for others."""

        def value(x: Expr) -> Expr:
            if isinstance(x, Var) and x.name in self._values:
                return self._computed(self._values[x.name])
            return x

        return rewrite(e, value)


def _is_plain(e: Expr) -> bool:
    """Whether a place can be computed for threads that do not come to it: a load may be of what is
    beyond an array for them, a division by 0."""
    return all(
        isinstance(x, Var | Const | Cast) or (isinstance(x, Binary) and x.op in (ADD, SUB, MUL))
        for x in expressions(e)
    )
