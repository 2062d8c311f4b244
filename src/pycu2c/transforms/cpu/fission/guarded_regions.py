"""Split a guarded block into several parts under the same condition (CPU).

``if c: a; b`` -> ``if c: a`` ``if c: b``, so that code of all threads may be placed in between.
"""

from __future__ import annotations

from pycu2c.analysis.variables import assigned_names, names_in
from pycu2c.base.records import dataclass, field, replace
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import expressions
from pycu2c.ops.operators import QUOTIENT, REMAINDER


@dataclass(slots=True)
class GuardedRegions:
    """Parts of a guarded block.

    ``changed``: variables that the block assigns. ``declared``: declarations that precede all
    parts.
    """

    guard: ir.If
    changed: set[str]
    declared: list[ir.Stmt] = field(default_factory=list)
    parts: list[ir.Stmt] = field(default_factory=list)
    _current: list[ir.Stmt] = field(default_factory=list)

    @classmethod
    def empty(cls, s: ir.If) -> GuardedRegions:
        """Return the regions of a condition, without parts."""
        return cls(s, assigned_names(s.then))

    def add(self, s: ir.Stmt) -> None:
        """Add a statement to the current part."""
        if isinstance(s, ir.Allocate):
            self.declared.append(s)
        elif not isinstance(s, ir.Declare):
            self._current.append(s)
        elif s.init is None or self.is_invariant(s.init):
            self.declared.append(s)
        else:
            self.declared.append(replace(s, init=None))
            self._current.append(ir.Assign(s.var, s.init, s.span))
            self.changed.add(s.var.name)

    def end_part(self) -> None:
        """End the current part."""
        if self._current:
            self.parts.append(replace(self.guard, then=tuple(self._current)))
        self._current = []

    def is_invariant(self, *values: ir.Expr) -> bool:
        """Return whether expressions keep their values in the block and are safe to speculate."""
        inner = (e for value in values for e in expressions(value))
        return not self.changed & set(names_in(*values)) and all(map(_is_speculatable, inner))


def _is_speculatable(e: ir.Expr) -> bool:
    """Return whether evaluating a node is safe and gives the same value each time."""
    match e:
        case ir.Const() | ir.Var() | ir.Unary() | ir.Cast() | ir.Logical():
            return True
        case ir.Binary(op=op, right=right):
            return op not in (QUOTIENT, REMAINDER) or isinstance(right, ir.Const)
        case ir.Apply(intrinsic=intrinsic):
            return intrinsic.is_pure
        case _:
            return False
