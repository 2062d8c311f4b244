"""Which variables of the threads of a strip are read after a loop, before they are set anew: by
threads that have gone through it, and by those that wait elsewhere meanwhile, in the other arm of
a condition or behind an outer loop. Reads; changes nothing. Takes the code of one thread."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TypeAlias

from pycu2c.analysis.effects import names_in
from pycu2c.base.records import dataclass, field, replace
from pycu2c.ir.nodes import Assign, Body, Break, Continue, Declare, For, If, Return, Stmt, While
from pycu2c.ir.walk import bodies, operands

Names: TypeAlias = frozenset[str]


def alive_after(body: Body, loops: Set[Stmt]) -> Mapping[Stmt, Names]:
    """For each of the loops, the variables whose values it leaves for what comes after it."""
    reads = _Reads(loops)
    reads.block(body, frozenset(), _Exits())
    return reads.after


@dataclass(frozen=True, slots=True)
class _Exits:
    """What is read where a break or a continue leads to, and where threads are that did not come
    to a block."""

    broken: Names = frozenset()
    continued: Names = frozenset()
    elsewhere: Names = frozenset()

    def besides(self, *read: Names) -> _Exits:
        """In a block that some threads do not come to; they read these."""
        return replace(self, elsewhere=self.elsewhere.union(*read))


@dataclass(slots=True)
class _Reads:
    loops: Set[Stmt]
    after: dict[Stmt, Names] = field(default_factory=dict)

    def block(self, body: Body, after: Names, exits: _Exits) -> Names:
        """What is read from the beginning of a block on."""
        for s in reversed(body):
            after = self._before(s, after, exits)
        return after

    def _before(self, s: Stmt, after: Names, exits: _Exits) -> Names:
        own = frozenset(names_in(*operands(s)))
        match s:
            case Assign() | Declare():
                return (after - {s.var.name}) | own
            case Return():
                return own
            case Break():
                return exits.broken
            case Continue():
                return exits.continued
            case If():
                return own | self._arms(s, after, exits)
            case While() | For():
                return self._loop(s, after, after | own, exits.elsewhere)
            case _:
                inside = (self.block(b, after, exits) for b in bodies(s))
                return own.union(after, *inside)

    def _arms(self, s: If, after: Names, exits: _Exits) -> Names:
        then = self.block(s.then, after, exits)
        orelse = self.block(s.orelse, after, exits.besides(after, then))
        return orelse | self.block(s.then, after, exits.besides(after, orelse))

    def _loop(self, s: While | For, after: Names, head: Names, elsewhere: Names) -> Names:
        """``head``: what is read where the loop looks at its condition, or after it."""
        if s in self.loops:
            self.after[s] = self.after.get(s, frozenset()) | after | elsewhere
        while True:
            found = head | self.block(s.body, head, _Exits(after, head, elsewhere | after | head))
            if found == head:
                return head
            head = found
