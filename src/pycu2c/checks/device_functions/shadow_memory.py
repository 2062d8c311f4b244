"""Race detection with shadow memory: device functions in the kernel language.

The shadow of an element has two words: its last write and its last read. A word tells the access,
the thread, and the time: how many barriers of the block, and since then how many operations of the
warp, the thread had passed. Two accesses of threads of one block are concurrent if they lie between
the same barriers. Source: HiRace (Jacobson et al., SC 2024) keeps such words for each location.

Counts that do not fit are not compared: such accesses are taken as ordered, so that no race is
reported that is none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pycu2c import cuda
from pycu2c.checks.device_functions.happens_before import is_ordered, take_as_ordered
from pycu2c.checks.device_functions.shadow_words import (
    ATOMIC,
    BLOCK,
    BLOCK_BITS,
    BY_LANES,
    EPOCH,
    EPOCH_BITS,
    HAS_ACCESSED,
    HAS_CONVERGED,
    LANE_COUNTS,
    LANES,
    MAX_BLOCKS,
    MAX_SITE,
    MAX_WARP,
    NOW,
    OPERATION_BITS,
    ORDERED_WORDS,
    SEVERAL,
    SITE_BITS,
    THREAD,
    TIME_BITS,
    UNKNOWN_VALUE,
    UNWRITTEN,
    VALUE,
    WARP,
    WARP_BITS,
    WORDS,
    block_index,
    count_operation,
)


class Access(NamedTuple):
    """What a word tells of an access; ``site`` is None if its number does not fit."""

    site: int | None
    thread: int
    block: int


def decode_word(word: int) -> Access:
    number = word & MAX_SITE
    site = number - 1 if 0 < number < MAX_SITE else None
    return Access(site, word >> THREAD & 1023, word >> BLOCK & MAX_BLOCKS - 1)


def start_clock(clock: Any, *order: Any) -> Any:
    """Set the clock at the start of the kernel; return False.

    order: the clocks of blocks, if accesses are taken as ordered.
    """
    rows = cuda.threadIdx.y + cuda.threadIdx.z * cuda.blockDim.y
    thread = cuda.threadIdx.x + rows * cuda.blockDim.x
    for field in range(len(clock)):
        clock[field] = 0
    clock[NOW] = thread << THREAD | block_index() % MAX_BLOCKS << BLOCK | 1 << EPOCH
    if len(order) != 0:
        take_as_ordered(order[1])
    return False


def pass_barrier(clock: Any) -> Any:
    """Count a barrier of the block; return False."""
    now = clock[NOW] & ~OPERATION_BITS
    clock[NOW] = now if now & EPOCH_BITS == EPOCH_BITS else now + np.uint64(1 << EPOCH)
    clock[HAS_CONVERGED] = 0
    return False


def pass_warp_operation(clock: Any) -> Any:
    """Count an operation that synchronizes the lanes of the warp; return False."""
    count_operation(clock)
    clock[HAS_CONVERGED] = 1
    return False


def value_bits(bits: Any) -> Any:
    """Return bits of a word that tell a number: different numbers rarely have the same."""
    bits ^= bits >> 32
    bits ^= bits >> 16
    return ((bits ^ bits >> 8) & 255) << VALUE


def is_concurrent(word: Any, clock: Any, is_read: Any, *order: Any) -> Any:
    """Return whether an access is of another thread, and concurrent with what this one does now.

    order: of kernels with fences and barriers of the grid or the cluster.
    """
    concurrent = is_between_same_barriers(word, clock, is_read)
    if len(order) != 0:
        concurrent = concurrent and not is_ordered(word, clock, is_read, *order)
    return concurrent


def is_between_same_barriers(word: Any, clock: Any, is_read: Any) -> Any:
    """Return whether no barrier of the block or the warp is between an access and now."""
    now = clock[NOW]
    differences = word ^ now
    if differences & BLOCK_BITS != 0:
        return word != 0
    if differences & EPOCH_BITS != 0 or now & EPOCH_BITS == EPOCH_BITS:
        return False
    if word >> SEVERAL & 1 != 0:
        return True
    lanes = differences >> THREAD & 1023
    if lanes >= 32:
        return True
    count = word >> WARP & MAX_WARP
    if lanes != 0 and clock[BY_LANES] != 0:
        return count >= lane_count(clock, word) and count < MAX_WARP
    in_step = differences & OPERATION_BITS == 0 and count < MAX_WARP
    return in_step and (lanes != 0 or (is_read and word >> LANES != 0))


def lane_count(clock: Any, word: Any) -> Any:
    """Return how many operations a lane had passed when it last synchronized with the thread."""
    lane = int(word >> THREAD & 31)
    return clock[LANE_COUNTS + lane // 8] >> lane % 8 * 8 & MAX_WARP


def shadow_read(shadow: Any, cell: Any, site: Any, clock: Any, *order: Any) -> Any:
    """Record a read of a cell; return a concurrent write, UNWRITTEN, or 0."""
    word = site | clock[NOW]
    if len(order) != 0:
        clock[HAS_ACCESSED] = 1
    differences = shadow[cell + 1] ^ word
    if len(order) == 0 and is_after_reads_of_blocks(differences):
        shadow[cell + 1] = word | np.uint64(1 << SEVERAL)
    elif len(order) != 0 or not is_like_earlier_reads(differences, clock):
        record_read(shadow, cell + 1, word, clock, *order)
    writer = shadow[cell]
    if writer == 0:
        return UNWRITTEN
    return writer if is_concurrent(writer, clock, False, *order) else 0


def is_after_reads_of_blocks(differences: Any) -> Any:
    """Return whether a read follows one of another block, which was not the first."""
    return differences & BLOCK_BITS != 0 and differences >> SEVERAL & 1 != 0


def is_like_earlier_reads(differences: Any, clock: Any) -> Any:
    """Return whether reads since the barrier are known that conflict with the same writes."""
    of_block = BLOCK_BITS | EPOCH_BITS | np.uint64(1 << SEVERAL)
    of_warp = of_block | WARP_BITS | np.uint64(1 << LANES)
    is_of_several = differences & of_block == np.uint64(1 << SEVERAL)
    is_of_lanes = differences & of_warp == np.uint64(1 << LANES) and clock[BY_LANES] == 0
    return is_of_several or is_of_lanes or differences & ~SITE_BITS == 0


def record_read(shadow: Any, position: Any, word: Any, clock: Any, *order: Any) -> Any:
    """Record a read; return False.

    Of concurrent reads of a block at two places, the first stays: a thread often reads an element
    right before it writes it, and the race is with another thread.
    """
    earlier = cuda.atomic.exch(shadow, position, word)
    if is_concurrent(earlier, clock, True, *order):
        differences = earlier ^ word
        is_block = differences & BLOCK_BITS == 0
        is_in_warp = is_block and differences >> THREAD & 992 == 0
        several = LANES if is_in_warp and earlier >> SEVERAL & 1 == 0 else SEVERAL
        is_first = is_block and differences & SITE_BITS != 0
        shadow[position] = (earlier if is_first else word) | np.uint64(1) << several
    return False


def shadow_write(shadow: Any, cell: Any, access: Any, clock: Any, *order: Any) -> Any:
    """Record a write of a cell; return a concurrent access, UNWRITTEN if atomic, or 0.

    access: the site, whether it is atomic, and bits of the number, or UNKNOWN_VALUE; writes of
    equal values are not concurrent.
    """
    word = access | clock[NOW]
    is_atomic = word >> ATOMIC & 1
    if len(order) != 0:
        clock[HAS_ACCESSED] |= is_atomic ^ 1
    earlier = cuda.atomic.exch(shadow, cell, word)
    are_atomic = earlier >> ATOMIC & is_atomic != 0
    is_same_time = (earlier ^ word) & TIME_BITS == 0
    if is_atomic != 0 and not are_atomic and is_same_time:
        shadow[cell] = earlier  # the plain write, which atomic ones of others may precede
    is_equal = earlier >> VALUE == word >> VALUE and word >> VALUE != UNKNOWN_VALUE
    if not (are_atomic or is_equal) and is_concurrent(earlier, clock, False, *order):
        return earlier
    reader = shadow[cell + 1]
    if is_concurrent(reader, clock, True, *order):
        return reader
    return UNWRITTEN if is_atomic != 0 and earlier == 0 else 0


def shadow_read_cells(shadow: Any, site: Any, clock: Any, needs_all: Any, *order: Any) -> Any:
    """Record a read of several cells; return a concurrent write, UNWRITTEN, or 0.

    needs_all: whether all cells must be written, not only one of them.
    """
    race = np.uint64(0)
    unwritten = 0
    size = WORDS if len(order) == 0 else ORDERED_WORDS
    for cell in range(0, len(shadow), size):
        found = shadow_read(shadow, cell, site, clock, *order)
        if found == UNWRITTEN:
            unwritten += 1
        elif found != 0:
            race = found
    if race != 0:
        return race
    is_unwritten = unwritten > 0 and (needs_all != 0 or size * unwritten == len(shadow))
    return np.uint64(UNWRITTEN) if is_unwritten else race


def shadow_write_cells(shadow: Any, access: Any, clock: Any, *order: Any) -> Any:
    """Record a write of several cells; return a concurrent access, UNWRITTEN, or 0."""
    result = np.uint64(0)
    size = WORDS if len(order) == 0 else ORDERED_WORDS
    for cell in range(0, len(shadow), size):
        found = shadow_write(shadow, cell, access, clock, *order)
        if found != 0 and (result == 0 or result == UNWRITTEN):
            result = found
    return result


def flags_read(flags: Any, needs_all: Any) -> Any:
    """Return UNWRITTEN if an element of a local array has no value, else 0."""
    unwritten = 0
    for cell in range(len(flags)):
        if flags[cell] == 0:
            unwritten += 1
    is_unwritten = unwritten > 0 and (needs_all != 0 or unwritten == len(flags))
    return np.uint64(UNWRITTEN) if is_unwritten else np.uint64(0)


def flags_write(flags: Any) -> Any:
    """Record that an element of a local array has a value; return 0."""
    for cell in range(len(flags)):
        flags[cell] = 1
    return np.uint64(0)
