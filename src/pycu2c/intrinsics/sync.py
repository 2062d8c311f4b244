"""Where threads meet."""

from __future__ import annotations

from pycu2c.intrinsics.c_tree import c
from pycu2c.intrinsics.registry import Effect, intrinsic


@intrinsic(
    "cuda.syncthreads",
    effect=Effect.BARRIER,
    cuda=lambda _, __: c.Call("__syncthreads", ()),
)
def syncthreads() -> None:
    """Wait until every thread of the block has come here.

    What they wrote before is then visible to all of them.
    """
    # the reference interpreter and the CPU passes give each barrier its meaning
