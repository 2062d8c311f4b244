"""Fences, atomic operations, and barriers of the grid and the cluster: device functions.

They order accesses of different blocks. A fence stores a release in the state of the thread. A
later atomic operation stores this release in the sync words of its element: one for the device and
one for the block. An atomic operation that finds a release there acquires it for the thread, and
after the next barrier for its block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.checks.device_functions.block_clocks import (
    ATTEMPTS,
    CLUSTER,
    ENTRIES,
    GRID,
    JOINED,
    LAST_FENCE,
    UNTRACKED,
    VERSIONS,
    acquire,
    acquire_row,
    has_entries,
    join,
    own_word,
    settle,
)
from pycu2c.checks.device_functions.releases import (
    ACQUIRED_BY_WARPS,
    BY_WARP,
    EVERYTHING,
    HAS_READS,
    MAX_VERSION,
    RELEASE_EPOCH,
    RELEASE_WARP_EPOCH,
    RELEASER,
    VALID,
    VERSION,
    acquire_epoch_of,
    acquirer_of,
    fence_fields,
    merge,
    release_epoch_of,
)
from pycu2c.checks.device_functions.shadow_words import (
    BLOCK_FENCE,
    CELL_WORDS,
    CLUSTER_BARRIERS,
    DEVICE_FENCE,
    GRID_BARRIERS,
    HAS_ACCESSED,
    HAS_LANE_CLOCK,
    IN_CONVERGED_WARP,
    MAX_BLOCKS,
    MAX_EPOCH,
    MAX_WARP_EPOCH,
    NOW,
    advance_warp_epoch,
    epoch_of,
    thread_of,
    warp_epoch_of,
)
from pycu2c.checks.device_functions.thread_indices import block_index, block_of_rank

OF_DEVICE, OF_BLOCK = 0, 1  # the sync words of an element


def record_fence(state: Any, clocks: Any, own: Any, is_of_device: Any) -> Any:
    """Store the release of a fence in the state of the thread."""
    warp_epoch = np.uint64(MAX_WARP_EPOCH)
    if state[HAS_LANE_CLOCK] == 0:
        if state[HAS_ACCESSED] != 0:
            advance_warp_epoch(state)
            state[HAS_ACCESSED] = 0
        warp_epoch = warp_epoch_of(state[NOW])
    count = warp_epoch << RELEASE_WARP_EPOCH | state[IN_CONVERGED_WARP] << BY_WARP
    time = epoch_of(state[NOW]) << RELEASE_EPOCH | np.uint64(1) << VALID
    state[BLOCK_FENCE] = time | thread_of(state[NOW]) << RELEASER | count
    if is_of_device != 0:
        state[DEVICE_FENCE] = state[BLOCK_FENCE]
        join(clocks, own, LAST_FENCE, state[BLOCK_FENCE], state)
    return False


def device_release(clocks: Any, state: Any) -> Any:
    """Return what fences of the thread, or those of others before a barrier, make visible.

    Reads before the barrier need no fence.
    """
    release, epoch = state[DEVICE_FENCE], epoch_of(state[NOW])
    pending = own_word(clocks, LAST_FENCE + 1)
    threads = acquirer_of(pending) ^ thread_of(state[NOW])
    is_earlier = acquire_epoch_of(pending) != epoch
    is_of_warp = pending >> ACQUIRED_BY_WARPS & 1 != 0 or threads < 32
    release = merge(release, own_word(clocks, LAST_FENCE))
    if is_earlier or (is_of_warp and state[IN_CONVERGED_WARP] != 0):
        release = merge(release, fence_fields(pending))
    if release != 0 and release_epoch_of(release) != epoch:
        release |= np.uint64(1) << HAS_READS
    return release


def synchronize(sync: Any, state: Any, clocks: Any, own: Any, releases: Any) -> Any:
    """Acquire, and if ``releases`` then release, by an element with these sync words."""
    block = np.uint64(block_index() % MAX_BLOCKS)
    of_block = cuda.ldcv(sync, OF_BLOCK)
    if of_block & (MAX_BLOCKS - 1) == block:
        acquire(clocks, own, of_block, state)
    acquire(clocks, own, cuda.ldcv(sync, OF_DEVICE), state)
    if releases == 0:
        return False
    fenced = state[BLOCK_FENCE]
    if fenced != 0 and release_epoch_of(fenced) == epoch_of(state[NOW]):
        store_release(sync, OF_BLOCK, fenced | block, state, clocks, own)
    release = device_release(clocks, state)
    if release != 0:
        store_release(sync, OF_DEVICE, release | block, state, clocks, own)
    return False


def store_release(sync: Any, scope: Any, release: Any, state: Any, clocks: Any, own: Any) -> Any:
    """Store a release in a sync word, after the earlier release has been acquired."""
    for _ in range(ATTEMPTS):
        earlier = cuda.ldcv(sync, scope)
        if scope == OF_DEVICE or (earlier ^ release) & (MAX_BLOCKS - 1) == 0:
            acquire(clocks, own, earlier, state)
        version = own_word(clocks, VERSIONS) & MAX_VERSION
        new = release | version << VERSION
        if new == earlier or cuda.atomic.cas(sync, scope, earlier, new) == earlier:
            return False
    cuda.atomic.exch(sync, scope, EVERYTHING)
    return False


def synchronize_element(shadow: Any, state: Any, clocks: Any, own: Any, releases: Any) -> Any:
    """Acquire and release by an element with a shadow."""
    return synchronize(shadow[CELL_WORDS:], state, clocks, own, releases)


def synchronize_untracked(state: Any, clocks: Any, own: Any, releases: Any) -> Any:
    """Acquire and release by an element without a shadow."""
    return synchronize(clocks[0, UNTRACKED : UNTRACKED + 2], state, clocks, own, releases)


def record_grid_barrier(state: Any, clocks: Any, own: Any) -> Any:
    """Store the count of a barrier of the grid, and the epoch of the block after it."""
    state[GRID_BARRIERS] += 1
    passed = state[GRID_BARRIERS] << 10 | epoch_of(state[NOW])
    cuda.atomic.exch(own, GRID, passed)
    return False


def arrive_at_cluster_barrier(state: Any, clocks: Any, own: Any) -> Any:
    """Store the count of a barrier of the cluster, and the epoch of the block before it."""
    state[CLUSTER_BARRIERS] += 1
    column = CLUSTER + int(state[CLUSTER_BARRIERS] & 1)
    reached = state[CLUSTER_BARRIERS] << 10 | min(epoch_of(state[NOW]) + 1, MAX_EPOCH)
    cuda.atomic.exch(own, column, reached)
    return False


def join_cluster_clocks(state: Any, clocks: Any, own: Any, extents: Any) -> Any:
    """Join the rows of the blocks of the cluster, after a barrier that is counted.

    A block without threads has reached no barrier, and is ordered.
    """
    row, count = block_index(), state[CLUSTER_BARRIERS]
    if has_entries(clocks) and own_word(clocks, JOINED) != count:
        for rank in range(extents[0] * extents[1] * extents[2]):
            other = block_of_rank(rank, extents)
            reached = cuda.ldcv(clocks, (other, CLUSTER + int(count & 1)))
            epoch = reached & MAX_EPOCH if reached >> 10 == count else np.uint64(MAX_EPOCH)
            if other != row:
                acquire_row(clocks, own, other, state)
                release = epoch << RELEASE_EPOCH | np.uint64(1) << VALID
                settle(clocks, own, ENTRIES + 2 * other, release)
        cuda.atomic.add(own, VERSIONS, 1)
        cuda.atomic.exch(own, JOINED, count)
    return record_fence(state, clocks, own, np.uint64(1))
