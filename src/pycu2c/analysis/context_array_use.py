"""Find the context-array elements that a work-item loop accesses, and its live threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import TypeAlias

from pycu2c.analysis.effects import any_effect
from pycu2c.analysis.thread_values import ThreadValues
from pycu2c.analysis.variables import declared_names
from pycu2c.base.records import dataclass, field
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, bodies, children, contains, operands

Threads: TypeAlias = frozenset[int]
Elements: TypeAlias = frozenset[int]  # indices of elements of one context array


@dataclass(slots=True)
class ElementAccesses:
    """Elements that may be read, and elements that must be written."""

    read: dict[str, Elements] = field(default_factory=dict)
    written: dict[str, Elements] = field(default_factory=dict)

    def add(self, accesses: dict[str, Elements], name: str, elements: Elements) -> None:
        accesses[name] = accesses.get(name, frozenset()) | elements


@dataclass(frozen=True, slots=True)
class ContextArrayUse:
    """Accesses of one work-item loop; ``lengths`` are those of the context arrays.

    ``effectful``: the device functions with side effects.
    """

    values: ThreadValues
    thread_count: int
    lengths: Mapping[str, int]
    effectful: Set[str]

    # ---- live threads ----

    def live_threads(self, body: ir.Body, read: Mapping[str, Elements]) -> Threads:
        """Return the threads that store an element that is read later, or have an effect."""
        local_names = declared_names(body)
        result: set[int] = set()
        for s, threads in self._statements(body, frozenset(range(self.thread_count))):
            if any(any_effect(e, frozenset(self.effectful)) for e in operands(s)):
                result |= threads
            elif isinstance(s, ir.Store):
                result |= self._storing_threads(s, threads, read)
            elif not isinstance(s, ir.Declare | ir.If | ir.NextWorkItem | ir.Evaluate):
                result |= (
                    threads
                    if not isinstance(s, ir.Assign) or s.var.name not in local_names
                    else set()
                )
        return frozenset(result)

    def _storing_threads(
        self, s: ir.Store, threads: Threads, read: Mapping[str, Elements]
    ) -> Threads:
        elements = self._elements(s, threads) if s.array.name in self.lengths else None
        if elements is None:
            return threads
        return frozenset(t for t, element in elements.items() if element in read[s.array.name])

    def _elements(self, access: ir.Load | ir.Store, threads: Threads) -> dict[int, int] | None:
        """Return the element that each thread accesses, or None if it is unknown."""
        indices = self.values.of(access.indices[0])
        return None if indices is None else {t: int(indices[t]) for t in threads}

    def _statements(self, body: ir.Body, threads: Threads) -> Iterator[tuple[ir.Stmt, Threads]]:
        """Yield each statement with the threads that may execute it; loops are not entered."""
        for s in body:
            yield s, threads
            if isinstance(s, ir.If):
                then, orelse = self._split(s, threads)
                yield from self._statements(s.then, then)
                yield from self._statements(s.orelse, orelse)
                if _is_exit(s) and self._is_decided(s.condition):
                    threads -= then

    def _split(self, branch: ir.If | ir.Select, threads: Threads) -> tuple[Threads, Threads]:
        """Return the threads that may take each branch."""
        outcomes = self.values.of(branch.condition)
        if outcomes is None:
            return threads, threads
        then = frozenset(t for t in threads if outcomes[t])
        return then, threads - then

    def _is_decided(self, condition: ir.Expr) -> bool:
        return self.values.of(condition) is not None

    # ---- accessed elements ----

    def of(self, body: ir.Body, threads: Threads) -> ElementAccesses:
        """Return the elements that these threads read and write."""
        used = ElementAccesses()
        for s, active in self._statements(body, threads):
            inner = all_expressions((s,)) if bodies(s) and not isinstance(s, ir.If) else operands(s)
            for e in inner:
                self._add_reads(e, active, used)
        for store, active in self._unconditional_stores(body, threads):
            elements = self._elements(store, active) or {}
            used.add(used.written, store.array.name, frozenset(elements.values()))
        return used

    def _unconditional_stores(
        self, body: ir.Body, threads: Threads
    ) -> Iterator[tuple[ir.Store, Threads]]:
        """Yield the stores outside conditions with the threads that must execute them."""
        for s in body:
            if isinstance(s, ir.If) and _is_exit(s) and self._is_decided(s.condition):
                threads -= self._split(s, threads)[0]
            elif contains((s,), ir.NextWorkItem):
                return
            elif isinstance(s, ir.Store) and s.array.name in self.lengths and not s.path:
                yield s, threads

    def _add_reads(self, e: ir.Expr, threads: Threads, used: ElementAccesses) -> None:
        match e:
            case ir.Load(array=array) if array.name in self.lengths:
                elements = self._elements(e, threads)
                found = range(self.lengths[array.name]) if elements is None else elements.values()
                used.add(used.read, array.name, frozenset(found))
                self._add_reads(e.indices[0], threads, used)
            case ir.Var(name=name) if name in self.lengths:
                used.add(used.read, name, frozenset(range(self.lengths[name])))
            case ir.Select():
                then, orelse = self._split(e, threads)
                self._add_reads(e.condition, threads, used)
                self._add_reads(e.then, then, used)
                self._add_reads(e.orelse, orelse, used)
            case _:
                for child in children(e):
                    self._add_reads(child, threads, used)


def _is_exit(s: ir.If) -> bool:
    """Return whether an ``if`` only ends threads."""
    exits = all(isinstance(x, ir.NextWorkItem) for x in s.then)
    return bool(s.then) and not s.orelse and exits
