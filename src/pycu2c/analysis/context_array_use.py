"""What the threads of one thread loop do to arrays that have a slot for each thread: which threads
do what is read later, which slots they read, which they write. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import TypeAlias

from pycu2c.analysis.effects import any_effect
from pycu2c.analysis.lane_values import LaneValues
from pycu2c.analysis.live_across_barriers import declared
from pycu2c.base.records import dataclass, field
from pycu2c.ir.nodes import (
    Assign,
    Body,
    Declare,
    Evaluate,
    Expr,
    If,
    Load,
    NextThread,
    Select,
    Stmt,
    Store,
    Var,
)
from pycu2c.ir.walk import all_expressions, bodies, children, operands, statements

Threads: TypeAlias = frozenset[int]


@dataclass(slots=True)
class Used:
    """The slots that are read, and those that are surely written."""

    read: dict[str, Threads] = field(default_factory=dict)
    written: dict[str, Threads] = field(default_factory=dict)

    def note(self, where: dict[str, Threads], name: str, slots: Threads) -> None:
        where[name] = where.get(name, frozenset()) | slots


@dataclass(frozen=True, slots=True)
class SlotUse:
    """``lengths``: of the arrays in question."""

    values: LaneValues
    threads: int
    lengths: Mapping[str, int]
    effectful: Set[str]

    # ---- who is busy ----

    def busy(self, body: Body, read: Mapping[str, Threads]) -> Threads:
        """The threads that do something that is read later, or has an effect."""
        own = declared(body)
        found: set[int] = set()
        for s, threads in self._statements(body, frozenset(range(self.threads))):
            if any(any_effect(e, frozenset(self.effectful)) for e in operands(s)):
                found |= threads
            elif isinstance(s, Store):
                found |= self._storing(s, threads, read)
            elif not isinstance(s, Declare | If | NextThread | Evaluate):
                found |= threads if not isinstance(s, Assign) or s.var.name not in own else set()
        return frozenset(found)

    def _storing(self, s: Store, threads: Threads, read: Mapping[str, Threads]) -> Threads:
        slots = self._slots(s, threads) if s.array.name in self.lengths else None
        if slots is None:
            return threads
        return frozenset(t for t, slot in slots.items() if slot in read[s.array.name])

    def _slots(self, access: Load | Store, threads: Threads) -> dict[int, int] | None:
        """The slot that each thread names, if that is known."""
        found = self.values.of(access.indices[0])
        return {t: int(found[t]) for t in threads} if found else None

    def _statements(self, body: Body, threads: Threads) -> Iterator[tuple[Stmt, Threads]]:
        """Each statement, and the threads that may come to it; what is in a loop counts as one."""
        for s in body:
            yield s, threads
            if isinstance(s, If):
                then, orelse = self._ways(s, threads)
                yield from self._statements(s.then, then)
                yield from self._statements(s.orelse, orelse)
                if _is_end(s) and self._is_known(s.condition):
                    threads -= then

    def _ways(self, choice: If | Select, threads: Threads) -> tuple[Threads, Threads]:
        """The threads that may go either way."""
        told = self.values.of(choice.condition)
        if told is None:
            return threads, threads
        then = frozenset(t for t in threads if told[t])
        return then, threads - then

    def _is_known(self, condition: Expr) -> bool:
        return self.values.of(condition) is not None

    # ---- which slots ----

    def of(self, body: Body, threads: Threads) -> Used:
        """The slots that these threads read and write."""
        used = Used()
        for s, here in self._statements(body, threads):
            inner = all_expressions((s,)) if bodies(s) and not isinstance(s, If) else operands(s)
            for e in inner:
                self._reads(e, here, used)
        for store, here in self._surely(body, threads):
            slots = self._slots(store, here) or {}
            used.note(used.written, store.array.name, frozenset(slots.values()))
        return used

    def _surely(self, body: Body, threads: Threads) -> Iterator[tuple[Store, Threads]]:
        """The stores under no condition, and the threads that surely come there."""
        for s in body:
            if isinstance(s, If) and _is_end(s) and self._is_known(s.condition):
                threads -= self._ways(s, threads)[0]
            elif any(isinstance(x, NextThread) for x in statements((s,))):
                return
            elif isinstance(s, Store) and s.array.name in self.lengths and not s.path:
                yield s, threads

    def _reads(self, e: Expr, threads: Threads, used: Used) -> None:
        match e:
            case Load(array=array) if array.name in self.lengths:
                slots = self._slots(e, threads)
                found = range(self.lengths[array.name]) if slots is None else slots.values()
                used.note(used.read, array.name, frozenset(found))
                self._reads(e.indices[0], threads, used)
            case Var(name=name) if name in self.lengths:
                used.note(used.read, name, frozenset(range(self.lengths[name])))
            case Select():
                then, orelse = self._ways(e, threads)
                self._reads(e.condition, threads, used)
                self._reads(e.then, then, used)
                self._reads(e.orelse, orelse, used)
            case _:
                for child in children(e):
                    self._reads(child, threads, used)


def _is_end(s: If) -> bool:
    """Whether it only ends threads."""
    ends = all(isinstance(x, NextThread) for x in s.then)
    return bool(s.then) and not s.orelse and ends
