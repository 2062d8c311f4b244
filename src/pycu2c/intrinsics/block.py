"""What the CPU build alone needs: the thread's number inside its block. Not for users."""

from __future__ import annotations

from pycu2c.intrinsics.c_tree import c
from pycu2c.intrinsics.machine import MACHINE
from pycu2c.intrinsics.registry import intrinsic

MOST_THREADS = 1024  # of a block, on every device


@intrinsic(
    "block.thread",
    c=lambda _a, _t: c.Name("thread"),
    is_value=True,
    varies=True,
    bounds=(0, MOST_THREADS - 1),
)
def block_thread() -> int:
    """The number of the running thread in its block, x fastest."""
    return MACHINE.current().number
