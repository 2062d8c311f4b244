"""Export products in tensor memory: ``from pycu2c.cuda import tcgen05``."""

from pycu2c.device_library.tcgen05 import (
    alloc,
    commit,
    dealloc,
    fence_after_thread_sync,
    fence_before_thread_sync,
    ld,
    mma,
)

__all__ = [
    "alloc",
    "commit",
    "dealloc",
    "fence_after_thread_sync",
    "fence_before_thread_sync",
    "ld",
    "mma",
]
