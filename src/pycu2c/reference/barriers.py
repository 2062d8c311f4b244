"""Synchronization in the reference interpreter: barriers, warp operations, busy waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import isgenerator
from typing import Any

from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE, WIDTHS
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, bound_to
from pycu2c.ops.intrinsics.threads.clusters import this_cluster
from pycu2c.ops.intrinsics.threads.cooperative_groups import GROUPS
from pycu2c.ops.intrinsics.threads.warp import ALL_LANES
from pycu2c.reference.calls import arguments_of
from pycu2c.reference.scheduler import Coroutine, Wait

_ITERATIONS_PER_PAUSE = 64  # of loops that may busy-wait


def synchronize(intrinsic: Intrinsic, where: str) -> Callable[..., Coroutine]:
    """Return a generator function that waits for other threads, then evaluates the intrinsic."""

    wait = Wait(where, intrinsic)

    def without_arguments() -> Coroutine:
        yield wait
        return intrinsic.reference()

    def with_arguments(*positional: Any, **keywords: Any) -> Coroutine:
        values = dict(zip((name for name, _ in intrinsic.parameters), positional)) | keywords
        arguments = arguments_of(intrinsic, intrinsic.defaults | values)
        if intrinsic.effect is Effect.WARP:
            _check_lanes(intrinsic, arguments, where)
        yield Wait(where, intrinsic, tuple(arguments))
        return intrinsic.reference(*arguments)

    return with_arguments if intrinsic.parameters else without_arguments


def _check_lanes(intrinsic: Intrinsic, arguments: list[Any], where: str) -> None:
    """Check what CUDA leaves undefined: the mask includes the lane, the width divides a warp."""
    lane = REFERENCE_STATE.current().lane
    if arguments and not arguments[0] >> lane & 1:
        mask = f"{arguments[0] & ALL_LANES:#010x}"
        raise ValueError(
            f"{where}: lane {lane} gives {intrinsic.name} the mask {mask}, without itself"
        )
    if intrinsic.parameters[-1:] == (("width", "int"),) and arguments[-1] not in WIDTHS:
        raise ValueError(
            f"{where}: {intrinsic.name} takes a width of {WIDTHS}, not {arguments[-1]}"
        )


class _Skipped:
    """The result for an item that a comprehension's ``if`` excludes."""


SKIPPED = _Skipped()


def collect(
    items: Iterable[Any], make: Callable[..., Any], spread: bool, nested: bool, decides: bool | None
) -> Coroutine:
    """Evaluate a comprehension in which threads may synchronize.

    ``spread``: an item is passed as separate arguments. ``nested``: each item gives a tuple of
    values. The loop ends at a value whose truth is ``decides``.
    """
    values: list[Any] = []
    for item in items:
        value = make(*item) if spread else make(item)
        if isgenerator(value):
            value = yield from value
        if value is SKIPPED:
            continue
        new = value if nested else (value,)
        values += new
        if decides is not None and any(bool(v) is decides for v in new):
            break
    return tuple(values)


def is_busy_wait() -> bool:
    """Return whether a thread has run enough loop iterations to let others run."""
    thread = REFERENCE_STATE.current()
    thread.iterations = (thread.iterations + 1) % _ITERATIONS_PER_PAUSE
    return not thread.iterations


def synchronizing_intrinsic(value: object) -> Intrinsic | None:
    """Return the intrinsic of an object that synchronizes threads, or None."""
    intrinsic = bound_to(value)
    return intrinsic if intrinsic is not None and intrinsic.synchronizes else None


def may_synchronize(value: object) -> bool:
    """Return whether code that names an object may synchronize threads."""
    return synchronizing_intrinsic(value) is not None or any(
        value is intrinsic for intrinsic in (*GROUPS, this_cluster)
    )


def accesses_shared_memory(value: object) -> bool:
    """Return whether threads communicate by this intrinsic."""
    intrinsic = bound_to(value)
    return intrinsic is not None and intrinsic.effect is Effect.MEMORY
