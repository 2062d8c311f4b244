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

# ---- a word: the number of the check site from 1, then the fields at these bits ----
THREAD, ATOMIC, SEVERAL, EPOCH, WARP, BLOCK, VALUE, LANES = 10, 20, 21, 22, 32, 38, 54, 63
MAX_SITE = MAX_EPOCH = 1023
UNKNOWN_VALUE = 511
MAX_WARP = 63
MAX_BLOCKS = 1 << 16
UNWRITTEN = 1 << ATOMIC  # a result: there is no write; no word is equal to it

# ---- the clock of a thread, a local array ----
EPOCHS, OPERATIONS, IDENTITY, IGNORES_BLOCKS = range(4)
CLOCK_SIZE = 8  # with the entries of barrier_memory


class Access(NamedTuple):
    """What a word tells of an access; ``site`` is None if its number does not fit."""

    site: int | None
    thread: int
    block: int


def decode_word(word: int) -> Access:
    number = word & MAX_SITE
    site = number - 1 if number < MAX_SITE else None
    return Access(site, word >> THREAD & 1023, word >> BLOCK & MAX_BLOCKS - 1)


def start_clock(clock: Any, ignores_blocks: Any) -> Any:
    """Set the clock at the start of the kernel; return False."""
    rows = cuda.threadIdx.y + cuda.threadIdx.z * cuda.blockDim.y
    thread = cuda.threadIdx.x + rows * cuda.blockDim.x
    block = block_index()
    clock[EPOCHS] = 0
    clock[OPERATIONS] = 0
    clock[IDENTITY] = thread << THREAD | block % MAX_BLOCKS << BLOCK
    clock[IGNORES_BLOCKS] = ignores_blocks
    for entry in range(IGNORES_BLOCKS + 1, CLOCK_SIZE):
        clock[entry] = 0
    return False


def block_index() -> Any:
    """Return the linear index of the block."""
    layers = cuda.blockIdx.y + cuda.blockIdx.z * cuda.gridDim.y
    return cuda.blockIdx.x + layers * cuda.gridDim.x


def pass_barrier(clock: Any) -> Any:
    """Count a barrier of the block; return False."""
    clock[EPOCHS] = min(clock[EPOCHS] + 1, MAX_EPOCH)
    clock[OPERATIONS] = 0
    return False


def pass_warp_operation(clock: Any, is_of_warp: Any) -> Any:
    """Count an operation that synchronizes the lanes of the warp; return False.

    After one of some lanes, the counts of lanes are not compared until the next barrier.
    """
    clock[OPERATIONS] = min(clock[OPERATIONS] + 1, MAX_WARP) if is_of_warp != 0 else MAX_WARP
    return False


def pass_fence(clock: Any) -> Any:
    """Take later accesses of the thread as ordered, by flags in memory; return False."""
    clock[EPOCHS] = MAX_EPOCH
    return False


def value_bits(bits: Any) -> Any:
    """Return some bits of a number, of which different numbers rarely have the same."""
    bits ^= bits >> 32
    bits ^= bits >> 16
    return (bits ^ bits >> 8) & 255


def is_concurrent(word: Any, clock: Any, is_read: Any) -> Any:
    """Return whether an access is of another thread, and concurrent with what this one does now."""
    if word == 0:
        return False
    differences = word ^ clock[IDENTITY]
    if differences >> BLOCK & MAX_BLOCKS - 1 != 0:
        return clock[IGNORES_BLOCKS] == 0
    if word >> EPOCH & MAX_EPOCH != clock[EPOCHS] or clock[EPOCHS] == MAX_EPOCH:
        return False
    if word >> SEVERAL & 1 != 0:
        return True
    lanes = differences >> THREAD & 1023
    if lanes >= 32:
        return True
    operations = clock[OPERATIONS]
    in_step = word >> WARP & MAX_WARP == operations and operations < MAX_WARP
    return in_step and (lanes != 0 or (is_read and word >> LANES != 0))


def shadow_read(shadow: Any, site: Any, clock: Any) -> Any:
    """Record a read; return a concurrent write, UNWRITTEN, or 0."""
    word = site | clock[IDENTITY] | clock[EPOCHS] << EPOCH | clock[OPERATIONS] << WARP
    earlier = cuda.atomic.exch(shadow, 1, word)
    if is_concurrent(earlier, clock, True):
        differences = earlier ^ word
        is_block = differences >> BLOCK & MAX_BLOCKS - 1 == 0
        is_in_warp = is_block and differences >> THREAD & 992 == 0
        several = LANES if is_in_warp and earlier >> SEVERAL & 1 == 0 else SEVERAL
        cuda.atomic.or_(shadow, 1, np.uint64(1) << several)
    writer = shadow[0]
    if writer == 0:
        return UNWRITTEN
    return writer if is_concurrent(writer, clock, False) else 0


def shadow_write(shadow: Any, site: Any, clock: Any, value: Any, is_atomic: Any) -> Any:
    """Record a write; return a concurrent access, UNWRITTEN for an atomic operation, or 0.

    value: bits of the number, or UNKNOWN_VALUE; writes of equal values are not concurrent.
    """
    word = site | clock[IDENTITY] | clock[EPOCHS] << EPOCH | clock[OPERATIONS] << WARP
    earlier = cuda.atomic.exch(shadow, 0, word | is_atomic << ATOMIC | value << VALUE)
    are_atomic = earlier >> ATOMIC & is_atomic != 0
    is_equal = earlier >> VALUE == value and value != UNKNOWN_VALUE
    if not (are_atomic or is_equal) and is_concurrent(earlier, clock, False):
        return earlier
    reader = shadow[1]
    if is_concurrent(reader, clock, True):
        return reader
    return UNWRITTEN if is_atomic != 0 and earlier == 0 else 0
