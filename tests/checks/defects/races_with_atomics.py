"""Atomic operations on elements that other threads access without them."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, int32
from support.defects import noise, ramp, seeded, zeros


def counts(n):
    return zeros(n, dtype=np.int32)


@seeded("race", 2, 64, lambda: (noise(128), counts(2)))
def counter_of_a_block(a, out):
    """A counter that is read before all threads have counted."""
    count = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        count[0] = 0
    cuda.syncthreads()
    if a[cuda.grid(1)] > 50:
        cuda.atomic.add(count, 0, 1)  # other
    cuda.syncthreads()  # defect: removed
    if t == 63:
        out[cuda.blockIdx.x] = count[0]  # finding


@seeded("race", 2, 64, lambda: (noise(128, limit=16), counts(16)))
def histogram_not_cleared(a, out):
    """Bins that are cleared while other threads count."""
    bins = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        bins[t] = 0  # other
    cuda.syncthreads()  # defect: removed
    cuda.atomic.add(bins, a[cuda.grid(1)], 1)  # finding
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(out, t, bins[t])


@seeded("race", 4, 32, lambda: (noise(128), counts(1), counts(128)))
def queue_length(a, length, queue):
    """The length of a queue is read while other blocks append."""
    i = cuda.grid(1)
    if a[i] >= 50:
        cuda.atomic.add(length, 0, 1)  # other
    used = cuda.atomic.add(length, 0, 0)  # finding, defect: used = length[0]
    queue[i] = used >= 0


@seeded("race", 1, 64, lambda: (counts(1), counts(64)))
def flag_of_a_search(found, out):
    """A flag that is set by a store, and tested by an atomic operation."""
    t = cuda.threadIdx.x
    if t == 40:
        cuda.atomic.exch(found, 0, 1)  # finding, defect: found[0] = 1
    if t < 40:
        out[t] = cuda.atomic.or_(found, 0, 0) * 0  # other


@seeded("race", 2, 64, lambda: (noise(128, limit=100), counts(1)))
def maximum_tested_before(a, best):
    """A test that is meant to save atomic operations."""
    x = a[cuda.grid(1)]
    if x > 0:  # finding, defect: if x > best[0]:
        cuda.atomic.max(best, 0, x)  # other


@seeded("race", 4, 32, lambda: (noise(128), counts(4)))
def first_block_starts_the_sums(a, sums):
    """Thread 0 stores the first value of a sum to which other blocks add."""
    i = cuda.grid(1)
    if i == 0:
        cuda.atomic.add(sums, 3, 1000)  # finding, defect: sums[3] = 1000
    cuda.atomic.add(sums, i % 4, a[i])  # other


@device
def append(items, count, x):
    items[cuda.atomic.add(count, 0, 1)] = x  # other


@seeded("race", 1, 64, lambda: (noise(64), counts(1)))
def list_of_a_block(a, out):
    """Thread 0 reads the length of a list before all threads have appended."""
    items = cuda.shared.array(64, int32)
    count = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        count[0] = 0
    cuda.syncthreads()
    if a[t] % 2:
        append(items, count, a[t])
    cuda.syncthreads()  # defect: removed
    if t == 0:
        total = np.int32(0)
        for k in range(count[0]):  # finding
            total += items[k]
        out[0] = total


@seeded("race", 2, 32, lambda: (noise(64, limit=8), counts(8)))
def own_bin(a, bins):
    """A thread adds to its own bin without an atomic operation, since the bin is its own."""
    i = cuda.grid(1)
    bin_ = a[i]
    if bin_ == i % 8:
        cuda.atomic.add(bins, bin_, 2)  # finding, defect: bins[bin_] += 2
    else:
        cuda.atomic.add(bins, bin_, 1)  # other


@seeded("race", 3, 32, lambda: (ramp(3, 32, dtype=np.int64), zeros(1, 4, dtype=np.int64)))
def matrix_of_totals(a, totals):
    """A plain sum in one column of a matrix, beside atomic sums of the whole row."""
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    cuda.atomic.add(totals, (0, t % 4), a[b, t])  # other
    if t == 0:
        cuda.atomic.add(totals, (0, 1), b)  # finding, defect: totals[0, 1] += b


@seeded("race", 3, 64, lambda: (counts(1), counts(1), counts(3)))
def ticket_of_a_block(next_ticket, tickets_left, out):
    """Each block takes a ticket, which thread 0 reads again after other blocks took theirs."""
    ticket = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        ticket[0] = cuda.atomic.add(next_ticket, 0, 1)  # other
    cuda.syncthreads()
    if cuda.threadIdx.x == 63:
        out[ticket[0]] = ticket[0] + 1  # finding, defect: out[ticket[0]] = next_ticket[0]


@seeded("race", 1, 128, lambda: (noise(128, limit=64), counts(64), counts(1)))
def hash_table(keys, slots, collisions):
    """A table whose slots are tested plainly, and taken by compare-and-swap."""
    key = keys[cuda.threadIdx.x] + 1
    slot = key * 7 % 64
    for _ in range(64):
        taken = cuda.atomic.cas(slots, slot, 0, key)  # other
        if taken == 0 or taken == key:  # finding, defect: if taken == 0 or slots[slot] == key:
            break
        slot = (slot + 1) % 64
    cuda.atomic.max(collisions, 0, 0)


@seeded("race", 4, 32, lambda: (counts(1), zeros(1, dtype=np.int64)))
def spin_lock(lock, total):
    """A lock that is released by a plain store."""
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:  # other
            cuda.nanosleep(100)
        cuda.threadfence()
        total[0] += cuda.blockIdx.x
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)  # finding, defect: lock[0] = 0


@seeded("race", 4, 32, lambda: (noise(128), zeros(2, dtype=np.int64)))
def start_of_a_sum(a, out):
    """The thread that sets the start takes part in the sum, as the others do."""
    i = cuda.grid(1)
    if i == 0:
        out[1] = 5  # other, defect: out[0] = 5
    cuda.atomic.add(out, 0, a[i])  # finding
