"""Compare the barriers of the threads of a block: device functions in the kernel language.

The n-th barrier of all threads of a block is at one place. A block has ``RING`` slots of two rows;
n modulo ``RING`` is that of a barrier:

    [last thread that reached it, bits of the barriers that were reached]
    [bits of the barriers that threads skipped, a thread that skipped one]

A thread *skips* a barrier if it takes the other branch of an ``if``, or leaves a loop. The skip is
*confirmed* by an effect after it, as a thread that ends at once may do so before the barrier. It is
a finding if the thread then ends without another barrier. A barrier is *missed* if the thread
reaches others after a confirmed skip; it is a finding if the thread ends with fewer than others.

All threads of the grid reach all its barriers, also those that end. The last row of the first block
has the threads that have reached most and fewest of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.checks.device_functions.recording import store_finding
from pycu2c.checks.device_functions.shadow_words import (
    BARRIERS,
    CONFIRMED,
    EPOCH,
    GRID_ARRIVALS,
    IDENTITY_BITS,
    MAX_SITE,
    MISSED,
    NOW,
    SKIP_SITE,
    SKIPPED,
    VALUE,
    block_of,
    thread_of,
)

RING = 4
GRID_ROW = 2 * RING
ROWS = GRID_ROW + 1
_MAX_GRID_COUNT = 510
_COUNT = 10  # the bit from which on GRID_ARRIVALS has the count, after the last site
MAX_BARRIERS = 48  # that have a bit
_TAG = 1023  # of n, which the words of a slot contain
_BITS = (1 << MAX_BARRIERS) - 1


def arrive_at_barrier(rows: Any, site: Any, bit: Any, state: Any) -> Any:
    """Record that the thread reaches a barrier; return a thread that does not, or 0."""
    tag = state[BARRIERS] & _TAG
    slot = state[BARRIERS] % RING * 2
    state[BARRIERS] += 1
    confirm_skips(state, site)
    state[MISSED] |= state[CONFIRMED]
    state[SKIPPED] = 0
    state[CONFIRMED] = 0
    earlier = cuda.atomic.exch(rows, (slot, 0), site | (state[NOW] & IDENTITY_BITS) | tag << EPOCH)
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


def skip_barriers(state: Any, bits: Any) -> Any:
    """Record that the thread skips barriers."""
    state[SKIPPED] |= bits
    return False


def skip_by_loop_exit(state: Any, bits: Any) -> Any:
    """Record that the thread may have left a loop with barriers before others."""
    state[MISSED] &= ~bits
    return skip_barriers(state, bits)


def confirm_skips(state: Any, site: Any) -> Any:
    """Record that the thread has an effect, and so has not ended."""
    if state[SKIPPED] != 0:
        if state[CONFIRMED] == 0:
            state[SKIP_SITE] = site
        state[CONFIRMED] |= state[SKIPPED]
    return False


def check_skips_at_exit(findings: Any, rows: Any, state: Any, outer: Any) -> Any:
    """Compare the barriers that the thread has skipped with those of others, at its end.

    outer: the barriers outside of the loops that the thread leaves by its end.
    """
    bits = (state[CONFIRMED] | state[MISSED]) & outer
    if bits == 0:
        return False
    tag = state[BARRIERS] & _TAG
    slot = state[BARRIERS] % RING * 2
    word = state[SKIP_SITE] | (state[NOW] & IDENTITY_BITS) | tag << EPOCH
    cuda.atomic.exch(rows, (slot + 1, 1), word)
    add_bits(rows, slot + 1, 0, bits, tag)
    if tagged_bits(rows, slot, 1, tag) & bits != 0:
        record_divergence(findings, rows[slot, 0], word)
    return False


def record_divergence(findings: Any, waiting: Any, other: Any) -> Any:
    """Record a finding of a thread that waits at a barrier."""
    number = waiting & MAX_SITE
    if number == 0 or number == MAX_SITE:
        return False
    site_index, thread = np.int64(number) - 1, np.int64(thread_of(waiting))
    return store_finding(findings, site_index, thread, block_of(waiting), np.int64(other))


def arrive_at_grid_barrier(state: Any, site: Any) -> Any:
    """Count a barrier of the grid."""
    count = state[GRID_ARRIVALS] >> _COUNT
    state[GRID_ARRIVALS] = site | min(count + 1, _MAX_GRID_COUNT) << _COUNT
    return False


def check_grid_barriers_at_exit(findings: Any, row: Any, state: Any) -> Any:
    """Compare how many barriers of the grid threads have reached, at the end of the thread.

    row: the threads that have reached most of them, and fewest, up to now.
    """
    count = state[GRID_ARRIVALS] >> _COUNT
    own = (state[NOW] & IDENTITY_BITS) | (state[GRID_ARRIVALS] & MAX_SITE)
    most = running_maximum(row, 0, own | count + 1 << VALUE)
    fewest = running_maximum(row, 1, own | _MAX_GRID_COUNT - count << VALUE)
    if (most >> VALUE) - 1 != _MAX_GRID_COUNT - (fewest >> VALUE):
        record_divergence(findings, most, fewest)
    return False


def running_maximum(row: Any, column: Any, word: Any) -> Any:
    """Return the greatest word up to now."""
    if cuda.ldcv(row, column) >> VALUE >= word >> VALUE:
        return cuda.ldcv(row, column)
    return max(cuda.atomic.max(row, column, word), word)
