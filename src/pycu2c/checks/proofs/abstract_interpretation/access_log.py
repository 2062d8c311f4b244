"""The accesses of a block to an array since the last barrier, and the elements that have values."""

from __future__ import annotations

import math
from enum import Enum

import numpy as np
import numpy.typing as npt

from pycu2c.analysis.vectors import Mask
from pycu2c.base.records import dataclass, replace

NO_THREAD, MANY_THREADS = -1, -2  # in place of a thread
Numbers = npt.NDArray[np.int64]


class AccessKind(Enum):
    READ = "read"
    WRITE = "write"
    ATOMIC = "atomic"


@dataclass(slots=True)
class AccessLog:
    """The accesses to one array.

    threads: for each kind of access and each element, the thread that has accessed it since the
    last barrier; None for an array that each thread has, as a row of ``written``. written: whether
    each element has a value.
    """

    shape: tuple[int, ...]
    threads: dict[AccessKind, Numbers] | None
    written: Mask
    has_conflict: bool = False
    has_unwritten: bool = False

    @classmethod
    def of(cls, shape: tuple[int, ...], rows: int, *, is_shared: bool) -> AccessLog:
        size = rows * math.prod(shape)
        none = {kind: np.full(size, NO_THREAD, np.int64) for kind in AccessKind}
        return cls(shape, none if is_shared else None, np.zeros(size, bool))

    @property
    def size(self) -> int:
        return len(self.written)

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

    def read(self, elements: Numbers) -> None:
        """Check that elements have values when they are read."""
        self.has_unwritten |= not self.written[elements].all()

    def clear(self) -> None:
        """Discard all writes."""
        self.written = np.zeros(self.size, bool)

    def pass_barrier(self) -> None:
        for threads in (self.threads or {}).values():
            threads.fill(NO_THREAD)

    def copy(self) -> AccessLog:
        threads = self.threads and {kind: a.copy() for kind, a in self.threads.items()}
        return replace(self, threads=threads, written=self.written.copy())

    def join(self, other: AccessLog) -> None:
        """Add the accesses of another path, which all threads of the block may take."""
        self.has_conflict |= other.has_conflict
        self.has_unwritten |= other.has_unwritten
        for kind, own in (self.threads or {}).items():
            added = (other.threads or {})[kind]
            either = np.where(own == NO_THREAD, added, own)
            is_same = (added == NO_THREAD) | (added == either)
            own[...] = np.where(is_same, either, MANY_THREADS)
