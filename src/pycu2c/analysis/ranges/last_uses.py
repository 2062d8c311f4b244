"""The last uses of variables: after them, the range analysis drops what it knows of these.

So a state has the size of what is live, and the analysis takes linear time in the statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from pycu2c.analysis.liveness import upward_exposed_reads
from pycu2c.analysis.ranges.interval_arithmetic import is_integral
from pycu2c.analysis.variables import names_by_statement, names_in
from pycu2c.base.records import dataclass, field
from pycu2c.ir import nodes as ir
from pycu2c.ir.verify_expressions import is_bool
from pycu2c.ir.walk import bodies, children, operands, statements

Names: TypeAlias = frozenset[str]


def recorded_definition(s: ir.Assign) -> ir.Expr | None:
    """Return the value of an assignment if a state records it, so that later conditions refine it.

    It is the operation that computes an index, or a condition.
    """
    is_operation = isinstance(s.value, ir.Binary | ir.Select | ir.Apply)
    return s.value if is_bool(s.var.type) or (is_operation and is_integral(s.var.type)) else None


def last_uses(body: ir.Body) -> Mapping[int, Names]:
    """Map the identity of each statement to the variables that are not needed after it.

    A variable is needed while it is live, or while a variable is live whose only definition is
    recorded and reads it.
    """
    analysis = _LastUses(names_by_statement(body))
    assignments = [s for s in statements(body) if isinstance(s, ir.Assign)]
    counts = Counter(s.var.name for s in assignments)
    for s in assignments:
        definition = recorded_definition(s)
        if definition is not None and counts[s.var.name] == 1:
            for name in _names_outside_loads(definition):
                analysis.operands.setdefault(s.var.name, set()).add(name)
                analysis.results.setdefault(name, set()).add(s.var.name)
    analysis.block(body, frozenset(), frozenset(), frozenset())
    return analysis.last_uses


def _names_outside_loads(e: ir.Expr) -> Iterator[str]:
    if isinstance(e, ir.Var):
        yield e.name
    elif not isinstance(e, ir.Load | ir.ElementOf | ir.Call):
        for operand in children(e):
            yield from _names_outside_loads(operand)


@dataclass(slots=True)
class _LastUses:
    names: Mapping[int, Names]  # used by each statement
    operands: dict[str, set[str]] = field(default_factory=dict)  # of a variable's values
    results: dict[str, set[str]] = field(default_factory=dict)  # the variables computed from one
    last_uses: dict[int, Names] = field(default_factory=dict)

    def block(self, body: ir.Body, live: Names, at_break: Names, at_continue: Names) -> Names:
        """Return the variables that are live before a block."""
        for s in reversed(body):
            self.last_uses[id(s)] = self._not_needed(self.names[id(s)] - live, live)
            used = frozenset(names_in(*operands(s)))
            match s:
                case ir.Assign() | ir.Declare():
                    live = (live - {s.var.name}) | used
                case ir.Return():
                    live = used
                case ir.Break():
                    live = at_break
                case ir.Continue():
                    live = at_continue
                case ir.If():
                    arms = (self.block(b, live, at_break, at_continue) for b in bodies(s))
                    live = used.union(*arms)
                case ir.While() | ir.For():
                    head = live | upward_exposed_reads(s.body) | used
                    self.block(s.body, head, live, head)
                    live = head
                case _:
                    live |= used
        return live

    def _not_needed(self, dead: Names, live: Names) -> Names:
        candidates = dead.union(*(self.operands.get(name, ()) for name in dead)) - live
        return frozenset(n for n in candidates if self.results.get(n, set()).isdisjoint(live))
