"""What is said of a launch whose threads wait for what none of them will do. Knows no machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from pycu2c.base.diagnostics import DeadlockError
from pycu2c.base.records import dataclass
from pycu2c.ops.intrinsics.reference_thread import Dim3
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic

_MOST_LINES = 8

_HINTS = {
    Effect.BARRIER: "a barrier is passed when each thread of the block has returned or waits in "
    "the same function",
    Effect.WARP: "lanes meet when each lane of the mask has returned or waits in the same "
    "function, with the same mask and type",
    Effect.CLUSTER: "the cluster's barrier is passed when each thread of its blocks has returned "
    "or waits there",
    Effect.GRID: "the grid's barrier is passed when each thread of the launch has returned or "
    "waits there",
    None: "a loop that waits for memory goes on when another thread writes what it reads",
}


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where threads meet that have no row of an intrinsic: by the name that a text has for it."""

    name: str
    effect: Effect


@dataclass(frozen=True, slots=True)
class Waiting:
    """A thread that waits. ``row`` is None for one in a loop that reads what others write;
    ``mask`` is 0 where it names no lanes."""

    block: Dim3
    thread: int
    where: str  # file:line
    row: Intrinsic | Meeting | None
    mask: int = 0

    @property
    def what(self) -> str:
        if self.row is None:
            return "in a loop for memory to change"
        lanes = f" with mask {self.mask:#010x}" if self.mask else ""
        return f"in {self.row.name}{lanes}"


def deadlock(kernel: str, waiting: Iterable[Waiting]) -> DeadlockError:
    """The error of a launch in which these threads wait, and no others are left."""
    found = sorted(waiting, key=lambda w: (w.block[::-1], w.where, w.what, w.thread))
    groups = [list(g) for _, g in groupby(found, key=lambda w: (w.block, w.where, w.what))]
    lines = [f"{kernel} would never end: no thread can go on"]
    lines += map(_line, groups[:_MOST_LINES])
    more = sum(len(group) for group in groups[_MOST_LINES:])
    lines += [f"  and {more} more threads wait"] if more else []
    effects = dict.fromkeys(w.row.effect if w.row else None for w in found)
    lines += [f"  help: {_HINTS[effect]}" for effect in effects]
    return DeadlockError("\n".join(lines))


def _line(group: Sequence[Waiting]) -> str:
    first = group[0]
    threads = ranges([w.thread for w in group])
    some, wait = ("threads", "wait") if len(group) > 1 else ("thread", "waits")
    block = ", ".join(map(str, first.block))
    return f"  block ({block}): {some} {threads} {wait} {first.what}, {first.where}"


def ranges(numbers: Sequence[int]) -> str:
    """``0-15, 20``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{r[0]}-{r[-1]}" if len(r) > 1 else f"{r[0]}" for r in runs)
