"""Cooperative groups of ``cupyx.jit.cg``: those of ``pycu2c.cuda.cg``, and collective functions."""

from __future__ import annotations

from typing import Any

from pycu2c.kernels.kernel import device
from pycu2c.ops.names.cuda_namespace import CUDA


@device
def sync(group: Any) -> None:
    """Wait until all threads of the group have reached the barrier."""
    group.sync()


@device
def memcpy_async(
    group: Any, dst: Any, dst_index: Any, src: Any, src_index: Any, size: Any, aligned_size: Any = 1
) -> None:
    """Copy ``size`` bytes between arrays of one dtype; the group calls ``wait`` to complete it.

    The indices count elements. The threads of the group copy the elements themselves.
    ``aligned_size`` is ignored.
    """
    count = size // dst.dtype.itemsize
    for k in range(group.thread_rank(), count, group.size()):
        dst[dst_index + k] = src[src_index + k]


@device
def wait(group: Any) -> None:
    """Wait until all copies of the group are complete."""
    group.sync()


@device
def wait_prior(group: Any, count: Any) -> None:
    """Wait until the copies of the group are complete, except the last ``count`` ones."""
    group.sync()


def __dir__() -> list[str]:
    return sorted({*dir(CUDA.cg), "memcpy_async", "sync", "wait", "wait_prior"})


def __getattr__(name: str) -> Any:
    return getattr(CUDA.cg, name)
