"""Which variables of a thread are read after a loop, before they are set anew. Reads; changes
nothing. Takes the code of one thread: no thread loops."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import field
from typing import TypeAlias

from pycu2c.ir.nodes import Assign, Body, Break, Continue, Declare, For, If, Return, Stmt, While
from pycu2c.ir.walk import bodies, operands
from pycu2c.passes.placement import names_in
from pycu2c.records import dataclass

Names: TypeAlias = frozenset[str]


def alive_after(body: Body, loops: Set[Stmt]) -> Mapping[Stmt, Names]:
    """For each of the loops, the variables whose values it leaves for what comes after it."""
    reads = _Reads(loops)
    reads.block(body, frozenset(), _Exits())
    return reads.after


@dataclass(frozen=True, slots=True)
class _Exits:
    """What is read where a break or a continue leads to."""

    broken: Names = frozenset()
    continued: Names = frozenset()


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
                return own | self.block(s.then, after, exits) | self.block(s.orelse, after, exits)
            case While() | For():
                return self._loop(s, after, after | own)
            case _:
                inside = (self.block(b, after, exits) for b in bodies(s))
                return own.union(after, *inside)

    def _loop(self, s: While | For, after: Names, head: Names) -> Names:
        """``head``: what is read where the loop looks at its condition, or after it."""
        if s in self.loops:
            self.after[s] = self.after.get(s, frozenset()) | after
        while True:
            found = head | self.block(s.body, head, _Exits(after, head))
            if found == head:
                return head
            head = found
