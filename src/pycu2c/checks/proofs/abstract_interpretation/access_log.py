"""The accesses of a block to an array since the last barrier, and the elements that have values."""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pycu2c.analysis.vectors import Mask
from pycu2c.base.records import dataclass, replace

NO_THREAD, MANY_THREADS = -1, -2  # in place of a thread
_NEVER = np.iinfo(np.int64).max
Numbers = npt.NDArray[np.int64]


class AccessKind(Enum):
    READ = "read"
    WRITE = "write"
    ATOMIC = "atomic"


class Writes(NamedTuple):
    """Which elements have values: for each, the time of the first write, and its lane.

    As the iterations of a loop are executed at once, they have times; that before loops is 0.
    """

    times: Numbers
    lanes: Numbers

    @classmethod
    def of(cls, size: int) -> Writes:
        return cls(np.full(size, _NEVER, np.int64), np.full(size, NO_THREAD, np.int64))

    def add(self, elements: Numbers, times: Numbers, lanes: Numbers) -> None:
        np.minimum.at(self.times, elements, times)
        is_first = self.times[elements] == times
        self.lanes[elements[is_first]] = lanes[is_first]

    def copy(self) -> Writes:
        return Writes(self.times.copy(), self.lanes.copy())

    def joined(self, then: Writes, orelse: Writes, is_then: Mask, is_else: Mask) -> Writes:
        """Return these writes and those of two paths: of both, or of lanes that take one.

        An element that different lanes write on the two paths has a conflict.
        """
        in_both = then.times == orelse.times
        in_then = (then.times < self.times) & (in_both | is_then[then.lanes])
        in_else = (orelse.times < self.times) & is_else[orelse.lanes]
        times, lanes = self.copy()
        for path, chosen in ((orelse, in_else), (then, in_then)):
            earlier = chosen & (path.times < times)
            times[earlier], lanes[earlier] = path.times[earlier], path.lanes[earlier]
        return Writes(times, lanes)

    def of_iterations(self) -> Writes:
        """Return these writes, to which iterations of a loop will be added."""
        return Writes(self.times, np.full_like(self.lanes, NO_THREAD))

    def after_iterations(self, inner: Writes, lanes: Numbers, is_outermost: bool) -> Writes:
        """Return the writes after a loop; ``self`` are those before. lanes: of each iteration."""
        outer = self.lanes.copy()
        is_new = inner.lanes != NO_THREAD
        outer[is_new] = lanes[inner.lanes[is_new]]
        if is_outermost:
            return Writes(np.where(inner.times < _NEVER, 0, _NEVER), outer)
        return Writes(inner.times, outer)


@dataclass(slots=True)
class AccessLog:
    """The accesses to one array.

    threads: for each kind of access and each element, the thread that has accessed it since the
    last barrier; None for an array that each thread has, as a row of ``writes``.
    """

    shape: tuple[int, ...]
    threads: dict[AccessKind, Numbers] | None
    writes: Writes
    has_conflict: bool = False
    has_unwritten: bool = False

    @classmethod
    def of(cls, shape: tuple[int, ...], rows: int, *, is_shared: bool) -> AccessLog:
        size = rows * math.prod(shape)
        none = {kind: np.full(size, NO_THREAD, np.int64) for kind in AccessKind}
        return cls(shape, none if is_shared else None, Writes.of(size))

    @property
    def size(self) -> int:
        return len(self.writes.times)

    @property
    def proves_nothing(self) -> bool:
        """Return whether the log has a conflict, and an element that may be unwritten."""
        return (self.has_conflict or self.threads is None) and self.has_unwritten

    def access(self, kind: AccessKind, elements: Numbers, threads: Numbers) -> None:
        """Record accesses by threads, each to its element."""
        if self.threads is None or self.has_conflict:
            return
        concurrent = set(AccessKind) if kind is AccessKind.WRITE else set(AccessKind) - {kind}
        found = [self.threads[other][elements] for other in concurrent]
        if any(np.any((t != NO_THREAD) & ((t != threads) | (t == MANY_THREADS))) for t in found):
            self.has_conflict = True
            return
        own = self.threads[kind]
        earlier = own[elements]
        new = np.where((earlier == NO_THREAD) | (earlier == threads), threads, MANY_THREADS)
        own[elements] = new
        differs = own[elements] != new
        own[elements[differs]] = MANY_THREADS
        self.has_conflict = kind is AccessKind.WRITE and bool(np.any(own[elements] == MANY_THREADS))

    def read(self, elements: Numbers, times: Numbers) -> None:
        """Check that elements have values when they are read."""
        self.has_unwritten |= bool(np.any(self.writes.times[elements] > times))

    def clear(self, times: Numbers) -> None:
        """Discard the writes to a local array, as its function is called again."""
        self.has_unwritten |= bool(times.any())  # an iteration may read the elements of another
        self.writes = Writes.of(self.size)

    def pass_barrier(self) -> None:
        for threads in (self.threads or {}).values():
            threads.fill(NO_THREAD)

    def copy(self) -> AccessLog:
        threads = self.threads and {kind: a.copy() for kind, a in self.threads.items()}
        return replace(self, threads=threads, writes=self.writes.copy())

    def join(self, other: AccessLog) -> None:
        """Add the accesses of another path, which all threads of the block may take."""
        self.has_conflict |= other.has_conflict
        self.has_unwritten |= other.has_unwritten
        for kind, own in (self.threads or {}).items():
            added = (other.threads or {})[kind]
            either = np.where(own == NO_THREAD, added, own)
            is_same = (added == NO_THREAD) | (added == either)
            own[...] = np.where(is_same, either, MANY_THREADS)
