"""The scheduler of the interpreter: a thread is a generator that yields its waits.

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

    location: str  # file:line
    intrinsic: Intrinsic | None = None
    arguments: tuple[Any, ...] = ()

    @property
    def mask(self) -> int:
        """Return the lane mask of a warp operation; 0 without a mask."""
        is_warp_operation = self.intrinsic is not None and self.intrinsic.effect is Effect.WARP
        return self.arguments[0] & 0xFFFFFFFF if is_warp_operation and self.arguments else 0

    @property
    def types(self) -> tuple[object, ...]:
        """Return the types of the exchanged values; Python numbers have 64 bits."""
        pairs = zip(self.intrinsic.parameters, self.arguments) if self.intrinsic is not None else ()
        return tuple(_NUMPY_TYPES.get(type(v), type(v)) for (_, kind), v in pairs if kind == "T")


_NUMPY_TYPES: Mapping[type, type] = {int: np.int64, float: np.float64, complex: np.complex128}
Coroutine: TypeAlias = Generator[Wait, None, Any]


_NO_ARGUMENTS: Mapping[int, tuple[Any, ...]] = {}


@dataclass(slots=True, eq=False)
class RunningThread:
    """A thread; ``wait`` is None before it starts and after it has ended."""

    thread: Thread
    coroutine: Coroutine
    wait: Wait | None = None

    def resume(self) -> None:
        """Run to the next wait, or to the end."""
        REFERENCE_STATE.thread = self.thread
        try:
            self.wait = next(self.coroutine)
        except StopIteration:
            self.wait = None


class RunningBlock:
    """The threads of a block and its shared memory; ``cluster`` are the blocks of its cluster."""

    def __init__(
        self, position: Dim3, threads: list[RunningThread], memory: Mapping[Any, Any]
    ) -> None:
        self.position, self.memory = position, memory
        self.cluster: Sequence[RunningBlock] = ()
        self.live_threads = threads
        self.ready_threads = threads

    def run(self) -> None:
        """Run until all threads have ended, or wait for other blocks."""
        for _ in range(_ROUNDS_PER_TURN):
            for running in self.ready_threads:
                running.resume()
            self.live_threads = [r for r in self.live_threads if r.wait is not None]
            self.ready_threads = _released_threads(self.live_threads)
            if not self.ready_threads:
                return

    def release_busy_waits(self) -> None:
        """Make the threads that busy-wait ready, if no others are."""
        if not self.ready_threads:
            self.ready_threads = [
                r for r in self.live_threads if r.wait is not None and r.wait.intrinsic is None
            ]

    def all_wait_at(self, effect: Effect) -> bool:
        """Return whether all live threads wait at one barrier with this scope."""
        intrinsics = {r.wait.intrinsic if r.wait else None for r in self.live_threads}
        intrinsic = intrinsics.pop() if len(intrinsics) == 1 else None
        return intrinsic is not None and intrinsic.effect is effect

    def waiting_threads(self) -> Iterator[WaitingThread]:
        for r in self.live_threads:
            if r.wait is not None:
                wait = r.wait
                yield WaitingThread(
                    self.position, r.thread.rank, wait.location, wait.intrinsic, wait.mask
                )


def run_blocks(kernel: str, blocks: Iterable[RunningBlock], memory: Iterable[Any]) -> None:
    """Run all blocks, in order if they do not wait for each other. Raises DeadlockError."""
    waiting_blocks = []
    for block in blocks:
        block.run()
        if block.live_threads:
            waiting_blocks.append(block)
    arrays, old_state = list(memory), None
    while waiting_blocks:
        count = sum(len(b.live_threads) for b in waiting_blocks)
        released = _release_blocks(waiting_blocks)
        for block in waiting_blocks:
            if not released:
                block.release_busy_waits()
        if not any(b.ready_threads for b in waiting_blocks):
            raise deadlock_error(kernel, (w for b in waiting_blocks for w in b.waiting_threads()))
        for block in waiting_blocks:
            block.run()
        waiting_blocks = [b for b in waiting_blocks if b.live_threads]
        if released or count != sum(len(b.live_threads) for b in waiting_blocks):
            old_state = None
            continue
        new_state = _state(waiting_blocks, arrays)
        if new_state == old_state:
            raise deadlock_error(kernel, (w for b in waiting_blocks for w in b.waiting_threads()))
        old_state = new_state


def _release_blocks(waiting_blocks: list[RunningBlock]) -> bool:
    """Release the blocks at complete grid or cluster barriers; return whether there are any."""
    if all(b.all_wait_at(Effect.GRID) for b in waiting_blocks):
        released = waiting_blocks
    else:
        released = [
            b
            for b in waiting_blocks
            if all(o.all_wait_at(Effect.CLUSTER) for o in b.cluster if o.live_threads)
        ]
    for block in released:
        block.ready_threads = block.live_threads
    return bool(released)


# ---- synchronization ---------------------------------------------------------------------------


def _released_threads(live: list[RunningThread]) -> list[RunningThread]:
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
    return _complete_warps(live, lanes) or _active_lanes(lanes)


def _effect(running: RunningThread) -> Effect | None:
    wait = running.wait
    return None if wait is None or wait.intrinsic is None else wait.intrinsic.effect


def _exchange(threads: list[RunningThread]) -> list[RunningThread]:
    exchanged_values = {r.thread.rank: r.wait.arguments for r in threads if r.wait is not None}
    for running in threads:
        running.thread.exchanged = exchanged_values
    return threads


def _complete_warps(live: list[RunningThread], lanes: list[RunningThread]) -> list[RunningThread]:
    """Return the threads of warp operations whose masks are complete."""
    live_masks: dict[int, int] = {}
    for r in live:
        warp, lane = divmod(r.thread.rank, WARP)
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
        operation = (wait.intrinsic, wait.types) if wait.mask else _stack_position(r.coroutine)
        groups.setdefault((r.thread.rank // WARP, operation, wait.mask), []).append(r)
    return groups


def _stack_position(steps: Any) -> object:
    """Return the position of a thread in each function on its stack."""
    positions = []
    while isgenerator(steps):
        frame: Any = steps.gi_frame
        positions.append((steps.gi_code, frame.f_lasti))
        steps = steps.gi_yieldfrom
    return tuple(positions)


def _active_lanes(lanes: list[RunningThread]) -> list[RunningThread]:
    """Return lanes at operations without a mask: those at one position are the active mask."""
    groups = _groups(r for r in lanes if r.wait is not None and not r.wait.mask)
    return [r for group in groups.values() for r in _exchange(group)]


# ---- deadlock detection ------------------------------------------------------------------------


@dataclass(slots=True)
class _Snapshot:
    """Comparable copies of values; each array is hashed once."""

    hashes: dict[tuple[int, int, tuple[int, ...]], int] = field(default_factory=dict)

    def comparable_copy(self, value: Any) -> object:
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, tuple):
            return tuple(map(self.comparable_copy, value))
        if isinstance(value, (bool, int, float, complex, np.generic)):
            return type(value), repr(value)
        return id(value)

    def _array(self, array: np.ndarray[Any, Any]) -> int:
        key = (array.ctypes.data, array.nbytes, array.strides)
        if key not in self.hashes:
            self.hashes[key] = hash(array.tobytes())
        return self.hashes[key]


def _state(blocks: list[RunningBlock], memory: list[Any]) -> object:
    """Return the state of memory and threads; if it does not change, the threads are deadlocked."""
    snapshot = _Snapshot()
    arrays = [snapshot.comparable_copy(a) for a in memory]
    shared = [snapshot.comparable_copy(a) for b in blocks for a in b.memory.values()]
    threads = [_frames_state(r.coroutine, snapshot) for b in blocks for r in b.live_threads]
    return arrays, shared, threads


def _frames_state(steps: Any, snapshot: _Snapshot) -> list[object]:
    states: list[object] = []
    while steps is not None:
        frame = steps.gi_frame
        states.append(
            (frame.f_lasti, [snapshot.comparable_copy(v) for v in frame.f_locals.values()])
        )
        steps = steps.gi_yieldfrom
    return states
