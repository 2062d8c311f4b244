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
    BY_LANES,
    CLOCK_SIZE,
    EPOCH,
    EPOCHS,
    HAS_ACCESSED,
    HAS_CONVERGED,
    IDENTITY,
    LANE_COUNTS,
    LANES,
    MAX_BLOCKS,
    MAX_EPOCH,
    MAX_SITE,
    MAX_WARP,
    OPERATIONS,
    ORDERED_WORDS,
    SEVERAL,
    THREAD,
    UNKNOWN_VALUE,
    UNWRITTEN,
    VALUE,
    WARP,
    WORDS,
    block_index,
)


class Access(NamedTuple):
    """What a word tells of an access; ``site`` is None if its number does not fit."""

    site: int | None
    thread: int
    block: int


def decode_word(word: int) -> Access:
    number = word & MAX_SITE
    site = number - 1 if number < MAX_SITE else None
    return Access(site, word >> THREAD & 1023, word >> BLOCK & MAX_BLOCKS - 1)


def start_clock(clock: Any, *order: Any) -> Any:
    """Set the clock at the start of the kernel; return False.

    order: the clocks of blocks, if accesses are taken as ordered.
    """
    rows = cuda.threadIdx.y + cuda.threadIdx.z * cuda.blockDim.y
    thread = cuda.threadIdx.x + rows * cuda.blockDim.x
    for field in range(CLOCK_SIZE):
        clock[field] = 0
    clock[IDENTITY] = thread << THREAD | block_index() % MAX_BLOCKS << BLOCK
    for clocks in order:
        take_as_ordered(clocks)
    return False


def pass_barrier(clock: Any) -> Any:
    """Count a barrier of the block; return False."""
    clock[EPOCHS] = min(clock[EPOCHS] + 1, MAX_EPOCH)
    clock[OPERATIONS] = 0
    clock[HAS_CONVERGED] = 0
    return False


def pass_warp_operation(clock: Any) -> Any:
    """Count an operation that synchronizes the lanes of the warp; return False."""
    clock[OPERATIONS] = min(clock[OPERATIONS] + 1, MAX_WARP)
    clock[HAS_CONVERGED] = 1
    return False


def value_bits(bits: Any) -> Any:
    """Return some bits of a number, of which different numbers rarely have the same."""
    bits ^= bits >> 32
    bits ^= bits >> 16
    return (bits ^ bits >> 8) & 255


def is_concurrent(word: Any, clock: Any, is_read: Any, *order: Any) -> Any:
    """Return whether an access is of another thread, and concurrent with what this one does now.

    order: of kernels with fences and barriers of the grid or the cluster.
    """
    concurrent = is_between_same_barriers(word, clock, is_read)
    for clocks in order:
        concurrent = concurrent and not is_ordered(word, clock, is_read, clocks)
    return concurrent


def is_between_same_barriers(word: Any, clock: Any, is_read: Any) -> Any:
    """Return whether no barrier of the block or the warp is between an access and now."""
    if word == 0:
        return False
    differences = word ^ clock[IDENTITY]
    if differences >> BLOCK & MAX_BLOCKS - 1 != 0:
        return True
    if word >> EPOCH & MAX_EPOCH != clock[EPOCHS] or clock[EPOCHS] == MAX_EPOCH:
        return False
    if word >> SEVERAL & 1 != 0:
        return True
    lanes = differences >> THREAD & 1023
    if lanes >= 32:
        return True
    operations, count = clock[OPERATIONS], word >> WARP & MAX_WARP
    if lanes != 0 and clock[BY_LANES] != 0:
        return count >= lane_count(clock, word) and count < MAX_WARP
    in_step = count == operations and operations < MAX_WARP
    return in_step and (lanes != 0 or (is_read and word >> LANES != 0))


def lane_count(clock: Any, word: Any) -> Any:
    """Return how many operations a lane had passed when it last synchronized with the thread."""
    lane = int(word >> THREAD & 31)
    return clock[LANE_COUNTS + lane // 8] >> lane % 8 * 8 & MAX_WARP


def shadow_read(shadow: Any, site: Any, clock: Any, *order: Any) -> Any:
    """Record a read; return a concurrent write, UNWRITTEN, or 0.

    Of concurrent reads of a block at two places, the first stays: a thread often reads an element
    right before it writes it, and the race is with another thread.
    """
    word = site | clock[IDENTITY] | clock[EPOCHS] << EPOCH | clock[OPERATIONS] << WARP
    for _ in order:
        clock[HAS_ACCESSED] = 1
    earlier = cuda.atomic.exch(shadow, 1, word)
    if is_concurrent(earlier, clock, True, *order):
        differences = earlier ^ word
        is_block = differences >> BLOCK & MAX_BLOCKS - 1 == 0
        is_in_warp = is_block and differences >> THREAD & 992 == 0
        several = LANES if is_in_warp and earlier >> SEVERAL & 1 == 0 else SEVERAL
        is_first = is_block and differences & MAX_SITE != 0
        shadow[1] = (earlier if is_first else word) | np.uint64(1) << several
    writer = shadow[0]
    if writer == 0:
        return UNWRITTEN
    return writer if is_concurrent(writer, clock, False, *order) else 0


def shadow_write(
    shadow: Any, site: Any, clock: Any, value: Any, is_atomic: Any, *order: Any
) -> Any:
    """Record a write; return a concurrent access, UNWRITTEN for an atomic operation, or 0.

    value: bits of the number, or UNKNOWN_VALUE; writes of equal values are not concurrent.
    """
    word = site | clock[IDENTITY] | clock[EPOCHS] << EPOCH | clock[OPERATIONS] << WARP
    for _ in order:
        clock[HAS_ACCESSED] |= is_atomic ^ 1
    earlier = cuda.atomic.exch(shadow, 0, word | is_atomic << ATOMIC | value << VALUE)
    are_atomic = earlier >> ATOMIC & is_atomic != 0
    is_equal = earlier >> VALUE == value and value != UNKNOWN_VALUE
    if not (are_atomic or is_equal) and is_concurrent(earlier, clock, False, *order):
        return earlier
    reader = shadow[1]
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
        found = shadow_read(shadow[cell : cell + size], site, clock, *order)
        if found == UNWRITTEN:
            unwritten += 1
        elif found != 0:
            race = found
    if race != 0:
        return race
    is_unwritten = unwritten > 0 and (needs_all != 0 or size * unwritten == len(shadow))
    return np.uint64(UNWRITTEN) if is_unwritten else race


def shadow_write_cells(
    shadow: Any, site: Any, clock: Any, value: Any, is_atomic: Any, *order: Any
) -> Any:
    """Record a write of several cells; return a concurrent access, UNWRITTEN, or 0."""
    result = np.uint64(0)
    size = WORDS if len(order) == 0 else ORDERED_WORDS
    for cell in range(0, len(shadow), size):
        found = shadow_write(shadow[cell : cell + size], site, clock, value, is_atomic, *order)
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
