"""Order of accesses by warp operations of some lanes: device functions in the kernel language.

Each lane has a vector clock: for each lane of its warp, how many warp operations that one had
passed when the two last synchronized, directly or through others. Such a clock is a row of four
words of eight bytes. Before an operation, its lanes vote, and the first one joins their rows in
memory; after the operation, each lane copies its row to its own clock.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.checks.device_functions.shadow_words import (
    ARMED,
    BY_LANES,
    HAS_CONVERGED,
    LANE_COUNTS,
    LANE_WORDS,
    MAX_WARP,
    NOW,
    SKIPPED,
    SKIPPED_WORD,
    THREAD,
    count_operation,
)

_HIGH = 0x4040404040404040  # above the largest count in each byte


def start_lanes(rows: Any, clock: Any) -> Any:
    """Let the thread compare its accesses with those of its warp by lanes; return False."""
    clock[BY_LANES] = 1
    return clear_lanes(rows, clock)


def clear_lanes(rows: Any, clock: Any) -> Any:
    """Count from 0, at the start and after a barrier of the block; return False."""
    thread = own_thread(clock)
    for word in range(LANE_WORDS):
        clock[LANE_COUNTS + word] = 0
        rows[thread, word] = 0
    rows[thread, thread % 32 // 8] = np.uint64(1) << thread % 8 * 8
    return False


def own_thread(clock: Any) -> Any:
    return int(clock[NOW] >> THREAD & 1023)


def join_lanes(rows: Any, clock: Any, mask: Any) -> Any:
    """Join the rows of the lanes of an operation, in its first lane; return False.

    All lanes have arrived; the others wait at the operation. The own count in a row is what others
    are to know of.
    """
    lane = own_thread(clock) % 32
    first = own_thread(clock) - lane
    cuda.threadfence_block()
    if mask & ((1 << lane) - 1) == 0:
        count = min(32, len(rows) - first)
        for other in range(count):
            if mask >> other & 1 != 0:
                for word in range(LANE_WORDS):
                    known = clock[LANE_COUNTS + word]
                    clock[LANE_COUNTS + word] = largest(known, rows[first + other, word])
        for other in range(count):
            if mask >> other & 1 != 0:
                for word in range(LANE_WORDS):
                    rows[first + other, word] = clock[LANE_COUNTS + word]
                if rows[first + other, other // 8] >> other % 8 * 8 & MAX_WARP != MAX_WARP:
                    rows[first + other, other // 8] += np.uint64(1) << other % 8 * 8
    cuda.threadfence_block()
    return False


def largest(a: Any, b: Any) -> Any:
    """Return the larger one of each two bytes."""
    is_larger = ((a | _HIGH) - b) & _HIGH
    from_a = is_larger - (is_larger >> 6)
    return (a & from_a) | (b & ~from_a)


def pass_lanes(rows: Any, clock: Any) -> Any:
    """Count an operation of lanes, after their rows have been joined; return False."""
    for word in range(LANE_WORDS):
        clock[LANE_COUNTS + word] = rows[own_thread(clock), word]
    count_operation(clock)
    clock[HAS_CONVERGED] = 1
    return False


def skip_lane(rows: Any, clock: Any, bits: Any) -> Any:
    """Record which operations of the warp the thread, which ends, has gone past; return False.

    It has had an effect since then: see barrier_memory.
    """
    rows[own_thread(clock), SKIPPED_WORD] = clock[ARMED] & bits
    cuda.threadfence_block()
    return False


def reach_lanes(clock: Any, bits: Any) -> Any:
    """Record that the thread executes an operation of the warp; return False."""
    clock[SKIPPED] &= ~bits
    clock[ARMED] &= ~bits
    return False


def lane_that_skips(rows: Any, clock: Any, mask: Any, present: Any, bit: Any) -> Any:
    """Return a lane of the mask that has gone past an operation, and has ended; else -1."""
    first = own_thread(clock) // 32 * 32
    result = -1
    for lane in range(min(32, len(rows) - first)):
        is_absent = mask >> lane & 1 != 0 and present >> lane & 1 == 0
        if is_absent and rows[first + lane, SKIPPED_WORD] & bit != 0:
            result = lane
    return result


def end_lane(rows: Any, clock: Any) -> Any:
    """Order all accesses of the thread, which ends, before later operations that name its lane.

    Return False.
    """
    thread = own_thread(clock)
    rows[thread, thread % 32 // 8] |= np.uint64(MAX_WARP) << thread % 8 * 8
    cuda.threadfence_block()
    return False
