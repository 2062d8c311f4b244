"""Synchronization in the oracle: barriers, warp operations, busy waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import isgenerator
from typing import Any

from pycu2c.interpreter import synchronization
from pycu2c.interpreter.scheduler import Coroutine
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, bound_to
from pycu2c.ops.intrinsics.threads.clusters import this_cluster
from pycu2c.ops.intrinsics.threads.cooperative_groups import (
    this_grid,
    this_thread_block,
    tiled_partition,
)
from support.ast_interpreter.calls import arguments_of


def synchronize(intrinsic: Intrinsic, location: str) -> Callable[..., Coroutine]:
    """Return a generator function that waits for other threads, then evaluates the intrinsic."""

    def with_arguments(*positional: Any, **keywords: Any) -> Coroutine:
        values = dict(zip((name for name, _ in intrinsic.parameters), positional)) | keywords
        arguments = arguments_of(intrinsic, intrinsic.defaults | values)
        return synchronization.synchronize(intrinsic, location, *arguments)

    return with_arguments


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


def synchronizing_intrinsic(value: object) -> Intrinsic | None:
    """Return the intrinsic of an object that synchronizes threads, or None."""
    intrinsic = bound_to(value)
    return intrinsic if intrinsic is not None and intrinsic.synchronizes else None


def may_synchronize(value: object) -> bool:
    """Return whether code that names an object may synchronize threads."""
    return synchronizing_intrinsic(value) is not None or any(
        value is group for group in (this_grid, this_thread_block, tiled_partition, this_cluster)
    )


def accesses_shared_memory(value: object) -> bool:
    """Return whether threads communicate by this intrinsic."""
    intrinsic = bound_to(value)
    return intrinsic is not None and intrinsic.effect is Effect.MEMORY
