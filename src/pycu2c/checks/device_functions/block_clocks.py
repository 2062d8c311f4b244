"""Vector clocks of blocks: device functions in the kernel language.

The array ``clocks`` has a row for each block, its vector clock. For each block, this has two words:
the *settled* release, which holds for all threads of the row's block, and the *pending* release,
which holds for the threads that have acquired it. After the next barrier of the block, the pending
one is merged with the settled one. ``own`` is the row of the thread's block.

Accesses count as ordered if a word cannot be changed, or if the array has no space for an entry for
each block.
"""

from __future__ import annotations

from typing import Any

from pycu2c import cuda
from pycu2c.checks.device_functions.releases import (
    BY_THREADS,
    EVERYTHING,
    VERSION,
    acquire_epoch_of,
    applies_to_thread,
    fence_fields,
    merge,
    precedes,
    releaser_of,
    with_acquirer,
)
from pycu2c.checks.device_functions.shadow_words import (
    GRID_BARRIERS,
    MAX_BLOCKS,
    MAX_EPOCH,
    NOW,
    READ_SHARED,
    READ_SHARED_IN_WARP,
    block_of,
    epoch_of,
    thread_of,
)
from pycu2c.checks.device_functions.thread_indices import block_index

# ---- the columns of a row ----
GRID, VERSIONS, ACQUIRED, IS_ORDERED = 0, 1, 2, 3
UNTRACKED = 4  # in the first row, the sync words of all elements without shadows
LAST_FENCE, CLUSTER, JOINED, ENTRIES = 6, 8, 10, 11
ATTEMPTS = 32  # to change a word that other threads change, too


def has_entries(clocks: Any) -> Any:
    """Return whether rows have an entry for each block, not only for their own one."""
    return clocks.shape[1] == ENTRIES + 2 * clocks.shape[0]


def entry_of(clocks: Any, block: Any) -> Any:
    """Return the column of the settled release of a block; the pending one is the next."""
    return ENTRIES + 2 * block if has_entries(clocks) else ENTRIES


def own_word(clocks: Any, column: Any) -> Any:
    """Return a word of the own row, which other threads of the block may change."""
    return cuda.ldcv(clocks, (block_index(), column))


def assume_ordered(own: Any) -> Any:
    """Order all accesses before those of the own block from now on."""
    if cuda.atomic.exch(own, IS_ORDERED, 1) == 0:
        cuda.atomic.add(own, VERSIONS, 1)
    return False


def settle(clocks: Any, own: Any, column: Any, release: Any) -> Any:
    """Merge a release with a settled one of the own row."""
    for _ in range(ATTEMPTS):
        if try_settle(clocks, own, column, release):
            return False
    return assume_ordered(own)


def try_settle(clocks: Any, own: Any, column: Any, release: Any) -> Any:
    settled = own_word(clocks, column)
    merged = merge(settled, release)
    return merged == settled or cuda.atomic.cas(own, column, settled, merged) == settled


def join(clocks: Any, own: Any, column: Any, release: Any, state: Any) -> Any:
    """Merge a release that the thread has acquired with a pending one of the own row."""
    for _ in range(ATTEMPTS):
        if try_join(clocks, own, column, release, state):
            return False
    return assume_ordered(own)


def try_join(clocks: Any, own: Any, column: Any, release: Any, state: Any) -> Any:
    pending = own_word(clocks, column + 1)
    if pending != 0 and acquire_epoch_of(pending) != epoch_of(state[NOW]):
        settle(clocks, own, column, fence_fields(pending))
    new = with_acquirer(pending, release, state)
    return new == pending or cuda.atomic.cas(own, column + 1, pending, new) == pending


def acquire(clocks: Any, own: Any, word: Any, state: Any) -> Any:
    """Acquire the release of a sync word, and what the releasing block has acquired itself."""
    if word == 0:
        return False
    if word == EVERYTHING:
        return assume_ordered(own)
    other = int(word & (MAX_BLOCKS - 1))
    is_own = other == block_index()
    if not is_own and not has_entries(clocks):
        return False
    cuda.atomic.exch(own, ACQUIRED, epoch_of(state[NOW]) + 1)
    release, column = word >> VERSION << VERSION, entry_of(clocks, other)
    threads = releaser_of(release) ^ thread_of(state[NOW])
    if is_own and threads == 0 and release >> BY_THREADS & 1 == 0:
        return False
    pending = own_word(clocks, column + 1)
    if with_acquirer(pending, release, state) == pending:
        return False
    acquire_row(clocks, own, other, state)
    join(clocks, own, column, release, state)
    cuda.atomic.add(own, VERSIONS, 1)
    return False


def acquire_row(clocks: Any, own: Any, other: Any, state: Any) -> Any:
    """Join the row of a block to the own one.

    Releases that other threads have acquired become pending in the own row.
    """
    if cuda.ldcv(clocks, (other, IS_ORDERED)) != 0:
        return assume_ordered(own)
    count = clocks.shape[0] if has_entries(clocks) else 1
    for block in range(count):
        column = ENTRIES + 2 * block
        settled = cuda.ldcv(clocks, (other, column))
        release = merge(settled, fence_fields(cuda.ldcv(clocks, (other, column + 1))))
        if release != 0:
            join(clocks, own, column, release, state)
    return False


def happens_before(word: Any, state: Any, is_read: Any, clocks: Any, own: Any) -> Any:
    """Return whether an access is ordered before what the thread does now, though no barrier is."""
    other, accessed = block_of(word), epoch_of(word)
    if own_word(clocks, IS_ORDERED) != 0:
        return True
    if other != block_index():
        if not has_entries(clocks) or accessed == MAX_EPOCH:
            return True
        barriers, passed = state[GRID_BARRIERS], cuda.ldcv(clocks, (other, GRID))
        if barriers != 0 and (passed >> 10 < barriers or accessed < passed & MAX_EPOCH):
            return True
    elif word >> READ_SHARED & 1 != 0 or (is_read and word >> READ_SHARED_IN_WARP != 0):
        # the other readers are unknown
        return own_word(clocks, ACQUIRED) == epoch_of(state[NOW]) + 1
    column = entry_of(clocks, other)
    if precedes(word, own_word(clocks, column), is_read):
        return True
    pending = own_word(clocks, column + 1)
    return precedes(word, fence_fields(pending), is_read) and applies_to_thread(pending, state)
