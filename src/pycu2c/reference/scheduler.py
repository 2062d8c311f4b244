"""Who runs when in the reference interpreter: a thread is a generator that yields what it waits
for. Knows warps, blocks and meetings; nothing of syntax.

Each thread runs until it waits; then those that have met go on. Where nobody has, the threads go
on that wait in loops for memory to change, after other blocks had their turn.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from inspect import isgenerator
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base.records import dataclass, field
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE, WARP, Dim3, Thread
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic
from pycu2c.runtime.cpu.deadlock_report import WaitingThread, deadlock_error

_ROUNDS_PER_TURN = 1 << 16  # rounds of a block before others get theirs


@dataclass(frozen=True, slots=True)
class Wait:
    """Why a thread stops. ``row``: what it does with others; None for a round of a loop that may
    wait for memory."""

    where: str  # file:line
    row: Intrinsic | None = None
    arguments: tuple[Any, ...] = ()

    @property
    def mask(self) -> int:
        """The lanes of a meeting of them; 0 where it names none."""
        of_lanes = self.row is not None and self.row.effect is Effect.WARP
        return self.arguments[0] & 0xFFFFFFFF if of_lanes and self.arguments else 0

    @property
    def types(self) -> tuple[object, ...]:
        """Of what it gives those that it meets: Python's numbers are 64 bits wide."""
        given = zip(self.row.parameters, self.arguments) if self.row is not None else ()
        return tuple(_WIDE.get(type(v), type(v)) for (_, kind), v in given if kind == "T")


_WIDE: Mapping[type, type] = {int: np.int64, float: np.float64, complex: np.complex128}
Coroutine: TypeAlias = Generator[Wait, None, Any]


class ThreadEnds(Exception):
    """``raise`` in a kernel ends the thread."""


_NO_ARGUMENTS: Mapping[int, tuple[Any, ...]] = {}


@dataclass(slots=True, eq=False)
class RunningThread:
    """A thread on its way; ``wait`` is None before it starts and when it has ended."""

    thread: Thread
    steps: Coroutine
    wait: Wait | None = None

    def go_on(self) -> None:
        """To where it waits next, or to its end."""
        REFERENCE_STATE.thread = self.thread
        try:
            self.wait = next(self.steps)
        except (StopIteration, ThreadEnds):
            self.wait = None


class RunningBlock:
    """The threads of a block, and its shared memory. ``cluster``: the blocks of its cluster."""

    def __init__(
        self, position: Dim3, threads: list[RunningThread], memory: Mapping[Any, Any]
    ) -> None:
        self.position, self.memory = position, memory
        self.cluster: Sequence[RunningBlock] = ()
        self.live = threads
        self.ready = threads

    def run(self) -> None:
        """Until all have ended, or can only wait for other blocks."""
        for _ in range(_ROUNDS_PER_TURN):
            for running in self.ready:
                running.go_on()
            self.live = [r for r in self.live if r.wait is not None]
            self.ready = _threads_released(self.live)
            if not self.ready:
                return

    def wake(self) -> None:
        """Let those go on that wait for memory."""
        if not self.ready:
            self.ready = [r for r in self.live if r.wait is not None and r.wait.row is None]

    def all_at(self, effect: Effect) -> bool:
        """Whether the threads that are left wait at such a barrier, and at no other."""
        rows = {r.wait.row if r.wait else None for r in self.live}
        only = rows.pop() if len(rows) == 1 else None
        return only is not None and only.effect is effect

    def waiting(self) -> Iterator[WaitingThread]:
        for r in self.live:
            if r.wait is not None:
                wait = r.wait
                yield WaitingThread(self.position, r.thread.number, wait.where, wait.row, wait.mask)


def run_blocks(kernel: str, blocks: Iterable[RunningBlock], memory: Iterable[Any]) -> None:
    """Run all blocks, in order as far as they do not wait for one another. Raises DeadlockError."""
    parked = []
    for block in blocks:
        block.run()
        if block.live:
            parked.append(block)
    arrays, before = list(memory), None
    while parked:
        count = sum(len(b.live) for b in parked)
        together = _release_blocks(parked)
        for block in parked:
            if not together:
                block.wake()
        if not any(b.ready for b in parked):
            raise deadlock_error(kernel, (w for b in parked for w in b.waiting()))
        for block in parked:
            block.run()
        parked = [b for b in parked if b.live]
        if together or count != sum(len(b.live) for b in parked):
            before = None
            continue
        now = _state(parked, arrays)
        if now == before:
            raise deadlock_error(kernel, (w for b in parked for w in b.waiting()))
        before = now


def _release_blocks(parked: list[RunningBlock]) -> bool:
    """Lets blocks go on that have met: all of the grid, or those of clusters. Whether some have."""
    if all(b.all_at(Effect.GRID) for b in parked):
        met = parked
    else:
        met = [b for b in parked if all(o.all_at(Effect.CLUSTER) for o in b.cluster if o.live)]
    for block in met:
        block.ready = block.live
    return bool(met)


# ---- meetings ----------------------------------------------------------------------------------


def _threads_released(live: list[RunningThread]) -> list[RunningThread]:
    """Those who have met: they know what the others gave."""
    first = live[0].wait if live else None
    if first is None:
        return []
    if first.row is not None and first.row.effect is Effect.BARRIER:
        row = first.row
        if all(r.wait is not None and r.wait.row is row for r in live):
            return _exchange(live) if first.arguments else live
    lanes = [r for r in live if _effect(r) is Effect.WARP]
    if not lanes:
        return []
    return _complete_warps(live, lanes) or _active(lanes)


def _effect(running: RunningThread) -> Effect | None:
    wait = running.wait
    return None if wait is None or wait.row is None else wait.row.effect


def _exchange(together: list[RunningThread]) -> list[RunningThread]:
    given = {r.thread.number: r.wait.arguments for r in together if r.wait is not None}
    for running in together:
        running.thread.exchanged = given
    return together


def _complete_warps(live: list[RunningThread], lanes: list[RunningThread]) -> list[RunningThread]:
    """Of each warp those for whom no lane of the mask is missing."""
    alive: dict[int, int] = {}
    for r in live:
        warp, lane = divmod(r.thread.number, WARP)
        alive[warp] = alive.get(warp, 0) | 1 << lane
    out: list[RunningThread] = []
    for (warp, _, mask), group in _groups(r for r in lanes if r.wait and r.wait.mask).items():
        if sum(1 << r.thread.lane for r in group) == mask & alive[warp]:
            out += _exchange(group)
    return out


def _groups(lanes: Iterable[RunningThread]) -> dict[tuple[int, object, int], list[RunningThread]]:
    """By warp, what they do and mask; who names no mask is asked at which place he is."""
    found: dict[tuple[int, object, int], list[RunningThread]] = {}
    for r in lanes:
        wait = r.wait
        assert wait is not None
        assert wait.row is not None
        done = (wait.row, wait.types) if wait.mask else _path(r.steps)
        found.setdefault((r.thread.number // WARP, done, wait.mask), []).append(r)
    return found


def _path(steps: Any) -> object:
    """The place where a thread stands, in each function that it is in."""
    found = []
    while isgenerator(steps):
        frame: Any = steps.gi_frame
        found.append((steps.gi_code, frame.f_lasti))
        steps = steps.gi_yieldfrom
    return tuple(found)


def _active(lanes: list[RunningThread]) -> list[RunningThread]:
    """Those who ask who is there, when nobody else can run: who asks at the same place is."""
    asking = _groups(r for r in lanes if r.wait is not None and not r.wait.mask)
    return [r for group in asking.values() for r in _exchange(group)]


# ---- whether anything changes ------------------------------------------------------------------


@dataclass(slots=True)
class _Snapshot:
    """Values as what can be compared; each array is read once."""

    read: dict[tuple[int, int, tuple[int, ...]], int] = field(default_factory=dict)

    def of(self, value: Any) -> object:
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, tuple):
            return tuple(map(self.of, value))
        if isinstance(value, (bool, int, float, complex, np.generic)):
            return type(value), repr(value)
        return id(value)

    def _array(self, array: np.ndarray[Any, Any]) -> int:
        key = (array.ctypes.data, array.nbytes, array.strides)
        if key not in self.read:
            self.read[key] = hash(array.tobytes())
        return self.read[key]


def _state(blocks: list[RunningBlock], memory: list[Any]) -> object:
    """Memory, and where each thread stands with what variables: if this is what it was, it will
    be so for ever."""
    snapshot = _Snapshot()
    arrays = [snapshot.of(a) for a in memory]
    shared = [snapshot.of(a) for b in blocks for a in b.memory.values()]
    threads = [_frames_state(r.steps, snapshot) for b in blocks for r in b.live]
    return arrays, shared, threads


def _frames_state(steps: Any, snapshot: _Snapshot) -> list[object]:
    found: list[object] = []
    while steps is not None:
        frame = steps.gi_frame
        found.append((frame.f_lasti, [snapshot.of(v) for v in frame.f_locals.values()]))
        steps = steps.gi_yieldfrom
    return found
