"""Launches like one before: their arguments are checked, packed and started by C (``plan.c``).

A plan is made of a launch that has run. It says what each argument has to be for the next one to
be the same to the compiler, and where its numbers go. What a plan does not cover, it leaves to the
ordinary way, which alone makes errors. Where the C cannot be used, there are no plans.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from pycu2c.base.parameters import ArgumentPart
from pycu2c.base.records import dataclass
from pycu2c.base.types import Signature
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument
from pycu2c.runtime.direct_launch import Direct, Room
from pycu2c.runtime.launch_configuration import HEAD, Extent
from pycu2c.runtime.plans import guards
from pycu2c.runtime.runner import ANY_NUMBER, NUMBER, Axis

Run: TypeAlias = Callable[[bytes, object, tuple[object, ...]], bool]

_PARTS = {
    ArgumentPart.DATA: 0,
    ArgumentPart.SHAPE: 1,
    ArgumentPart.STRIDE: 2,
    ArgumentPart.VALUE: 3,
}  # as in plan.c


@dataclass(frozen=True, slots=True)
class Place:
    """Where a plan holds: for which blocks (None: any) and how much shared memory; how the grid
    follows from the data, where a launch leaves it open: of whole clusters; and for how many
    blocks, from and below."""

    block: Extent | None
    shared_bytes: int
    lengths: tuple[Axis, ...] = ()
    cluster: tuple[int, ...] = ()
    numbers: tuple[int, int] = ANY_NUMBER
    read: tuple[int, ...] = ()  # leaves whose elements are read, each before
    written: tuple[int, ...] = ()  # that of these at its place is written


@dataclass(frozen=True, slots=True)
class Table:
    """The C's plans of one kernel, and functions on them. ``run(call, stream, arguments)`` says
    whether a launch has run by one of them; ``latest()`` the signature of the one that ran last,
    once.

    The C's table alone keeps alive what plans point to: another thread may be in it when the
    kernel has gone, or has got other plans."""

    table: object
    run: Run
    add: Callable[[bytes, object], bool]
    latest: Callable[[], Signature | None]


class Plans:
    """The plans of one kernel."""

    __slots__ = ("_add", "_full", "_known", "_tries", "latest", "run", "table")

    def __init__(self, made: Table) -> None:
        self.table, self.run, self._add, self.latest = made.table, made.run, made.add, made.latest
        self._known: set[tuple[object, ...]] = set()
        self._full, self._tries = False, 0

    def is_time(self) -> bool:
        """Whether to try to learn of a launch: more and more rarely while it is in vain."""
        self._tries += 1
        return not self._full and not self._tries & (self._tries - 1)

    def learn(self, seen: guards.Seen, place: Place, direct: Direct, signature: Signature) -> bool:
        """Take launches like this one from now on, if it can be done."""
        try:
            form = _form(seen, place, direct)
        except guards.NoPlan:
            return False
        known = place, signature, direct.context, form.rows
        if known in self._known:  # there was another reason for the ordinary way
            return False
        self._known.add(known)
        current, context = direct.context or (0, 0)
        pointers = (direct.start, direct.body, current, context, id(signature), id(direct.finished))
        room = form.room.address if form.room else 0
        plan = form.words + struct.pack("@7P", *pointers, room) + form.rows
        added = self._add(plan, (signature, direct, direct.finished, form.held, form.room))
        self._full, self._tries = not added, 0
        return added


@dataclass(frozen=True, slots=True)
class _Form:
    """The parts of a plan: before and after the addresses of what it starts. ``room``: where arrays
    of the host have copies for a device."""

    words: bytes
    rows: bytes
    held: list[tuple[object, ...]]
    room: Room | None


def _form(seen: guards.Seen, place: Place, direct: Direct) -> _Form:
    hosts = guards.copied_of(seen) if direct.context else []
    room = direct.room() if hosts and direct.room else None
    if hosts and not room:
        raise guards.NoPlan
    guarded = list(guards.guards_of(seen, direct.layout, direct.context is not None))
    start = 0 if direct.context else HEAD.size
    fields = list(_fields(direct, seen.leaves, start))
    if any(axis == NUMBER and leaf not in seen.limits for leaf, axis in place.lengths):
        raise guards.NoPlan  # the C keeps the value only of those
    lengths = list(chain.from_iterable(place.lengths))
    size = direct.layout.struct.size
    words = [
        *(len(seen.values), len(guarded), len(seen.leaves), len(fields)),
        start + size,
        sum(direct.layout.sizes) != size,
        *(place.block or (0, 0, 0)),
        place.shared_bytes,
        len(place.lengths),
        *(lengths + [0] * (6 - len(lengths))),
        *(place.cluster or (1, 1, 1)),
        *place.numbers,
        sum(1 << leaf for leaf in place.read),
        sum(1 << leaf for leaf in place.written),
        sum(1 << leaf for leaf in hosts),
        sum(1 << leaf for leaf in hosts if leaf in seen.written),
    ]
    rows = [guard.packed() for guard in guarded]
    rows += [struct.pack("@6i", *field) for field in fields]
    held = [guard.held for guard in guarded]
    return _Form(struct.pack(f"@{len(words)}q", *words), b"".join(rows), held, room)


def _fields(direct: Direct, leaves: Sequence[Argument], start: int) -> Iterator[tuple[int, ...]]:
    layout = direct.layout
    for p, offset, size in zip(layout.parameters, layout.offsets, layout.sizes):
        leaf = leaves[p.argument]
        divisor, axis = 1, p.axis
        if isinstance(leaf, ArrayArgument):
            divisor = leaf.dtype.size
            axis = len(leaf.shape) if p.part is ArgumentPart.DATA else p.axis
        yield _PARTS[p.part], p.argument, axis, start + offset, size, divisor
