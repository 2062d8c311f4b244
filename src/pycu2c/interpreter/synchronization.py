"""Synchronization in the interpreter: barriers, warp operations, busy waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycu2c.interpreter.scheduler import Coroutine, Wait
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE, WIDTHS
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic
from pycu2c.ops.intrinsics.threads.warp import ALL_LANES

_ITERATIONS_PER_YIELD = 64  # of loops that may busy-wait


def synchronize(intrinsic: Intrinsic, location: str, *arguments: Any) -> Coroutine:
    """Wait for other threads, then evaluate the intrinsic."""
    if intrinsic.effect is Effect.WARP:
        _check_lanes(intrinsic, arguments, location)
    yield Wait(location, intrinsic, arguments)
    return intrinsic.reference(*arguments)


def _check_lanes(intrinsic: Intrinsic, arguments: Sequence[Any], location: str) -> None:
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


def is_busy_wait() -> bool:
    """Return whether a thread has run enough loop iterations to let others run."""
    thread = REFERENCE_STATE.current()
    thread.iterations = (thread.iterations + 1) % _ITERATIONS_PER_YIELD
    return not thread.iterations
