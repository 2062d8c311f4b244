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

_ITERATIONS_PER_YIELD = 64  # of loops that may busy-wait


def synchronize(intrinsic: Intrinsic, location: str) -> Callable[..., Coroutine]:
    """Return a generator function that waits for other threads, then evaluates the intrinsic."""

    wait = Wait(location, intrinsic)

    def without_arguments() -> Coroutine:
        yield wait
        return intrinsic.reference()

    def with_arguments(*positional: Any, **keywords: Any) -> Coroutine:
        values = dict(zip((name for name, _ in intrinsic.parameters), positional)) | keywords
        arguments = arguments_of(intrinsic, intrinsic.defaults | values)
        if intrinsic.effect is Effect.WARP:
            _check_lanes(intrinsic, arguments, location)
        yield Wait(location, intrinsic, tuple(arguments))
        return intrinsic.reference(*arguments)

    return with_arguments if intrinsic.parameters else without_arguments


def _check_lanes(intrinsic: Intrinsic, arguments: list[Any], location: str) -> None:
    """Check what CUDA leaves undefined: the mask includes the lane, the width divides a warp."""
    lane = REFERENCE_STATE.current().lane
    if arguments and not arguments[0] >> lane & 1:
        mask = f"{arguments[0] & ALL_LANES:#010x}"
        raise ValueError(
            f"{location}: lane {lane} gives {intrinsic.name} the mask {mask}, without itself"
        )
    if intrinsic.parameters[-1:] == (("width", "int"),) and arguments[-1] not in WIDTHS:
        raise ValueError(
            f"{location}: {intrinsic.name} takes a width of {WIDTHS}, not {arguments[-1]}"
        )


class _Skipped:
    """The result for an item that a comprehension's ``if`` excludes."""


SKIPPED = _Skipped()


def collect(
    items: Iterable[Any],
    compute_value: Callable[..., Any],
    is_unpacked: bool,
    is_nested: bool,
    stop_truth: bool | None,
) -> Coroutine:
    """Evaluate a comprehension in which threads may synchronize.

    ``is_unpacked``: an item is passed as separate arguments. ``is_nested``: each item gives a
    tuple of values. The loop ends at a value whose truth is ``stop_truth``.
    """
    values: list[Any] = []
    for item in items:
        value = compute_value(*item) if is_unpacked else compute_value(item)
        if isgenerator(value):
            value = yield from value
        if value is SKIPPED:
            continue
        item_values = value if is_nested else (value,)
        values += item_values
        if stop_truth is not None and any(bool(v) is stop_truth for v in item_values):
            break
    return tuple(values)


def is_busy_wait() -> bool:
    """Return whether a thread has run enough loop iterations to let others run."""
    thread = REFERENCE_STATE.current()
    thread.iterations = (thread.iterations + 1) % _ITERATIONS_PER_YIELD
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
