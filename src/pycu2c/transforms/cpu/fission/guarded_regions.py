"""CPU: a block under a condition of single threads is taken apart, each part under the condition.

``if c: a; b`` -> ``if c: a`` ``if c: b``, so that between them may stand what all threads do. Knows
no loops.
"""

from __future__ import annotations

from pycu2c.analysis.effects import names_in
from pycu2c.base.records import dataclass, field, replace
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Assign,
    Binary,
    Cast,
    Const,
    Declare,
    Expr,
    If,
    Logical,
    Stmt,
    Unary,
    Var,
)
from pycu2c.ir.walk import expressions, statements
from pycu2c.ops.operators import QUOTIENT, REMAINDER


@dataclass(slots=True)
class GuardedRegions:
    """What becomes of a block under a condition. ``changed``: the variables that it sets;
    ``declared``: its own, which stand before all parts."""

    around: If
    changed: set[str]
    declared: list[Stmt] = field(default_factory=list)
    done: list[Stmt] = field(default_factory=list)
    _rest: list[Stmt] = field(default_factory=list)

    @classmethod
    def of(cls, s: If) -> GuardedRegions:
        """Of what is done where the condition is met, so far none."""
        return cls(s, {inner.var.name for inner in statements(s.then) if isinstance(inner, Assign)})

    def add(self, s: Stmt) -> None:
        """One that stays as it is."""
        if isinstance(s, Allocate):
            self.declared.append(s)
        elif not isinstance(s, Declare):
            self._rest.append(s)
        elif s.init is None or self.is_steady(s.init):
            self.declared.append(s)
        else:
            self.declared.append(replace(s, init=None))
            self._rest.append(Assign(s.var, s.init, s.span))
            self.changed.add(s.var.name)

    def close(self) -> None:
        """End a part."""
        if self._rest:
            self.done.append(replace(self.around, then=tuple(self._rest)))
        self._rest = []

    def is_steady(self, *values: Expr) -> bool:
        """Whether expressions have one value all through the block, which may be computed though
        nobody wants it."""
        inner = (e for value in values for e in expressions(value))
        return not self.changed & set(names_in(*values)) and all(map(_is_harmless, inner))


def _is_harmless(e: Expr) -> bool:
    """Whether an expression may be computed though nobody wants it, and gives the same again."""
    match e:
        case Const() | Var() | Unary() | Cast() | Logical():
            return True
        case Binary(op=op, right=right):
            return op not in (QUOTIENT, REMAINDER) or isinstance(right, Const)
        case Apply(intrinsic=row):
            return row.is_pure
        case _:
            return False
