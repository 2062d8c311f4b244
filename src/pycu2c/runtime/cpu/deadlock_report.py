"""Describe the waiting threads of a deadlocked launch."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Sequence
from itertools import groupby

from pycu2c.base.records import dataclass
from pycu2c.base.source import Span
from pycu2c.ops.intrinsics.reference_thread import Dim3
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic
from pycu2c.runtime.findings import CheckKind, Coordinates, DeadlockError, Finding

_MAX_LINES = 8

_HINTS = {
    Effect.BARRIER: "a barrier is passed when each thread of the block has returned or waits in "
    "the same function",
    Effect.WARP: "a warp operation completes when each lane of the mask has returned or waits in "
    "the same function, with the same mask and type",
    Effect.CLUSTER: "the cluster's barrier is passed when each thread of its blocks has returned "
    "or waits there",
    Effect.GRID: "the grid's barrier is passed when each thread of the launch has returned or "
    "waits there",
    None: "a loop that waits for memory continues when another thread writes what it reads",
}

_KINDS: dict[Effect | None, CheckKind] = {
    Effect.BARRIER: "divergent-barrier",
    Effect.WARP: "warp-sync",
    Effect.CLUSTER: "divergent-barrier",
    Effect.GRID: "divergent-barrier",
    None: "deadlock",
}


@dataclass(frozen=True, slots=True)
class SyncPoint:
    """A synchronization point that is no intrinsic, by its name in CUDA C."""

    name: str
    effect: Effect


@dataclass(frozen=True, slots=True)
class WaitingThread:
    """A thread that waits.

    ``operation`` is None for a busy-wait loop; ``mask`` is 0 if the operation has no mask.
    """

    block: Dim3
    thread: int
    location: str  # file:line
    operation: Intrinsic | SyncPoint | None
    mask: int = 0

    @property
    def activity(self) -> str:
        if self.operation is None:
            return "in a loop for memory to change"
        lanes = f" with mask {self.mask:#010x}" if self.mask else ""
        return f"in {self.operation.name}{lanes}"


def deadlock_error(kernel: str, waiting: Iterable[WaitingThread]) -> DeadlockError:
    """Return the error of a launch in which only these threads are left, and all wait."""
    threads = sorted(waiting, key=lambda w: (w.block[::-1], w.location, w.activity, w.thread))
    groups = [list(g) for _, g in groupby(threads, key=lambda w: (w.block, w.location, w.activity))]
    lines = [f"{kernel} would never end: no thread can make progress"]
    lines += map(_line, groups[:_MAX_LINES])
    omitted = sum(len(group) for group in groups[_MAX_LINES:])
    lines += [f"  and {omitted} more threads wait"] if omitted else []
    effects = dict.fromkeys(w.operation.effect if w.operation else None for w in threads)
    lines += [f"  help: {_HINTS[effect]}" for effect in effects]
    error = DeadlockError("\n".join(lines))
    error.findings = tuple(_finding(group) for group in groups)
    return error


def _finding(group: Sequence[WaitingThread]) -> Finding:
    first = group[0]
    effect = first.operation.effect if first.operation else None
    file, _, line = first.location.rpartition(":")
    text = linecache.getline(file, int(line)).rstrip()
    indentation = len(text) - len(text.lstrip())
    span = Span(file, int(line), indentation, int(line), len(text))
    message = f"{len(group)} threads of the block wait {first.activity}"
    thread = Coordinates(first.thread, 0, 0)
    block = Coordinates(*first.block)
    return Finding(_KINDS[effect], span, message, _HINTS[effect], len(group), thread, block)


def _line(group: Sequence[WaitingThread]) -> str:
    first = group[0]
    threads = format_ranges([w.thread for w in group])
    noun, verb = ("threads", "wait") if len(group) > 1 else ("thread", "waits")
    block = ", ".join(map(str, first.block))
    return f"  block ({block}): {noun} {threads} {verb} {first.activity}, {first.location}"


def format_ranges(numbers: Sequence[int]) -> str:
    """Format sorted numbers as ``0-15, 20``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{r[0]}-{r[-1]}" if len(r) > 1 else f"{r[0]}" for r in runs)
