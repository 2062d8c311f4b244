"""Blocks that order their accesses by fences and atomic operations, or by barriers of the grid."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, int32
from support.defects import noise, seeded, zeros


def counts(n):
    return zeros(n, dtype=np.int32)


# ---- the last block adds up --------------------------------------------------------------------


@seeded("race", 4, 32, lambda: (noise(128), counts(4), counts(2), counts(1)))
def last_block_without_a_fence(a, parts, done, total):
    """The fence between a part and its counter is forgotten; another fence is elsewhere."""
    is_last = cuda.shared.array(1, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        cuda.atomic.add(done, 1, 1)
        cuda.threadfence()
        part = np.int32(0)
        for k in range(32):
            part += a[32 * b + k]
        parts[b] = part  # other
        cuda.threadfence()  # defect: removed
        is_last[0] = cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if is_last[0] and t < 4:
        cuda.atomic.add(total, 0, parts[t])  # finding


@seeded("race", 4, 32, lambda: (noise(128), counts(4), counts(1), counts(1)))
def last_block_with_a_fence_of_the_block(a, parts, done, total):
    """The fence is one for threads of the block only."""
    is_last = cuda.shared.array(1, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        parts[b] = a[32 * b] + a[32 * b + 31]  # other
        cuda.threadfence()  # defect: cuda.threadfence_block()
        is_last[0] = cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if is_last[0] and t == 0:
        for k in range(4):
            total[0] += parts[k]  # finding


@seeded("race", 3, 64, lambda: (noise(192), counts(192), counts(1), counts(1)))
def last_block_counts_before_all_have_written(a, out, done, total):
    """Thread 0 counts its block as done before the other threads have written."""
    is_last = cuda.shared.array(1, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    out[i] = a[i] * 2  # other
    cuda.threadfence()
    cuda.syncthreads()  # defect: removed
    if t == 0:
        is_last[0] = cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if is_last[0]:
        for k in range(3):
            cuda.atomic.add(total, 0, out[64 * k + t])  # finding


@seeded("race", 4, 32, lambda: (noise(128), counts(4), counts(1), counts(1)))
def last_block_with_the_fence_too_early(a, parts, done, total):
    """The fence is before the write that it should make visible."""
    is_last = cuda.shared.array(1, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        cuda.threadfence()
        parts[b] = a[32 * b]  # other
        cuda.threadfence()  # defect: removed
        is_last[0] = cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if is_last[0] and t == 0:
        for k in range(4):
            total[0] += parts[k]  # finding


@seeded("race", 3, 64, lambda: (noise(192), counts(192), counts(1), counts(1)))
def last_block_with_the_fence_of_one_thread(a, out, done, total):
    """Only thread 0 executes the fence, before the barrier that it should follow."""
    is_last = cuda.shared.array(1, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    out[i] = a[i] * 2  # other
    cuda.threadfence()  # defect: if t == 0: cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        is_last[0] = cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if is_last[0]:
        for k in range(3):
            cuda.atomic.add(total, 0, out[64 * k + t])  # finding


# ---- flags -------------------------------------------------------------------------------------


@seeded("race", 5, 32, lambda: (noise(160), counts(5), counts(5)))
def chain_without_a_fence(a, sums, ready):
    """A block adds to the sum of the one before, which says that it is ready too early."""
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        before = np.int32(0)
        if b > 0:
            while cuda.atomic.add(ready, b - 1, 0) == 0:
                cuda.nanosleep(20)
            cuda.threadfence()
            before = sums[b - 1]  # finding
        sums[b] = before + a[32 * b]  # other
        cuda.threadfence()  # defect: removed
        cuda.atomic.exch(ready, b, 1)


@seeded("race", 5, 32, lambda: (noise(160), counts(5), counts(5)))
def chain_that_does_not_wait(a, sums, ready):
    """The flag is tested once, and not waited for."""
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        sums[b] = a[32 * b]  # other
        cuda.threadfence()
        cuda.atomic.exch(ready, b, 1)
        if b < 4:
            while cuda.atomic.add(ready, b + 1, 0) == 0:  # defect: if b < 0:
                cuda.nanosleep(20)
            cuda.threadfence()
            if sums[b + 1] < 0:  # finding
                cuda.atomic.add(ready, b, 1)


@seeded("race", 4, 64, lambda: (noise(256), counts(256), counts(4)))
def threads_that_do_not_wait(a, out, ready):
    """Thread 0 waits for the block before, and the others do not wait for thread 0."""
    i, t, b = cuda.grid(1), cuda.threadIdx.x, cuda.blockIdx.x
    if b > 0:
        if t == 0:
            while cuda.atomic.add(ready, b - 1, 0) == 0:
                cuda.nanosleep(20)
            cuda.threadfence()
        cuda.syncthreads()  # defect: removed
        out[i] = out[i - 64] + a[i]  # finding, other
    else:
        out[i] = a[i]  # other
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.exch(ready, b, 1)


@seeded("race", 4, 32, lambda: (noise(4), counts(4), counts(4)))
def flag_by_a_plain_store(a, out, ready):
    """Readers poll by atomic operations what the writer stores plainly."""
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        out[b] = a[b]
        cuda.threadfence()
        cuda.atomic.exch(ready, b, 1)  # other, defect: ready[b] = 1
        if b > 0:
            while cuda.atomic.add(ready, b - 1, 0) == 0:  # finding
                cuda.nanosleep(20)
            cuda.threadfence()
            cuda.atomic.add(ready, b, out[b - 1] * 0)


@seeded("race", 4, 1, lambda: (counts(4), counts(1)))
def polled_by_plain_loads(data, turn):
    """A loop with a fence reads a flag by plain loads, which is set too early."""
    b = cuda.blockIdx.x
    while turn[0] != b:
        cuda.threadfence()
    data[0] += 1  # finding, other
    cuda.threadfence()  # defect: removed
    turn[0] = b + 1


@seeded("race", 6, 16, lambda: (noise(96), counts(96), counts(6), counts(6), counts(1)))
def look_back(a, out, parts, flags, tickets):
    """The part of a block is stored after the flag that says so."""
    shared = cuda.shared.array(2, int32)
    t = cuda.threadIdx.x
    if t == 0:
        shared[0] = cuda.atomic.add(tickets, 0, 1)
    cuda.syncthreads()
    b = shared[0]
    if t == 0:
        own = np.int32(0)
        for k in range(16):
            own += a[16 * b + k]
        parts[b] = own  # other
        cuda.threadfence()  # defect: removed
        cuda.atomic.exch(flags, b, 1)
        before, j = np.int32(0), b - 1
        while j >= 0:
            if cuda.atomic.add(flags, j, 0) == 1:
                cuda.threadfence()
                before += parts[j]  # finding
                j -= 1
        shared[1] = before
    cuda.syncthreads()
    x = shared[1]
    for k in range(t + 1):
        x += a[16 * b + k]
    out[16 * b + t] = x


# ---- locks -------------------------------------------------------------------------------------


@device
def lock(mutex):
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
        cuda.nanosleep(20)
    cuda.threadfence()


@device
def unlock(mutex):
    cuda.threadfence()
    cuda.atomic.exch(mutex, 0, 0)


@device
def unlock_without_a_fence(mutex):
    cuda.atomic.exch(mutex, 0, 0)


@seeded("race", 5, 32, lambda: (noise(5), counts(1), counts(2)))
def account(a, mutex, data):
    """Two numbers that change together, without the lock."""
    if cuda.threadIdx.x == 0:
        lock(mutex)  # defect: removed
        data[0] += a[cuda.blockIdx.x]
        data[1] += 1  # finding, other
        unlock(mutex)  # defect: removed


@seeded("race", 5, 32, lambda: (counts(1), counts(1)))
def lock_released_without_a_fence(mutex, data):
    if cuda.threadIdx.x == 0:
        lock(mutex)
        data[0] += 1  # finding, other
        unlock(mutex)  # defect: unlock_without_a_fence(mutex)


@seeded("race", 4, 32, lambda: (counts(2), counts(1)))
def two_locks(mutexes, data):
    """Odd blocks take the other lock."""
    if cuda.threadIdx.x == 0:
        which = 0  # defect: which = cuda.blockIdx.x % 2
        lock(mutexes[which:])
        data[0] += 1  # finding, other
        unlock(mutexes[which:])


@seeded("race", 4, 32, lambda: (counts(1), counts(1), counts(4)))
def read_without_the_lock(mutex, data, out):
    """The sum is read before the lock is taken."""
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b % 2 == 1:
            out[b] = 0  # finding, defect: out[b] = data[0]
        lock(mutex)
        data[0] += 1  # other
        unlock(mutex)


@seeded("race", 3, 4, lambda: (counts(2), counts(1)))
def lock_by_tickets(turns, data):
    """Every thread takes a ticket; the next turn begins before the write is visible."""
    mine = cuda.atomic.add(turns, 0, 1)
    while cuda.atomic.add(turns, 1, 0) != mine:
        cuda.nanosleep(20)
    cuda.threadfence()
    data[0] += mine  # finding, other
    cuda.threadfence()  # defect: removed
    cuda.atomic.add(turns, 1, 1)


@seeded("race", 4, 32, lambda: (counts(1), counts(1)))
def lock_by_exchange(mutex, data):
    """A lock that is released after a fence of the block."""
    if cuda.threadIdx.x == 0:
        while cuda.atomic.exch(mutex, 0, 1) != 0:
            cuda.nanosleep(20)
        cuda.threadfence()
        data[0] += 1  # finding, other
        cuda.threadfence()  # defect: cuda.threadfence_block()
        cuda.atomic.exch(mutex, 0, 0)


# ---- queues ------------------------------------------------------------------------------------


@seeded("race", 2, 4, lambda: (noise(24), counts(24), counts(1), counts(2)))
def mailbox_of_two_blocks(a, out, box, ends):
    """Block 0 writes, block 1 reads; the writer overwrites what is still read."""
    if cuda.threadIdx.x == 0:
        for k in range(24):
            if cuda.blockIdx.x == 0:
                while k - cuda.atomic.add(ends, 1, 0) >= 1:
                    cuda.nanosleep(20)
                cuda.threadfence()
                box[0] = a[k] + 7  # finding, other
                cuda.threadfence()
                cuda.atomic.add(ends, 0, 1)
            else:
                while cuda.atomic.add(ends, 0, 0) <= k:
                    cuda.nanosleep(20)
                cuda.threadfence()
                out[k] = box[0]  # finding, other
                cuda.threadfence()  # defect: removed
                cuda.atomic.add(ends, 1, 1)


@seeded("race", 4, 32, lambda: (noise(128), counts(128), counts(2), counts(1)))
def queue_read_before_it_is_filled(a, queue, ends, total):
    """Threads append; the last block reads when all have counted, before all have written."""
    is_last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    place = cuda.atomic.add(ends, 0, 1)
    cuda.threadfence()
    queue[place] = a[place]  # other
    cuda.threadfence()  # defect: removed
    if cuda.atomic.add(ends, 1, 1) == 127:
        for k in range(128):
            total[0] += queue[k]  # finding
    is_last[0] = 0 if t < 0 else 1


# ---- barriers of the grid ----------------------------------------------------------------------


@seeded("race", 4, 32, lambda: (noise(128), counts(128), counts(128)))
def phases_of_a_grid(a, b, c):
    """One of the barriers between phases is missing."""
    i, grid = cuda.grid(1), cuda.cg.this_grid()
    b[i] = a[i] + 1
    grid.sync()
    c[i] = b[(i + 32) % 128]  # other
    grid.sync()  # defect: removed
    b[i] = c[(i + 64) % 128]  # finding
    grid.sync()
    c[i] += b[127 - i]


@seeded("race", 3, 32, lambda: (noise(96), counts(96), 3))
def rounds_of_a_grid(a, b, rounds):
    """A block writes what others still read in the same round."""
    i, grid = cuda.grid(1), cuda.cg.this_grid()
    for _ in range(rounds):
        b[i] = a[(i + 1) % 96] + 1  # finding, other
        grid.sync()
        a[i] = b[i]  # finding, other
        grid.sync()  # defect: cuda.syncthreads()


@seeded("race", 4, 32, lambda: (noise(128), counts(4), counts(1)))
def total_before_the_barrier(a, parts, total):
    """Block 0 adds up the parts of all blocks before the barrier of the grid."""
    t, b, grid = cuda.threadIdx.x, cuda.blockIdx.x, cuda.cg.this_grid()
    if b == 3 and t == 0:
        total[0] = 0  # finding, defect: total[0] = parts[0]
    if t == 0:
        parts[b] = a[32 * b]  # other
    grid.sync()
    if b == 0 and t == 0:
        for k in range(4):
            total[0] += parts[k]


@device
def barrier_by_hand(state, goal):
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()  # defect: removed
        cuda.atomic.add(state, 0, 1)
        while cuda.atomic.add(state, 0, 0) < goal:
            cuda.nanosleep(20)
        cuda.threadfence()
    cuda.syncthreads()


@seeded("race", 3, 32, lambda: (noise(96), counts(96), counts(1), 3))
def rounds_with_a_barrier_by_hand(a, b, state, rounds):
    """The barrier has no fence before its counter."""
    i, n = cuda.grid(1), 3
    for k in range(rounds):
        b[i] = a[(i + 1) % 96] + k  # finding, other
        barrier_by_hand(state, n * (2 * k + 1))
        a[i] = b[i] + b[(i + 40) % 96]  # finding, other
        barrier_by_hand(state, n * (2 * k + 2))


# ---- threads of a block ------------------------------------------------------------------------


@seeded("race", 1, 64, lambda: (noise(32), counts(32)))
def warp_that_waits_for_another(a, out):
    """A flag in shared memory counts the threads that have written."""
    flag = cuda.shared.array(1, int32)
    data = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    if t == 0:
        flag[0] = 0
    cuda.syncthreads()
    if t < 32:
        data[t] = a[t] * 3  # other
        cuda.threadfence_block()
        cuda.atomic.add(flag, 0, 1)
    else:
        while cuda.atomic.add(flag, 0, 0) < 32:  # defect: while t < 0:
            cuda.nanosleep(20)
        cuda.threadfence_block()
        out[t - 32] = data[63 - t]  # finding


@seeded("race", 1, 64, lambda: (noise(2), counts(2)))
def flag_within_a_block(a, out):
    """Thread 0 writes a number for thread 32, and forgets the fence."""
    flag = cuda.shared.array(1, int32)
    data = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        flag[0] = 0
    cuda.syncthreads()
    if t == 0:
        data[0] = a[0]  # other
        cuda.threadfence_block()  # defect: removed
        cuda.atomic.exch(flag, 0, 1)
    if t == 32:
        while cuda.atomic.add(flag, 0, 0) == 0:
            cuda.nanosleep(20)
        cuda.threadfence_block()
        out[0] = data[0]  # finding
