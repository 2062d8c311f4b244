"""Which statements of a kernel stand outside the thread loops. Decides; moves nothing.

Outside stands what holds a barrier or a loop that is run in strips of threads, and what is
uniform and either leaves such a statement or computes a value that is needed outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from pycu2c.analysis import uniformity
from pycu2c.analysis.effects import names_in
from pycu2c.analysis.suspension_points import has_wait
from pycu2c.base.records import dataclass, field
from pycu2c.ir.nodes import Assign, Body, Break, Continue, Declare, For, If, Return, Stmt, While
from pycu2c.ir.walk import bodies, operands, statements


@dataclass(frozen=True, slots=True)
class Placement:
    """``hoisted``: constructs outside the thread loops, their parts placed in turn.
    ``masked``: those of them that threads go through differently; a per-thread state says how.
    ``block_jumps``: jumps that all running threads make together.
    ``scalars``: variables that are computed once for the block.
    ``strips``: loops that strips of threads run by themselves, the outermost ones, each with the
    variables that are read after it."""

    hoisted: Set[Stmt]
    masked: Set[Stmt]
    block_jumps: Set[Stmt]
    scalars: Set[str]
    strips: Mapping[Stmt, frozenset[str]]

    def leaves(self, body: Body) -> bool:
        """Whether single threads may leave a block by a jump."""
        return any(self._leaves(s) for s in body)

    def _leaves(self, s: Stmt) -> bool:
        match s:
            case Return() | Break() | Continue():
                return s not in self.block_jumps
            case For() | While():
                return self.returns(s.body)
            case _:
                return any(self._leaves(inner) for b in bodies(s) for inner in b)

    def returns(self, body: Body) -> bool:
        """Whether single threads may return."""
        return any(isinstance(s, Return) and s not in self.block_jumps for s in statements(body))


def place(
    body: Body,
    facts: uniformity.Uniformity,
    wanted: Set[str],
    strips: Mapping[Stmt, frozenset[str]],
    turned: Set[Stmt],
) -> Placement:
    """Place statements so that ``wanted`` variables, all uniform, are scalars of the block.
    ``turned``: loops that stand outside since memory is better walked along so."""
    scalars = set(wanted)
    outside = _forced_outside(body, set(strips)) | {
        s for s in statements(body) if _around(s, turned)
    }
    while True:
        placing = _Placing(facts, scalars, outside)
        placing.body(body, None, False)
        needed = _closure(set(_conditions(placing.hoisted, facts)) | scalars, facts)
        if needed == scalars:
            return Placement(placing.hoisted, placing.masked, placing.block_jumps, scalars, strips)
        scalars = needed


def _forced_outside(body: Body, strips: Set[Stmt]) -> set[Stmt]:
    """The constructs around barriers and strips; of those in a strip, all loops and what is
    around them, since no compiler makes vectors of a loop with loops inside."""
    found = {s for s in statements(body) if has_wait((s,)) or _around(s, strips)}
    for loop in strips:
        for s in statements((loop,)):
            if any(isinstance(inner, While | For) for inner in statements((s,))):
                found.add(s)
    return found


def _around(s: Stmt, strips: Set[Stmt]) -> bool:
    return any(inner in strips for inner in statements((s,)))


def _conditions(hoisted: Set[Stmt], facts: uniformity.Uniformity) -> Iterator[str]:
    """The variables that the control flow outside the thread loops reads."""
    for s in hoisted:
        if facts.agrees(*operands(s)):
            yield from (name for name in names_in(*operands(s)) if name in facts.values)


def _closure(names: set[str], facts: uniformity.Uniformity) -> set[str]:
    """With all variables that their values are computed from."""
    found: set[str] = set()
    while names:
        name = names.pop()
        found.add(name)
        read = names_in(*facts.values[name])
        names |= {n for n in read if n in facts.values and n not in found}
    return found


@dataclass(slots=True)
class _Placing:
    facts: uniformity.Uniformity
    scalars: Set[str]
    outside: Set[Stmt]
    hoisted: set[Stmt] = field(default_factory=set)
    masked: set[Stmt] = field(default_factory=set)
    block_jumps: set[Stmt] = field(default_factory=set)

    def body(self, body: Body, loop: Stmt | None, masked: bool) -> None:
        """A block outside the thread loops, in a hoisted loop if any, under a mask or not."""
        for s in body:
            match s:
                case Return() if not masked:
                    self.block_jumps.add(s)
                case Break() | Continue() if loop not in self.masked:
                    self.block_jumps.add(s)
                case If() | While() | For() if self._is_hoisted(s, loop, masked):
                    self._hoist(s, loop, masked)
                case _:
                    pass

    def _hoist(self, s: uniformity.Construct, loop: Stmt | None, masked: bool) -> None:
        self.hoisted.add(s)
        returning = any(isinstance(inner, Return) for inner in statements((s,)))
        if s in self.facts.divergent or (masked and returning and not isinstance(s, If)):
            self.masked.add(s)
        for inner in bodies(s):
            self.body(inner, loop if isinstance(s, If) else s, masked or s in self.masked)

    def _is_hoisted(self, s: uniformity.Construct, loop: Stmt | None, masked: bool) -> bool:
        if s in self.outside:
            return True
        if s in self.facts.divergent:
            return False
        if self._computes_scalars(s):
            return True
        in_step = loop is not None and loop not in self.masked
        return isinstance(s, If) and self._jumps(s, not masked, in_step)

    def _computes_scalars(self, s: Stmt) -> bool:
        return any(
            isinstance(inner, Assign | Declare) and inner.var.name in self.scalars
            for inner in statements((s,))
        )

    def _jumps(self, s: If, may_return: bool, in_step: bool) -> bool:
        """Whether all running threads together may come to a jump in an if."""
        for inner in (*s.then, *s.orelse):
            match inner:
                case Return():
                    found = may_return
                case Break() | Continue():
                    found = in_step
                case If() if inner not in self.facts.divergent:
                    found = self._jumps(inner, may_return, in_step)
                case _:
                    found = False
            if found:
                return True
        return False
