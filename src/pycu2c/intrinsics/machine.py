"""The thread that the reference interpreter is running: where intrinsics read their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Dim3: TypeAlias = tuple[int, int, int]


@dataclass(slots=True)
class Thread:
    """A thread's coordinates; x is the fastest axis."""

    threadIdx: Dim3
    blockIdx: Dim3
    blockDim: Dim3
    gridDim: Dim3


class Machine:
    """Holds the running thread; one per process, set by the interpreter before it resumes one."""

    thread: Thread | None = None

    def current(self) -> Thread:
        assert self.thread is not None, "no thread is running"
        return self.thread


MACHINE = Machine()
