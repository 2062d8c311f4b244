"""The scheduler of the reference interpreter: a thread is a generator that yields its waits.

Each thread runs until it waits; threads whose synchronization is complete continue. If there are
none, threads that busy-wait continue after other blocks have run.
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

_ROUNDS_PER_TURN = 1 << 16  # scheduling rounds of a block before others run


@dataclass(frozen=True, slots=True)
class Wait:
    """Why a thread waits; ``intrinsic`` is the synchronizing intrinsic, None for a busy wait."""

    where: str  # file:line
    intrinsic: Intrinsic | None = None
    arguments: tuple[Any, ...] = ()

    @property
    def mask(self) -> int:
        """Return the lane mask of a warp operation; 0 without a mask."""
        of_lanes = self.intrinsic is not None and self.intrinsic.effect is Effect.WARP
        return self.arguments[0] & 0xFFFFFFFF if of_lanes and self.arguments else 0

    @property
    def types(self) -> tuple[object, ...]:
        """Return the types of the exchanged values; Python numbers have 64 bits."""
        pairs = zip(self.intrinsic.parameters, self.arguments) if self.intrinsic is not None else ()
        return tuple(_WIDE.get(type(v), type(v)) for (_, kind), v in pairs if kind == "T")


_WIDE: Mapping[type, type] = {int: np.int64, float: np.float64, complex: np.complex128}
Coroutine: TypeAlias = Generator[Wait, None, Any]


class ThreadEnds(Exception):
    """``raise`` in a kernel ends the thread."""


_NO_ARGUMENTS: Mapping[int, tuple[Any, ...]] = {}


@dataclass(slots=True, eq=False)
class RunningThread:
    """A thread; ``wait`` is None before it starts and after it has ended."""

    thread: Thread
    steps: Coroutine
    wait: Wait | None = None

    def go_on(self) -> None:
        """Run to the next wait, or to the end."""
        REFERENCE_STATE.thread = self.thread
        try:
            self.wait = next(self.steps)
        except (StopIteration, ThreadEnds):
            self.wait = None


class RunningBlock:
    """The threads of a block and its shared memory; ``cluster`` are the blocks of its cluster."""

    def __init__(
        self, position: Dim3, threads: list[RunningThread], memory: Mapping[Any, Any]
    ) -> None:
        self.position, self.memory = position, memory
        self.cluster: Sequence[RunningBlock] = ()
        self.live = threads
        self.ready = threads

    def run(self) -> None:
        """Run until all threads have ended, or wait for other blocks."""
        for _ in range(_ROUNDS_PER_TURN):
            for running in self.ready:
                running.go_on()
            self.live = [r for r in self.live if r.wait is not None]
            self.ready = _threads_released(self.live)
            if not self.ready:
                return

    def wake(self) -> None:
        """Make the threads ready that busy-wait."""
        if not self.ready:
            self.ready = [r for r in self.live if r.wait is not None and r.wait.intrinsic is None]

    def all_at(self, effect: Effect) -> bool:
        """Return whether all live threads wait at one barrier with this scope."""
        intrinsics = {r.wait.intrinsic if r.wait else None for r in self.live}
        intrinsic = intrinsics.pop() if len(intrinsics) == 1 else None
        return intrinsic is not None and intrinsic.effect is effect

    def waiting(self) -> Iterator[WaitingThread]:
        for r in self.live:
            if r.wait is not None:
                wait = r.wait
                yield WaitingThread(
                    self.position, r.thread.number, wait.where, wait.intrinsic, wait.mask
                )


def run_blocks(kernel: str, blocks: Iterable[RunningBlock], memory: Iterable[Any]) -> None:
    """Run all blocks, in order if they do not wait for each other. Raises DeadlockError."""
    parked = []
    for block in blocks:
        block.run()
        if block.live:
            parked.append(block)
    arrays, before = list(memory), None
    while parked:
        count = sum(len(b.live) for b in parked)
        released = _release_blocks(parked)
        for block in parked:
            if not released:
                block.wake()
        if not any(b.ready for b in parked):
            raise deadlock_error(kernel, (w for b in parked for w in b.waiting()))
        for block in parked:
            block.run()
        parked = [b for b in parked if b.live]
        if released or count != sum(len(b.live) for b in parked):
            before = None
            continue
        now = _state(parked, arrays)
        if now == before:
            raise deadlock_error(kernel, (w for b in parked for w in b.waiting()))
        before = now


def _release_blocks(parked: list[RunningBlock]) -> bool:
    """Release the blocks at complete grid or cluster barriers; return whether there are any."""
    if all(b.all_at(Effect.GRID) for b in parked):
        complete = parked
    else:
        complete = [b for b in parked if all(o.all_at(Effect.CLUSTER) for o in b.cluster if o.live)]
    for block in complete:
        block.ready = block.live
    return bool(complete)


# ---- synchronization ---------------------------------------------------------------------------


def _threads_released(live: list[RunningThread]) -> list[RunningThread]:
    """Return the threads of a complete barrier or warp operation, with the exchanged values."""
    first = live[0].wait if live else None
    if first is None:
        return []
    if first.intrinsic is not None and first.intrinsic.effect is Effect.BARRIER:
        intrinsic = first.intrinsic
        if all(r.wait is not None and r.wait.intrinsic is intrinsic for r in live):
            return _exchange(live) if first.arguments else live
    lanes = [r for r in live if _effect(r) is Effect.WARP]
    if not lanes:
        return []
    return _complete_warps(live, lanes) or _active(lanes)


def _effect(running: RunningThread) -> Effect | None:
    wait = running.wait
    return None if wait is None or wait.intrinsic is None else wait.intrinsic.effect


def _exchange(threads: list[RunningThread]) -> list[RunningThread]:
    exchanged_values = {r.thread.number: r.wait.arguments for r in threads if r.wait is not None}
    for running in threads:
        running.thread.exchanged = exchanged_values
    return threads


def _complete_warps(live: list[RunningThread], lanes: list[RunningThread]) -> list[RunningThread]:
    """Return the threads of warp operations whose masks are complete."""
    live_masks: dict[int, int] = {}
    for r in live:
        warp, lane = divmod(r.thread.number, WARP)
        live_masks[warp] = live_masks.get(warp, 0) | 1 << lane
    out: list[RunningThread] = []
    for (warp, _, mask), group in _groups(r for r in lanes if r.wait and r.wait.mask).items():
        if sum(1 << r.thread.lane for r in group) == mask & live_masks[warp]:
            out += _exchange(group)
    return out


def _groups(lanes: Iterable[RunningThread]) -> dict[tuple[int, object, int], list[RunningThread]]:
    """Group lanes by warp, operation and mask; lanes without a mask by their position."""
    groups: dict[tuple[int, object, int], list[RunningThread]] = {}
    for r in lanes:
        wait = r.wait
        assert wait is not None
        assert wait.intrinsic is not None
        operation = (wait.intrinsic, wait.types) if wait.mask else _path(r.steps)
        groups.setdefault((r.thread.number // WARP, operation, wait.mask), []).append(r)
    return groups


def _path(steps: Any) -> object:
    """Return the position of a thread in each function on its stack."""
    positions = []
    while isgenerator(steps):
        frame: Any = steps.gi_frame
        positions.append((steps.gi_code, frame.f_lasti))
        steps = steps.gi_yieldfrom
    return tuple(positions)


def _active(lanes: list[RunningThread]) -> list[RunningThread]:
    """Return lanes at operations without a mask: those at one position are the active mask."""
    groups = _groups(r for r in lanes if r.wait is not None and not r.wait.mask)
    return [r for group in groups.values() for r in _exchange(group)]


# ---- deadlock detection ------------------------------------------------------------------------


@dataclass(slots=True)
class _Snapshot:
    """Comparable copies of values; each array is hashed once."""

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
    """Return the state of memory and threads; if it does not change, the threads are deadlocked."""
    snapshot = _Snapshot()
    arrays = [snapshot.of(a) for a in memory]
    shared = [snapshot.of(a) for b in blocks for a in b.memory.values()]
    threads = [_frames_state(r.steps, snapshot) for b in blocks for r in b.live]
    return arrays, shared, threads


def _frames_state(steps: Any, snapshot: _Snapshot) -> list[object]:
    states: list[object] = []
    while steps is not None:
        frame = steps.gi_frame
        states.append((frame.f_lasti, [snapshot.of(v) for v in frame.f_locals.values()]))
        steps = steps.gi_yieldfrom
    return states
