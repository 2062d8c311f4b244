"""Releases: device functions in the kernel language.

A release is a word for what a fence makes visible. It has the epoch and the warp epoch of the
fence, and the thread; for the accesses of a block, it is what an epoch of FastTrack is for those of
a thread. The bits below ``RELEASE_WARP_EPOCH`` are for the owner of the word. In a sync word, these
are the block, and from ``VERSION`` on how many releases it had acquired. In a pending entry of
``block_clocks``, they are the thread and the epoch of the acquisition.

What does not fit counts as released. Source: FastTrack (Flanagan and Freund, PLDI 2009).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c.checks.device_functions.shadow_words import (
    ATOMIC,
    IN_CONVERGED_WARP,
    MAX_EPOCH,
    MAX_THREAD,
    MAX_WARP_EPOCH,
    NOW,
    epoch_of,
    thread_of,
    warp_epoch_of,
)

ACQUIRED_BY_LANES, ACQUIRED_BY_WARPS, ACQUIRE_EPOCH, VERSION = 10, 11, 12, 22
RELEASE_WARP_EPOCH, BY_WARP, RELEASER, HAS_READS, BY_THREADS = 33, 39, 40, 50, 51
RELEASE_EPOCH, VALID = 52, 62
MAX_VERSION = 2047
COUNT_BITS = (1 << RELEASER) - (1 << RELEASE_WARP_EPOCH)
EVERYTHING = (1 << 63) - 1  # is acquired where a release is lost


def releaser_of(release: Any) -> Any:
    return release >> RELEASER & MAX_THREAD


def release_epoch_of(release: Any) -> Any:
    return release >> RELEASE_EPOCH & MAX_EPOCH


def acquirer_of(pending: Any) -> Any:
    return pending & MAX_THREAD


def acquire_epoch_of(pending: Any) -> Any:
    return pending >> ACQUIRE_EPOCH & MAX_EPOCH


def fence_fields(word: Any) -> Any:
    """Return a release without the bits of its owner."""
    return word >> RELEASE_WARP_EPOCH << RELEASE_WARP_EPOCH


def merge(a: Any, b: Any) -> Any:
    """Return the join of two releases of one block."""
    if a >> RELEASE_EPOCH != b >> RELEASE_EPOCH:
        return max(a, b)
    count = max(a & COUNT_BITS, b & COUNT_BITS)
    latest = max(a, b) >> RELEASER << RELEASER | (a | b) & (1 << HAS_READS) | count
    return latest if releaser_of(a) == releaser_of(b) else latest | 1 << BY_THREADS


def precedes(word: Any, release: Any, is_read: Any) -> Any:
    """Return whether an access happens before a release."""
    epoch, accessed = release_epoch_of(release), epoch_of(word)
    if release == 0 or accessed != epoch:
        return release != 0 and accessed < epoch
    if is_read and release >> HAS_READS & 1 != 0:
        return True
    threads = releaser_of(release) ^ thread_of(word)
    is_any, in_warp = release >> BY_THREADS & 1 != 0, release >> BY_WARP & 1 != 0
    if threads != 0 and (in_warp or not is_any):
        return in_warp and (is_any or threads < 32)
    released = release >> RELEASE_WARP_EPOCH & MAX_WARP_EPOCH
    warp_epoch = warp_epoch_of(word)
    is_atomic = word >> ATOMIC & 1 != 0
    is_equal = warp_epoch == released
    return warp_epoch < released or released == MAX_WARP_EPOCH or (is_atomic and is_equal)


def applies_to_thread(pending: Any, state: Any) -> Any:
    """Return whether the thread is ordered after the one that acquired a release."""
    epoch = epoch_of(state[NOW])
    if acquire_epoch_of(pending) != epoch or epoch == MAX_EPOCH:
        return True
    threads = acquirer_of(pending) ^ thread_of(state[NOW])
    if pending >> ACQUIRED_BY_WARPS & 1 != 0 or threads == 0:
        return True
    return threads < 32 and (pending >> ACQUIRED_BY_LANES & 1 != 0 or state[IN_CONVERGED_WARP] != 0)


def with_acquirer(pending: Any, release: Any, state: Any) -> Any:
    """Return a pending release after the thread has acquired another one of the same block."""
    thread, epoch = thread_of(state[NOW]), epoch_of(state[NOW])
    if pending == 0 or acquire_epoch_of(pending) != epoch:
        return release | thread | epoch << ACQUIRE_EPOCH
    acquirers = np.uint64(0)
    if acquirer_of(pending) != thread:
        in_warp = acquirer_of(pending) ^ thread < 32
        acquirers |= 1 << (ACQUIRED_BY_LANES if in_warp else ACQUIRED_BY_WARPS)
    version = release & (MAX_VERSION << VERSION)
    merged = merge(fence_fields(pending), fence_fields(release))
    return merged | version | pending & ((1 << VERSION) - 1) | acquirers
