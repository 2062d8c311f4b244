"""What a module consists of: a pass that works on none of it has nothing to do."""

from __future__ import annotations

from pycu2c.base.records import dataclass
from pycu2c.ir.nodes import Allocate, Apply, Binary, Expr, Module, Print, Stmt
from pycu2c.ir.walk import all_expressions, statements
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic
from pycu2c.ops.operators import Operator


@dataclass(frozen=True, slots=True)
class Contents:
    """``kinds``: the classes of its statements and expressions."""

    kinds: frozenset[type[Stmt | Expr]]
    rows: frozenset[Intrinsic]
    operators: frozenset[Operator]
    has_devices: bool  # whether there are device functions
    has_c: bool  # and whether one of the functions is in C of the user's

    def any_of(self, *kinds: type[Stmt | Expr]) -> bool:
        return not self.kinds.isdisjoint(kinds)

    @property
    def acts_on_memory(self) -> bool:
        """Whether rows do, such as atomics."""
        return any(row.effect is Effect.MEMORY for row in self.rows)

    @property
    def is_plain(self) -> bool:
        """Whether threads only compute, load and store, and none sees what another has stored."""
        acts = any(row.has_effect for row in self.rows)
        return not acts and not self.has_c and not self.any_of(Allocate, Print)

    @property
    def meets_or_has_no_c(self) -> bool:
        """Whether there are rows that are something else on a CPU."""
        return any(row.meets or row.c is None for row in self.rows)


def contents(module: Module) -> Contents:
    """What the functions of a module consist of."""
    functions = (module.kernel, *module.devices)
    kinds: set[type[Stmt | Expr]] = set()
    rows: set[Intrinsic] = set()
    operators: set[Operator] = set()
    for function in functions:
        for s in statements(function.body):
            kinds.add(type(s))
        for e in all_expressions(function.body):
            kinds.add(type(e))
            if isinstance(e, Apply):
                rows.add(e.intrinsic)
            elif isinstance(e, Binary):
                operators.add(e.op)
    has_c = any(function.foreign is not None for function in functions)
    kept = frozenset(kinds), frozenset(rows), frozenset(operators)
    return Contents(*kept, bool(module.devices), has_c)
