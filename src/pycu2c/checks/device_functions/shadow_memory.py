"""Race detection with shadow memory: device functions in the kernel language.

The shadow of an element has two words: its last write and its last read. Two accesses of threads of
one block are concurrent if they have the same epoch, and no warp operation orders them. Source:
HiRace (Jacobson et al., SC 2024) keeps such words for each location.

Epochs that do not fit are not compared: the accesses count as ordered, so that no false race is
found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.checks.device_functions.block_clocks import assume_ordered, happens_before
from pycu2c.checks.device_functions.shadow_words import (
    ATOMIC,
    BLOCK,
    BLOCK_BITS,
    CELL_WORDS,
    EPOCH,
    EPOCH_BITS,
    HAS_ACCESSED,
    HAS_LANE_CLOCK,
    LANE_CLOCK,
    MAX_BLOCKS,
    MAX_WARP_EPOCH,
    NOW,
    READ_SHARED,
    READ_SHARED_IN_WARP,
    SITE_BITS,
    SYNC_CELL_WORDS,
    THREAD,
    TIME_BITS,
    UNKNOWN_VALUE,
    UNWRITTEN,
    VALUE,
    WARP_BITS,
    WARP_EPOCH_BITS,
    thread_of,
    warp_epoch_of,
)
from pycu2c.checks.device_functions.thread_indices import block_index, thread_index


def start_thread(state: Any, *block_clocks: Any) -> Any:
    """Set the state of the thread at the start of the kernel.

    block_clocks: the clocks of blocks, if all accesses are taken as ordered.
    """
    for field in range(len(state)):
        state[field] = 0
    state[NOW] = thread_index() << THREAD | block_index() % MAX_BLOCKS << BLOCK | 1 << EPOCH
    if len(block_clocks) != 0:
        assume_ordered(block_clocks[1])
    return False


def value_bits(bits: Any) -> Any:
    """Return a hash of a number, as a field of a word."""
    bits ^= bits >> 32
    bits ^= bits >> 16
    return ((bits ^ bits >> 8) & 255) << VALUE


def is_concurrent(word: Any, state: Any, is_read: Any, *block_clocks: Any) -> Any:
    """Return whether an access is of another thread, and concurrent with one of this thread now.

    block_clocks: in kernels with fences or barriers of the grid or the cluster.
    """
    concurrent = has_same_epoch(word, state, is_read)
    if len(block_clocks) != 0:
        concurrent = concurrent and not happens_before(word, state, is_read, *block_clocks)
    return concurrent


def has_same_epoch(word: Any, state: Any, is_read: Any) -> Any:
    """Return whether no barrier of the block or the warp orders an access before now."""
    now = state[NOW]
    differences = word ^ now
    if differences & BLOCK_BITS != 0:
        return word != 0
    if differences & EPOCH_BITS != 0 or now & EPOCH_BITS == EPOCH_BITS:
        return False
    if word >> READ_SHARED & 1 != 0:
        return True
    lanes = thread_of(differences)
    if lanes >= 32:
        return True
    warp_epoch = warp_epoch_of(word)
    if lanes != 0 and state[HAS_LANE_CLOCK] != 0:
        return warp_epoch >= lane_clock(state, word) and warp_epoch < MAX_WARP_EPOCH
    is_same = differences & WARP_EPOCH_BITS == 0 and warp_epoch < MAX_WARP_EPOCH
    return is_same and (lanes != 0 or (is_read and word >> READ_SHARED_IN_WARP != 0))


def lane_clock(state: Any, word: Any) -> Any:
    """Return the warp epoch of a lane when it last synchronized with the thread."""
    lane = int(thread_of(word) & 31)
    return state[LANE_CLOCK + lane // 8] >> lane % 8 * 8 & MAX_WARP_EPOCH


def shadow_read(shadow: Any, cell: Any, site: Any, state: Any, *block_clocks: Any) -> Any:
    """Record a read of a cell; return a concurrent write, UNWRITTEN, or 0."""
    word = site | state[NOW]
    if len(block_clocks) != 0:
        state[HAS_ACCESSED] = 1
    differences = shadow[cell + 1] ^ word
    if len(block_clocks) == 0 and follows_reads_of_blocks(differences):
        shadow[cell + 1] = word | np.uint64(1 << READ_SHARED)
    elif len(block_clocks) != 0 or not is_redundant_read(differences, state):
        record_read(shadow, cell + 1, word, state, *block_clocks)
    writer = shadow[cell]
    if writer == 0:
        return UNWRITTEN
    return writer if is_concurrent(writer, state, False, *block_clocks) else 0


def follows_reads_of_blocks(differences: Any) -> Any:
    """Return whether a read follows one of another block, which was not the first."""
    return differences & BLOCK_BITS != 0 and differences >> READ_SHARED & 1 != 0


def is_redundant_read(differences: Any, state: Any) -> Any:
    """Return whether a recorded read since the barrier conflicts with the same writes."""
    of_block = BLOCK_BITS | EPOCH_BITS | np.uint64(1 << READ_SHARED)
    of_warp = of_block | WARP_BITS | np.uint64(1 << READ_SHARED_IN_WARP)
    is_shared = differences & of_block == np.uint64(1 << READ_SHARED)
    is_in_warp = differences & of_warp == np.uint64(1 << READ_SHARED_IN_WARP)
    is_shared = is_shared or (is_in_warp and state[HAS_LANE_CLOCK] == 0)
    return is_shared or differences & ~SITE_BITS == 0


def record_read(shadow: Any, position: Any, word: Any, state: Any, *block_clocks: Any) -> Any:
    """Record a read.

    Of concurrent reads of a block at two sites, the first one remains: a thread often reads an
    element before it writes it, and its write races with the read of another thread.
    """
    earlier = cuda.atomic.exch(shadow, position, word)
    if is_concurrent(earlier, state, True, *block_clocks):
        differences = earlier ^ word
        is_block = differences & BLOCK_BITS == 0
        is_in_warp = is_block and thread_of(differences) < 32
        is_shared = not is_in_warp or earlier >> READ_SHARED & 1 != 0
        is_first = is_block and differences & SITE_BITS != 0
        bit = READ_SHARED if is_shared else READ_SHARED_IN_WARP
        shadow[position] = (earlier if is_first else word) | np.uint64(1) << bit
    return False


def shadow_write(shadow: Any, cell: Any, access: Any, state: Any, *block_clocks: Any) -> Any:
    """Record a write of a cell; return a concurrent access, UNWRITTEN if atomic, or 0.

    access: the site, whether it is atomic, and bits of the number, or UNKNOWN_VALUE; writes of
    equal values are not concurrent.
    """
    word = access | state[NOW]
    is_atomic = word >> ATOMIC & 1
    if len(block_clocks) != 0:
        state[HAS_ACCESSED] |= is_atomic ^ 1
    earlier = cuda.atomic.exch(shadow, cell, word)
    are_atomic = earlier >> ATOMIC & is_atomic != 0
    is_same_time = (earlier ^ word) & TIME_BITS == 0
    if is_atomic != 0 and not are_atomic and is_same_time:
        shadow[cell] = earlier  # the plain write, which atomic ones of others may precede
    is_equal = earlier >> VALUE == word >> VALUE and word >> VALUE != UNKNOWN_VALUE
    if not (are_atomic or is_equal) and is_concurrent(earlier, state, False, *block_clocks):
        return earlier
    reader = shadow[cell + 1]
    if is_concurrent(reader, state, True, *block_clocks):
        return reader
    return UNWRITTEN if is_atomic != 0 and earlier == 0 else 0


def shadow_read_cells(
    shadow: Any, site: Any, state: Any, needs_all: Any, *block_clocks: Any
) -> Any:
    """Record a read of several cells; return a concurrent write, UNWRITTEN, or 0.

    needs_all: whether all cells must be written, not only one of them.
    """
    race = np.uint64(0)
    unwritten = 0
    size = CELL_WORDS if len(block_clocks) == 0 else SYNC_CELL_WORDS
    for cell in range(0, len(shadow), size):
        found = shadow_read(shadow, cell, site, state, *block_clocks)
        if found == UNWRITTEN:
            unwritten += 1
        elif found != 0:
            race = found
    if race != 0:
        return race
    is_unwritten = unwritten > 0 and (needs_all != 0 or size * unwritten == len(shadow))
    return np.uint64(UNWRITTEN) if is_unwritten else race


def shadow_write_cells(shadow: Any, access: Any, state: Any, *block_clocks: Any) -> Any:
    """Record a write of several cells; return a concurrent access, UNWRITTEN, or 0."""
    result = np.uint64(0)
    size = CELL_WORDS if len(block_clocks) == 0 else SYNC_CELL_WORDS
    for cell in range(0, len(shadow), size):
        found = shadow_write(shadow, cell, access, state, *block_clocks)
        if found != 0 and (result == 0 or result == UNWRITTEN):
            result = found
    return result


def read_flags(flags: Any, needs_all: Any) -> Any:
    """Return UNWRITTEN if an element of a local array has no value, else 0."""
    unwritten = 0
    for cell in range(len(flags)):
        if flags[cell] == 0:
            unwritten += 1
    is_unwritten = unwritten > 0 and (needs_all != 0 or unwritten == len(flags))
    return np.uint64(UNWRITTEN) if is_unwritten else np.uint64(0)


def write_flags(flags: Any) -> Any:
    """Record that an element of a local array has a value; return 0."""
    for cell in range(len(flags)):
        flags[cell] = 1
    return np.uint64(0)
