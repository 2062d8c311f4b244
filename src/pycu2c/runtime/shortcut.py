"""Launches like one before: their arguments are checked, packed and started by ``shortcut.c``.

A plan is made of a launch that has run. It says what each argument has to be for the next one to
be the same to the compiler, and where its numbers go. What a plan does not cover, it leaves to the
ordinary way, which alone makes errors. Where the C cannot be used, there are no plans.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from pycu2c import dtypes
from pycu2c.dtypes import DType
from pycu2c.parameters import Part
from pycu2c.passes.facts import INDEX32_LIMIT
from pycu2c.records import dataclass
from pycu2c.runtime.arguments import Argument, ArrayArgument
from pycu2c.runtime.configuration import HEAD, Extent
from pycu2c.runtime.runner import NUMBER, Axis, Direct
from pycu2c.types import Constant, ParameterType, Scalar, Signature, Tuple, leaf_types

Run: TypeAlias = Callable[[bytes, tuple[object, ...]], Signature | None]

# kinds of guards and the rest of the form of plans: as in shortcut.c
_ARRAY, _WHOLE, _FLOAT_OF_WHOLE, _DOUBLE_OF_WHOLE, _FLOAT_OF_DOUBLE, _DOUBLE_OF_FLOAT = range(6)
_RAW, _SAME, _TUPLE = range(6, 9)
_CONTIGUOUS, _WRITEABLE = 0x1, 0x400  # numpy's flags
_PARTS = {Part.DATA: 0, Part.SHAPE: 1, Part.STRIDE: 2, Part.VALUE: 3}
_ROW_OF_GUARD = struct.Struct("@qPPqqqqqqqq")
_EXACT = 1 << 53  # whole numbers up to it are float64s


class NoPlan(Exception):
    """A launch that is too rare for the C to know."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A launch that has run: its arguments, what they are to the kernel, what it does to them."""

    values: tuple[object, ...]
    types: tuple[ParameterType, ...]
    leaves: tuple[Argument, ...]
    written: Collection[int]  # arrays, by their leaves
    ints: Collection[int]  # leaves that are Python's ints to the kernel


@dataclass(frozen=True, slots=True)
class Place:
    """Where a plan holds: for which blocks (None: any) and how much shared memory; and how the
    grid follows from the data, where a launch leaves it open."""

    block: Extent | None
    shared_bytes: int
    lengths: tuple[Axis, ...] = ()


class Shortcuts:
    """The plans of one kernel. ``run(head, arguments)`` gives the signature of the plan that it
    ran, or None if there was none for these arguments. It alone keeps alive what plans point to:
    another thread may be in it when the kernel has gone, or has got other plans."""

    __slots__ = ("_add", "run")

    def __init__(self, run: Run, add: Callable[[bytes, object], bool]) -> None:
        self.run, self._add = run, add

    def learn(self, seen: Seen, place: Place, direct: Direct, signature: Signature) -> bool:
        """Take launches like this one from now on, if it can be done."""
        try:
            plan, held = _plan(seen, place, direct, signature)
        except NoPlan:
            return False
        return self._add(plan, held)


def _plan(seen: Seen, place: Place, direct: Direct, signature: Signature) -> tuple[bytes, object]:
    guards = list(_guards_of(seen, direct))
    fields = list(_fields(direct, seen.leaves))
    if any(axis == NUMBER and leaf not in seen.ints for leaf, axis in place.lengths):
        raise NoPlan  # the C keeps the value of Python's ints alone
    lengths = list(chain.from_iterable(place.lengths))
    words = [
        *(len(seen.values), len(guards), len(seen.leaves), len(fields)),
        HEAD.size + direct.layout.struct.size,
        *(place.block or (0, 0, 0)),
        place.shared_bytes,
        len(place.lengths),
        *(lengths + [0] * (6 - len(lengths))),
    ]
    pointers = (direct.start, direct.body, id(signature), id(direct.finished))
    head = struct.pack(f"@{len(words)}q4P", *words, *pointers)
    rows = [guard.packed() for guard in guards]
    rows += [struct.pack("@6q", *field) for field in fields]
    held = (signature, direct, direct.finished, [guard.held for guard in guards])
    return head + b"".join(rows), held


def _fields(direct: Direct, leaves: Sequence[Argument]) -> Iterator[tuple[int, ...]]:
    layout = direct.layout
    for p, offset, size in zip(layout.parameters, layout.offsets, layout.sizes):
        leaf = leaves[p.argument]
        divisor = leaf.dtype.size if isinstance(leaf, ArrayArgument) else 1
        yield _PARTS[p.part], p.argument, p.axis, HEAD.size + offset, size, divisor


# ---- guards: what an argument has to be ----------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Guard:
    """A row of a plan. ``kind_of`` is the class that the argument has, exactly."""

    kind: int
    kind_of: type
    one: object = None
    count: int = 0
    mask: int = 0
    flags: int = 0
    alignment: int = 1
    size: int = 1
    least: int = 0
    most: int = 0
    source: int = 0

    @property
    def held(self) -> tuple[type, object]:
        return self.kind_of, self.one

    @property
    def bounds(self) -> tuple[int, int, int]:
        return self.least, self.most, self.source

    def packed(self) -> bytes:
        numbers = (self.count, self.mask, self.flags, self.alignment, self.size)
        pointers = (id(self.kind_of), id(self.one))
        return _ROW_OF_GUARD.pack(self.kind, *pointers, *numbers, *self.bounds)


def _guards_of(seen: Seen, direct: Direct) -> Iterator[_Guard]:
    """A guard for each argument, those of a tuple's items after its own."""
    flat = direct.layout.parameters
    kept = {p.argument: p.type.dtype for p in flat if p.part is Part.VALUE}
    declared = [kind.dtype for kind in chain.from_iterable(map(leaf_types, seen.types))]
    leaf = 0
    for value, kind in chain.from_iterable(map(_parts, seen.values, seen.types)):
        match kind:
            case Constant():
                yield _Guard(_SAME, type(value), value)
                continue
            case Tuple(items):
                yield _Guard(_TUPLE, type(value), count=len(items))
                continue
            case Scalar():
                limit = INDEX32_LIMIT - 1 if leaf in seen.ints else None
                yield _of_number(value, kept.get(leaf, declared[leaf]), declared[leaf], limit)
            case _:
                yield _of_array(value, seen.leaves[leaf], leaf in seen.written)
        leaf += 1


def _parts(value: Any, kind: ParameterType) -> Iterator[tuple[Any, ParameterType]]:
    """A value, and those in it, depth first. (No function in here calls itself by a closure: such
    a cycle would keep arrays alive.)"""
    yield value, kind
    if isinstance(kind, Tuple):
        if not isinstance(value, tuple):
            raise NoPlan
        yield from chain.from_iterable(map(_parts, value, kind.items))


_SAME_TO_SUBCLASSES = ("__array_interface__", "dtype", "shape", "strides", "flags")


def _of_array(value: object, argument: Argument, written: bool) -> _Guard:
    assert isinstance(argument, ArrayArgument)
    kind = type(value)
    if not isinstance(value, np.ndarray) or any(
        getattr(kind, name) is not getattr(np.ndarray, name) for name in _SAME_TO_SUBCLASSES
    ):
        raise NoPlan
    return _Guard(
        _ARRAY,
        kind,
        value.dtype,
        count=value.ndim,
        mask=_CONTIGUOUS | (_WRITEABLE if written else 0),
        flags=(_CONTIGUOUS if argument.contiguous else 0) | (_WRITEABLE if written else 0),
        alignment=argument.dtype.alignment,
        size=argument.dtype.size,
    )


def _of_number(value: object, to: DType, declared: DType, limit: int | None) -> _Guard:
    """``to`` is what the kernel is passed, within the bounds of the ``declared`` type too."""
    kind = type(value)
    own = _RAW_CLASSES.get(kind)
    if limit is None and own is to:
        return _Guard(_RAW, kind)
    source = _source_of(kind, own)
    if source is not None and to.is_whole and declared.is_whole:
        rows = (to, declared)
        least = max(-(limit or 1 << 63), *(row.minimum for row in rows))
        most = min(limit or (1 << 63) - 1, *(row.maximum for row in rows))
        return _Guard(_WHOLE, kind, count=to.size, least=least, most=most, source=source)
    if source is not None and to in (dtypes.FLOAT32, dtypes.FLOAT64) and kind is not bool:
        into = _FLOAT_OF_WHOLE if to is dtypes.FLOAT32 else _DOUBLE_OF_WHOLE
        return _Guard(into, kind, least=-_EXACT, most=_EXACT, source=source)
    if own is dtypes.FLOAT64 and to is dtypes.FLOAT32:
        return _Guard(_FLOAT_OF_DOUBLE, kind, source=kind is not float)
    if own is dtypes.FLOAT32 and to is dtypes.FLOAT64:
        return _Guard(_DOUBLE_OF_FLOAT, kind)
    raise NoPlan


def _source_of(kind: type, own: DType | None) -> int | None:
    """How C reads an integer: 0 for Python's; of numpy's the bytes, negative with a sign."""
    if kind in (int, bool):
        return 0
    if own is None or not own.is_whole:
        return None
    return -own.size if own.is_signed else own.size


# classes of numbers whose bytes follow the head of the object
_RAW_CLASSES: dict[type, DType] = {
    float: dtypes.FLOAT64,
    complex: dtypes.COMPLEX128,
    **{row.numpy.type: row for row in dtypes.DTYPES if row is not dtypes.BFLOAT16},
}
