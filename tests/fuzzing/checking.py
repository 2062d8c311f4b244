"""The oracle with checks: the results of a kernel, or why it is undefined.

A kernel that the language gives no meaning is Undefined, and no target is judged by it: races,
barriers that threads do not reach together, shuffles from lanes that are not there, elements
read before they are written, floats that an integer cannot hold, Python ints beyond 64 bits. This
lets the shrinker rewrite cases freely.
"""

from __future__ import annotations

import ast
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any
from unittest import mock

import numpy as np

from fuzzing.comparing import identical
from pycu2c.base import values
from pycu2c.base.source import Source
from pycu2c.base.types import WEAK_INT, Scalar, Signature
from pycu2c.interpreter import scheduler
from pycu2c.ops.intrinsics import array_reductions
from pycu2c.ops.intrinsics.library import device_source
from pycu2c.ops.intrinsics.memory import allocation
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE
from pycu2c.ops.intrinsics.registry import Effect
from pycu2c.ops.intrinsics.threads import warp
from support.ast_interpreter import elements
from support.ast_interpreter.interpreter import ReferenceKernel
from support.sample_types.comparison import check_types

SECONDS = 2.0  # of processor time that a launch may take


class Undefined(Exception):
    """The kernel has no meaning to compare with."""


class _OfFloat(int):
    """A whole number that was cut from a float."""


class _OfStrong(int):
    """A whole number that had a numpy type."""


def _truncated(value: Any) -> int:
    if isinstance(value, int):
        return value
    if isinstance(value, np.integer | np.bool_):
        return _OfStrong(value)
    if not np.isfinite(value):
        raise Undefined(f"{value} as an integer")
    return _OfFloat(value)


def _value_of(lane: int, _: Any) -> Any:
    me = REFERENCE_STATE.current()
    arguments = me.exchanged.get(me.rank - me.lane + lane)
    if arguments is None:
        raise Undefined("a shuffle takes from a lane that is not there")
    return arguments[1]


_wrap = values.wrap


def _watched_wrap(value: int, scalar: Scalar) -> int:
    if values.fits(value, scalar):
        return int(value)
    if isinstance(value, _OfFloat):
        raise Undefined(f"{value} from a float as {scalar}")
    if scalar == WEAK_INT and not isinstance(value, _OfStrong):
        raise Undefined(f"{value} is beyond 64 bits")
    return _wrap(value, scalar)


class _Watch:
    """Who has touched which element, and when."""

    def __init__(self) -> None:
        self.phases: dict[Any, int] = {}  # how many barriers each thread has passed
        self.barriers: dict[Any, Any] = {}  # where the threads of a block wait for each other
        self.readers: dict[int, set[tuple[Any, Any, int]]] = {}
        self.writers: dict[int, set[tuple[Any, Any, int]]] = {}
        self.blank: set[int] = set()  # elements of the kernel's own arrays, before a store
        self.kept: dict[int, Any] = {}  # so that no address is used twice

    def fresh(self, array: Any) -> Any:
        if id(array) not in self.kept:
            self.kept[id(array)] = array
            start = array.__array_interface__["data"][0]
            self.blank.update(range(start, start + array.nbytes, array.itemsize))
        return array

    def touched(self, owner: Any, index: Any, writes: bool) -> None:
        if not isinstance(owner, np.ndarray):
            return
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) != owner.ndim or any(isinstance(i, slice) or i is ... for i in indices):
            for address in _addresses(owner, index) if writes else ():  # to read it is no access
                self._record(address, writes)
            return
        address = owner.__array_interface__["data"][0]
        for i, length, stride in zip(indices, owner.shape, owner.strides, strict=True):
            whole = int(i)
            address += (whole + length if whole < 0 else whole) * stride
        self._record(address, writes)

    def _record(self, address: int, writes: bool) -> None:
        thread = REFERENCE_STATE.current()
        place = thread.blockIdx, thread.threadIdx
        me = (*place, self.phases.get(place, 0))
        if writes:
            self.blank.discard(address)
            self._conflicts(me, self.readers.get(address, ()))
        elif address in self.blank:
            raise Undefined("an element is read before it is written")
        self._conflicts(me, self.writers.get(address, ()))
        table = self.writers if writes else self.readers
        table.setdefault(address, set()).add(me)

    def waits(self, thread: Any, steps: Any) -> None:
        """A thread has come to a barrier: the one where the others of its block wait."""
        place = thread.blockIdx, thread.threadIdx
        phase = self.phases[place] = self.phases.get(place, 0) + 1
        here = _waiting_at(steps)
        if self.barriers.setdefault((thread.blockIdx, phase), here) != here:
            raise Undefined("threads wait at different barriers")

    def _conflicts(self, me: tuple[Any, Any, int], others: Any) -> None:
        for block, thread, phase in others:
            if (block, thread) != me[:2] and (block != me[0] or phase == me[2]):
                raise Undefined("two threads race")


def _addresses(owner: np.ndarray[Any, Any], index: Any) -> Iterator[int]:
    """Of the elements of a part of an array."""
    part = owner[elements.subscript(index)]
    if isinstance(part, np.ndarray):
        start = part.__array_interface__["data"][0]
        for place in np.ndindex(part.shape):
            yield start + sum(n * stride for n, stride in zip(place, part.strides))


class WatchedKernel(ReferenceKernel):
    """A kernel of the oracle that raises Undefined where the language says nothing."""

    watch: _Watch

    def _callee(self, value: object, node: Any, source: Source) -> tuple[Callable[..., Any], bool]:
        function, waits = super()._callee(value, node, source)
        if value in (allocation.local_array, allocation.shared_array):
            return (lambda *a, **k: self.watch.fresh(function(*a, **k))), waits
        return function, waits


def _waiting_at(steps: Any) -> tuple[int, ...]:
    """The lines of the generators that stand still, from the kernel inwards."""
    lines = []
    while steps is not None and hasattr(steps, "gi_frame"):
        lines.append(steps.gi_frame.f_lineno)
        steps = steps.gi_yieldfrom
    return tuple(lines)


def run_reference(
    source: Source,
    signature: Signature,
    extents: tuple[Any, Any],
    arguments: Any,
) -> None:
    """Run a launch; arrays are changed in place. Raises Undefined."""
    watch = _Watch()
    load, store = elements.load, elements.store
    resume = scheduler.RunningThread.resume

    def watched_load(owner: Any, index: Any, where: str) -> Any:
        value = load(owner, index, where)
        watch.touched(owner, index, False)
        return value

    def watched_store(array: Any, index: Any, value: Any, where: str) -> None:
        store(array, index, value, where)
        watch.touched(array, index, True)

    def watched_resume(running: scheduler.RunningThread) -> None:
        resume(running)
        intrinsic = running.wait.intrinsic if running.wait is not None else None
        if intrinsic is not None and intrinsic.effect is Effect.BARRIER:
            watch.waits(running.thread, running.coroutine)

    patches = (
        mock.patch.object(elements, "load", watched_load),
        mock.patch.object(elements, "store", watched_store),
        mock.patch.object(values, "_truncated", _truncated),
        mock.patch.object(values, "wrap", _watched_wrap),
        mock.patch.object(warp, "_value_of", _value_of),
    )
    running = mock.patch.object(scheduler.RunningThread, "resume", watched_resume)
    with patches[0], patches[1], running:
        inferred = check_types(source, signature.parameters)
        kernel = WatchedKernel(source, inferred, signature.parameters, device_source)
        kernel.watch = watch
        with patches[2], patches[3], patches[4], limited(SECONDS):
            before = [value.copy() for value in arguments if isinstance(value, np.ndarray)]
            try:
                kernel.launch(*extents, 0, arguments)
            except (IndexError, RecursionError) as error:
                raise Undefined(str(error)) from error
    if reads_whole_arrays(source.tree):
        after = [value for value in arguments if isinstance(value, np.ndarray)]
        for old, new in list(zip(before, after))[:-1]:  # each thread has its element of the last
            if not identical(old, new).all():
                raise Undefined("a whole array is read, and other threads may write its elements")


def reads_whole_arrays(function: ast.AST) -> bool:
    """Whether a kernel reads arrays by ``flat`` or reductions, whose reads are not watched."""
    names = {"flat", *array_reductions.METHODS, *array_reductions.REDUCTIONS}
    return any(isinstance(n, ast.Attribute) and n.attr in names for n in ast.walk(function))


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise Undefined if Python takes more processor time."""

    def ring(signum: int, frame: FrameType | None) -> None:
        raise Undefined("it runs for too long")

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
