"""The thread that the reference interpreter runs; intrinsics read its coordinates."""

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
WIDTHS = (1, 2, 4, 8, 16, WARP)  # of a shuffle
INTEGERS = (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)
# dtypes of the values that lanes exchange; halves are exchanged as float32, vectors by component
EXCHANGE_DTYPES = (BOOL, *INTEGERS, FLOAT32, FLOAT64)


@dataclass(slots=True)
class Thread:
    """The coordinates of a thread; x is the fastest axis.

    ``exchanged`` has the arguments that the threads passed to the last collective, by their rank in
    the block.
    """

    threadIdx: Dim3
    blockIdx: Dim3
    blockDim: Dim3
    gridDim: Dim3
    exchanged: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)
    memory: Any = None  # of its block
    clusterDim: Dim3 = (1, 1, 1)
    cluster: Sequence[Any] = ()  # the blocks of its cluster
    iterations: int = 0  # of loops that may poll memory

    @property
    def rank(self) -> int:
        """The rank in the block, x fastest."""
        (x, y, z), (width, height, _) = self.threadIdx, self.blockDim
        return x + width * (y + height * z)

    @property
    def lane(self) -> int:
        """The lane in the warp."""
        return self.rank % WARP


class ReferenceState(threading.local):
    """The running thread of a kernel, which the interpreter sets before it resumes one.

    Each Python thread has its own state.
    """

    thread: Thread | None = None

    def current(self) -> Thread:
        assert self.thread is not None, "no thread is running"
        return self.thread


REFERENCE_STATE = ReferenceState()
