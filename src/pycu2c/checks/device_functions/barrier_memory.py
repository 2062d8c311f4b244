"""Compare the barriers of the threads of a block: device functions in the kernel language.

The n-th barrier of all threads of a block is at one place. A block has ``RING`` slots of two rows;
n modulo ``RING`` is that of a barrier:

    [last thread that reached it, bits of the barriers that were reached]
    [bits of the barriers that threads skipped, a thread that skipped one]

A thread skips a barrier if it goes past it, as the other branch of an ``if`` does, then has an
effect, and ends without another barrier. A thread that ends at once may do so before the barrier.
It misses one if it reaches others after that, and ends with fewer than others.

All threads of the grid reach all its barriers, also those that end. The last row of the first block
tells which threads have reached most and fewest of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.checks.device_functions import recording
from pycu2c.checks.device_functions.shadow_words import (
    ARMED,
    BARRIERS,
    BLOCK,
    EPOCH,
    IDENTITY_BITS,
    IN_GRID,
    MAX_BLOCKS,
    MAX_SITE,
    MISSED,
    NOW,
    PLACE,
    SKIPPED,
    THREAD,
    VALUE,
)

RING = 4
GRID_ROW = 2 * RING
ROWS = GRID_ROW + 1
_MAX_COUNT = 510  # of barriers of the grid
_COUNT = 10  # the bit from which on a word of the clock has it, after the last site
MAX_BARRIERS = 48  # that have a bit
_TAG = 1023  # of n, which the words of a slot contain
_BITS = (1 << MAX_BARRIERS) - 1


def shadow_barrier(rows: Any, site: Any, bit: Any, clock: Any) -> Any:
    """Record that the thread reaches a barrier; return a thread that does not, or 0."""
    tag = clock[BARRIERS] & _TAG
    slot = clock[BARRIERS] % RING * 2
    clock[BARRIERS] += 1
    go_on(clock, site)
    clock[MISSED] |= clock[ARMED]
    clock[SKIPPED] = 0
    clock[ARMED] = 0
    earlier = cuda.atomic.exch(rows, (slot, 0), site | (clock[NOW] & IDENTITY_BITS) | tag << EPOCH)
    ahead = (earlier >> EPOCH) - tag & _TAG
    is_same = ahead == 0 and earlier & MAX_SITE == site
    if earlier != 0 and not is_same and ahead <= _TAG // 2:
        return earlier
    if bit == 0:
        return 0
    add_bits(rows, slot, 1, bit, tag)
    return rows[slot + 1, 1] if tagged_bits(rows, slot + 1, 0, tag) & bit != 0 else 0


def add_bits(rows: Any, row: Any, column: Any, bits: Any, tag: Any) -> Any:
    """Add bits to those of a slot, which may still have those of another barrier."""
    if rows[row, column] >> MAX_BARRIERS == tag:
        cuda.atomic.or_(rows, (row, column), bits)
    else:
        cuda.atomic.exch(rows, (row, column), bits | tag << MAX_BARRIERS)
    return False


def tagged_bits(rows: Any, row: Any, column: Any, tag: Any) -> Any:
    word = cuda.atomic.or_(rows, (row, column), np.uint64(0))
    return word & _BITS if word >> MAX_BARRIERS == tag else 0


def skip_barriers(clock: Any, bits: Any) -> Any:
    """Record that the thread goes past barriers; return False."""
    clock[SKIPPED] |= bits
    return False


def leave_loop(clock: Any, bits: Any) -> Any:
    """Record that the thread may have left a loop with barriers before others; return False."""
    clock[MISSED] &= ~bits
    return skip_barriers(clock, bits)


def go_on(clock: Any, site: Any) -> Any:
    """Record that the thread has an effect, and so has not ended; return False."""
    if clock[SKIPPED] != 0:
        if clock[ARMED] == 0:
            clock[PLACE] = site
        clock[ARMED] |= clock[SKIPPED]
    return False


def end_thread(findings: Any, rows: Any, clock: Any, kept: Any) -> Any:
    """Compare the barriers that the thread has skipped with those of others; return False.

    kept: the barriers outside of the loops that the thread leaves by its end.
    """
    bits = (clock[ARMED] | clock[MISSED]) & kept
    if bits == 0:
        return False
    tag = clock[BARRIERS] & _TAG
    slot = clock[BARRIERS] % RING * 2
    word = clock[PLACE] | (clock[NOW] & IDENTITY_BITS) | tag << EPOCH
    cuda.atomic.exch(rows, (slot + 1, 1), word)
    add_bits(rows, slot + 1, 0, bits, tag)
    if tagged_bits(rows, slot, 1, tag) & bits != 0:
        record_waiting(findings, rows[slot, 0], word)
    return False


def record_waiting(findings: Any, waiting: Any, other: Any) -> Any:
    """Record a finding of a thread that waits at a barrier; return False."""
    number = waiting & MAX_SITE
    if number == 0 or number == MAX_SITE:
        return False
    site = np.int64(number) - 1
    if cuda.atomic.add(findings, (site, recording.COUNT), 1) == 0:
        findings[site, recording.THREAD] = np.int64(waiting >> THREAD & 1023)
        findings[site, recording.BLOCK] = np.int64(waiting >> BLOCK & MAX_BLOCKS - 1)
        findings[site, recording.VALUES] = np.int64(other)
        findings[findings.shape[0] - 1, recording.FOUND] = 1
    return False


def reach_grid_barrier(clock: Any, site: Any) -> Any:
    """Count a barrier of the grid; return False."""
    count = clock[IN_GRID] >> _COUNT
    clock[IN_GRID] = site | min(count + 1, _MAX_COUNT) << _COUNT
    return False


def end_in_grid(findings: Any, row: Any, clock: Any) -> Any:
    """Compare how many barriers of the grid threads have reached; return False.

    row: the threads that have reached most of them, and fewest, up to now.
    """
    count = clock[IN_GRID] >> _COUNT
    own = (clock[NOW] & IDENTITY_BITS) | (clock[IN_GRID] & MAX_SITE)
    most = raised(row, 0, own | count + 1 << VALUE)
    fewest = raised(row, 1, own | _MAX_COUNT - count << VALUE)
    if (most >> VALUE) - 1 != _MAX_COUNT - (fewest >> VALUE):
        record_waiting(findings, most, fewest)
    return False


def raised(row: Any, column: Any, word: Any) -> Any:
    """Return the greatest word up to now."""
    if cuda.ldcv(row, column) >> VALUE >= word >> VALUE:
        return cuda.ldcv(row, column)
    return max(cuda.atomic.max(row, column, word), word)
