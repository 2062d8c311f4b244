"""Order of accesses by fences, atomic operations, and barriers of the grid and the cluster.

Device functions in the kernel language. Each block has a vector clock: a row of the array ``order``
with one entry for each block, which tells what accesses of that block are ordered before later ones
of its own. Entries are *releases*, words that tell a time of a block, and who reached it.

A thread that executes a fence notes its time. An atomic operation after it stores this release in
the sync words of the element. An atomic operation that finds a release there joins it, and the row
of the releasing block, to the row of its own block. Two words of an entry do this without loss: the
pending release holds for the acquiring thread, and after the next barrier for its block; then it is
merged with the settled one.

What does not fit is taken as ordered. Source: FastTrack (Flanagan and Freund, PLDI 2009) compares
such epochs of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.checks.device_functions.shadow_words import (
    ATOMIC,
    BLOCK,
    BY_LANES,
    CLUSTER_BARRIERS,
    EPOCH,
    FENCED,
    FENCED_DEVICE,
    GRID_BARRIERS,
    HAS_ACCESSED,
    HAS_CONVERGED,
    LANES,
    MAX_BLOCKS,
    MAX_EPOCH,
    MAX_WARP,
    NOW,
    SEVERAL,
    THREAD,
    WARP,
    block_index,
    block_of_rank,
    count_operation,
    epoch_of,
    operations_of,
)

# ---- a release: from the bit VERSION on; below are the block, or the fields of a pending one ----
ACQUIRER, ANY_LANE, ANY_ACQUIRER, ACQUIRER_EPOCH, VERSION = 0, 10, 11, 12, 22
R_OPERATIONS, IN_WARP, R_THREAD, READS, ANY_THREAD, R_EPOCH, VALID = 33, 39, 40, 50, 51, 52, 62
MAX_VERSION = 2047
COUNT_BITS = (1 << R_THREAD) - (1 << R_OPERATIONS)
EVERYTHING = (1 << 63) - 1  # is acquired where a release is lost

# ---- a row of ``order``; the first one has the sync words of all elements without shadows ----
GRID, VERSIONS, ACQUIRED, IS_ORDERED, UNKNOWN, LAST_FENCE, CLUSTER, JOINED, ENTRIES = (
    *(0, 1, 2, 3, 4, 6, 8, 10),
    11,
)
SYNC = 2  # the first sync word of a shadow: a release for the device, and one for the block
WORDS = 4
ATTEMPTS = 32  # to change a word that other threads change, too: no loop that waits for them


def has_clocks(order: Any) -> Any:
    """Return whether rows have an entry for each block, not only for the own one."""
    return order.shape[1] == ENTRIES + 2 * order.shape[0]


def entry_of(order: Any, block: Any) -> Any:
    """Return the column of the settled release of a block; the pending one is the next."""
    return ENTRIES + 2 * block if has_clocks(order) else ENTRIES


def own_word(order: Any, column: Any) -> Any:
    """Return a word of the own row, which other threads of the block may change."""
    return cuda.ldcv(order, (block_index(), column))


def take_as_ordered(own: Any) -> Any:
    """Take all accesses as ordered before those of the own block from now on; return False."""
    if cuda.atomic.exch(own, IS_ORDERED, 1) == 0:
        cuda.atomic.add(own, VERSIONS, 1)
    return False


# ---- releases ----------------------------------------------------------------------------------


def fields(word: Any) -> Any:
    """Return a release without its version, and without what is below."""
    return word >> R_OPERATIONS << R_OPERATIONS


def merge(a: Any, b: Any) -> Any:
    """Return a release that covers what two releases of one block do."""
    if a >> R_EPOCH != b >> R_EPOCH:
        return max(a, b)
    count = max(a & COUNT_BITS, b & COUNT_BITS)
    latest = max(a, b) >> R_THREAD << R_THREAD | (a | b) & (1 << READS) | count
    return latest if (a ^ b) >> R_THREAD & 1023 == 0 else latest | 1 << ANY_THREAD


def covers(release: Any, word: Any, is_read: Any) -> Any:
    """Return whether an access is one of those that a release makes visible."""
    epoch, accessed = release >> R_EPOCH & MAX_EPOCH, word >> EPOCH & MAX_EPOCH
    if release == 0 or accessed != epoch:
        return release != 0 and accessed < epoch
    if is_read and release >> READS & 1 != 0:
        return True
    threads = (release >> R_THREAD ^ word >> THREAD) & 1023
    is_any, in_warp = release >> ANY_THREAD & 1 != 0, release >> IN_WARP & 1 != 0
    if threads != 0 and (in_warp or not is_any):
        return in_warp and (is_any or threads < 32)
    operations = release >> R_OPERATIONS & MAX_WARP
    count = word >> WARP & MAX_WARP
    is_atomic = word >> ATOMIC & 1 != 0
    return count < operations or operations == MAX_WARP or (is_atomic and count == operations)


def holds_for_thread(pending: Any, clock: Any) -> Any:
    """Return whether the thread is ordered after the one that acquired a release."""
    epoch = epoch_of(clock)
    if pending >> ACQUIRER_EPOCH & MAX_EPOCH != epoch or epoch == MAX_EPOCH:
        return True
    threads = (pending ^ clock[NOW] >> THREAD) & 1023
    if pending >> ANY_ACQUIRER & 1 != 0 or threads == 0:
        return True
    return threads < 32 and (pending >> ANY_LANE & 1 != 0 or clock[HAS_CONVERGED] != 0)


# ---- entries -----------------------------------------------------------------------------------


def settle(order: Any, own: Any, column: Any, release: Any) -> Any:
    """Merge a release with a settled one of the own block's row; return False."""
    is_done = has_settled(order, own, column, release)
    if not is_done:
        for _ in range(ATTEMPTS):
            if not is_done:
                is_done = has_settled(order, own, column, release)
        if not is_done:
            take_as_ordered(own)
    return False


def has_settled(order: Any, own: Any, column: Any, release: Any) -> Any:
    settled = own_word(order, column)
    merged = merge(settled, release)
    return merged == settled or cuda.atomic.cas(own, column, settled, merged) == settled


def joined(pending: Any, release: Any, clock: Any) -> Any:
    """Return a pending release after the thread has acquired another one of the same block."""
    thread, epoch = clock[NOW] >> THREAD & 1023, epoch_of(clock)
    if pending == 0 or pending >> ACQUIRER_EPOCH & MAX_EPOCH != epoch:
        return release | thread | epoch << ACQUIRER_EPOCH
    several = np.uint64(0)
    if pending & 1023 != thread:
        several |= 1 << (ANY_LANE if (pending ^ thread) & 1023 < 32 else ANY_ACQUIRER)
    version = release & (MAX_VERSION << VERSION)
    merged = merge(fields(pending), fields(release))
    return merged | version | pending & ((1 << VERSION) - 1) | several


def join(order: Any, own: Any, column: Any, release: Any, clock: Any) -> Any:
    """Add a release, which the thread has acquired, to an entry of its block; return False."""
    is_done = has_joined(order, own, column, release, clock)
    if not is_done:
        for _ in range(ATTEMPTS):
            if not is_done:
                is_done = has_joined(order, own, column, release, clock)
        if not is_done:
            take_as_ordered(own)
    return False


def has_joined(order: Any, own: Any, column: Any, release: Any, clock: Any) -> Any:
    pending = own_word(order, column + 1)
    if pending != 0 and pending >> ACQUIRER_EPOCH & MAX_EPOCH != epoch_of(clock):
        settle(order, own, column, fields(pending))
    new = joined(pending, release, clock)
    return new == pending or cuda.atomic.cas(own, column + 1, pending, new) == pending


def acquire(order: Any, own: Any, word: Any, clock: Any) -> Any:
    """Take what a release tells as ordered before what the thread does from now on; return False.

    That is also what the releasing block has acquired itself.
    """
    if word == 0:
        return False
    other = int(word & (MAX_BLOCKS - 1))
    is_own = other == block_index()
    if word == EVERYTHING:
        return take_as_ordered(own)
    if not is_own and not has_clocks(order):
        return False
    cuda.atomic.exch(own, ACQUIRED, epoch_of(clock) + 1)
    release, column = word >> VERSION << VERSION, entry_of(order, other)
    threads = (release >> R_THREAD ^ clock[NOW] >> THREAD) & 1023
    if is_own and threads == 0 and release >> ANY_THREAD & 1 == 0:
        return False
    pending = own_word(order, column + 1)
    if joined(pending, release, clock) == pending:
        return False
    acquire_row(order, own, other, clock)
    join(order, own, column, release, clock)
    cuda.atomic.add(own, VERSIONS, 1)
    return False


def acquire_row(order: Any, own: Any, other: Any, clock: Any) -> Any:
    """Join the row of a block to that of the own one; return False.

    In the own row, releases that other threads have acquired become acquired by several threads.
    """
    if cuda.ldcv(order, (other, IS_ORDERED)) != 0:
        return take_as_ordered(own)
    count = order.shape[0] if has_clocks(order) else 1
    for block in range(count):
        column = ENTRIES + 2 * block
        settled = cuda.ldcv(order, (other, column))
        release = merge(settled, fields(cuda.ldcv(order, (other, column + 1))))
        if release != 0:
            join(order, own, column, release, clock)
    return False


def is_ordered(word: Any, clock: Any, is_read: Any, order: Any, own: Any) -> Any:
    """Return whether an access is ordered before what the thread does now, though no barrier is."""
    other, accessed = int(word >> BLOCK & (MAX_BLOCKS - 1)), word >> EPOCH & MAX_EPOCH
    if own_word(order, IS_ORDERED) != 0:
        return True
    if other != block_index():
        if not has_clocks(order) or accessed == MAX_EPOCH:
            return True
        barriers, passed = clock[GRID_BARRIERS], cuda.ldcv(order, (other, GRID))
        if barriers != 0 and (passed >> 10 < barriers or accessed < passed & MAX_EPOCH):
            return True
    elif word >> SEVERAL & 1 != 0 or (is_read and word >> LANES != 0):
        # the other readers are not known
        return own_word(order, ACQUIRED) == epoch_of(clock) + 1
    column = entry_of(order, other)
    if covers(own_word(order, column), word, is_read):
        return True
    pending = own_word(order, column + 1)
    return covers(fields(pending), word, is_read) and holds_for_thread(pending, clock)


# ---- operations --------------------------------------------------------------------------------


def pass_fence(clock: Any, order: Any, own: Any, is_of_device: Any) -> Any:
    """Note what a fence makes visible; return False."""
    if clock[HAS_ACCESSED] != 0 and clock[BY_LANES] == 0:
        count_operation(clock)
        clock[HAS_ACCESSED] = 0
    operations = operations_of(clock) if clock[BY_LANES] == 0 else np.uint64(MAX_WARP)
    count = operations << R_OPERATIONS | clock[HAS_CONVERGED] << IN_WARP
    thread = clock[NOW] >> THREAD & 1023
    time = epoch_of(clock) << R_EPOCH | np.uint64(1) << VALID
    clock[FENCED] = time | thread << R_THREAD | count
    if is_of_device != 0:
        clock[FENCED_DEVICE] = clock[FENCED]
        join(order, own, LAST_FENCE, clock[FENCED], clock)
    return False


def device_release(order: Any, clock: Any) -> Any:
    """Return what fences of the thread, or those of others before a barrier, make visible.

    Reads before the barrier need no fence.
    """
    release, epoch = clock[FENCED_DEVICE], epoch_of(clock)
    pending = own_word(order, LAST_FENCE + 1)
    threads = (pending ^ clock[NOW] >> THREAD) & 1023
    is_earlier = pending >> ACQUIRER_EPOCH & MAX_EPOCH != epoch
    is_of_warp = pending >> ANY_ACQUIRER & 1 != 0 or threads < 32
    release = merge(release, own_word(order, LAST_FENCE))
    if is_earlier or (is_of_warp and clock[HAS_CONVERGED] != 0):
        release = merge(release, fields(pending))
    if release != 0 and release >> R_EPOCH & MAX_EPOCH != epoch:
        release |= np.uint64(1) << READS
    return release


def synchronize(sync: Any, clock: Any, order: Any, own: Any, releases: Any) -> Any:
    """Acquire, and if ``releases`` then release, by an element with these sync words.

    Return False.
    """
    block = np.uint64(block_index() % MAX_BLOCKS)
    of_block = cuda.ldcv(sync, 1)
    if of_block & (MAX_BLOCKS - 1) == block:
        acquire(order, own, of_block, clock)
    acquire(order, own, cuda.ldcv(sync, 0), clock)
    if releases == 0:
        return False
    fenced = clock[FENCED]
    if fenced != 0 and fenced >> R_EPOCH & MAX_EPOCH == epoch_of(clock):
        put(sync, 1, fenced | block, clock, order, own)
    release = device_release(order, clock)
    if release != 0:
        put(sync, 0, release | block, clock, order, own)
    return False


def put(sync: Any, position: Any, release: Any, clock: Any, order: Any, own: Any) -> Any:
    """Store a release in a sync word, after what is there has been acquired; return False."""
    is_done = False
    for _ in range(ATTEMPTS):
        if not is_done:
            earlier = cuda.ldcv(sync, position)
            if position == 0 or (earlier ^ release) & (MAX_BLOCKS - 1) == 0:
                acquire(order, own, earlier, clock)
            version = own_word(order, VERSIONS) & MAX_VERSION
            new = release | version << VERSION
            is_done = new == earlier
            if not is_done:
                is_done = cuda.atomic.cas(sync, position, earlier, new) == earlier
    if not is_done:
        cuda.atomic.exch(sync, position, EVERYTHING)
    return False


def synchronize_element(shadow: Any, clock: Any, order: Any, own: Any, releases: Any) -> Any:
    """Acquire and release by an element with a shadow; return False."""
    return synchronize(shadow[SYNC:], clock, order, own, releases)


def synchronize_unknown(clock: Any, order: Any, own: Any, releases: Any) -> Any:
    """Acquire and release by an element that is not known; return False."""
    return synchronize(order[0, UNKNOWN : UNKNOWN + 2], clock, order, own, releases)


def pass_grid_barrier(clock: Any, order: Any, own: Any) -> Any:
    """Tell when the block has passed a barrier of the grid, which is counted; return False."""
    clock[GRID_BARRIERS] += 1
    passed = clock[GRID_BARRIERS] << 10 | epoch_of(clock)
    cuda.atomic.exch(own, GRID, passed)
    return False


def reach_cluster_barrier(clock: Any, order: Any, own: Any) -> Any:
    """Tell when the block has reached a barrier of the cluster; return False."""
    clock[CLUSTER_BARRIERS] += 1
    column = CLUSTER + int(clock[CLUSTER_BARRIERS] & 1)
    reached = clock[CLUSTER_BARRIERS] << 10 | min(epoch_of(clock) + 1, MAX_EPOCH)
    cuda.atomic.exch(own, column, reached)
    return False


def pass_cluster_barrier(clock: Any, order: Any, own: Any, sizes: Any) -> Any:
    """Join the rows of the blocks of the cluster, after a barrier that is counted; return False.

    A block without threads has reached no barrier, and is ordered.
    """
    row, count = block_index(), clock[CLUSTER_BARRIERS]
    if has_clocks(order) and own_word(order, JOINED) != count:
        for rank in range(sizes[0] * sizes[1] * sizes[2]):
            other = block_of_rank(rank, sizes)
            reached = cuda.ldcv(order, (other, CLUSTER + int(count & 1)))
            epoch = reached & MAX_EPOCH if reached >> 10 == count else np.uint64(MAX_EPOCH)
            if other != row:
                acquire_row(order, own, other, clock)
                settle(order, own, ENTRIES + 2 * other, epoch << R_EPOCH | np.uint64(1) << VALID)
        cuda.atomic.add(own, VERSIONS, 1)
        cuda.atomic.exch(own, JOINED, count)
    return pass_fence(clock, order, own, np.uint64(1))
