"""The thread that the reference interpreter is running: where intrinsics read their place."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pycu2c.base.dtypes import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
)
from pycu2c.base.records import dataclass, field

Dim3: TypeAlias = tuple[int, int, int]

WARP = 32  # lanes
WIDTHS = (1, 2, 4, 8, 16, WARP)  # of the parts of a warp that a shuffle is in
INTEGERS = (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)
# what lanes exchange: halves go as float32, vectors part by part
EXCHANGED = (BOOL, *INTEGERS, FLOAT32, FLOAT64)


@dataclass(slots=True)
class Thread:
    """A thread's coordinates; x is the fastest axis. ``met``: of those that it has just met, by
    number in the block, the arguments."""

    threadIdx: Dim3
    blockIdx: Dim3
    blockDim: Dim3
    gridDim: Dim3
    exchanged: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)
    memory: Any = None  # its block's
    clusterDim: Dim3 = (1, 1, 1)
    cluster: Sequence[Any] = ()  # the blocks of its cluster
    iterations: int = 0  # of loops that may wait for memory

    @property
    def number(self) -> int:
        """In its block, x fastest."""
        (x, y, z), (width, height, _) = self.threadIdx, self.blockDim
        return x + width * (y + height * z)

    @property
    def lane(self) -> int:
        """In its warp."""
        return self.number % WARP


class ReferenceState(threading.local):
    """Holds the running thread of a kernel, set by the interpreter before it resumes one; each
    thread of Python has its own."""

    thread: Thread | None = None

    def current(self) -> Thread:
        assert self.thread is not None, "no thread is running"
        return self.thread


REFERENCE_STATE = ReferenceState()
