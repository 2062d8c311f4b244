"""Blocks and threads that communicate through memory and busy-wait."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, int32
from support.synchronization.program import ints, program, shuffled, zeros

# ---- without waiting --------------------------------------------------------------------------


@program(5, 32, ints(160), zeros(5), zeros(1))
def blocks_by_ticket(a, out, tickets):
    """A block's number is the order in which it begins."""
    number = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        number[0] = cuda.atomic.add(tickets, 0, 1)
    cuda.syncthreads()
    cuda.atomic.add(out, number[0], a[number[0] * 32 + t])


@blocks_by_ticket.gives
def _(a, out, tickets):
    out[:], tickets[0] = a.reshape(5, 32).sum(axis=1), 5


@program(6, 32, ints(192), zeros(6), zeros(1), zeros(1))
def the_last_block_adds_up(a, parts, done, total):
    last = cuda.shared.array(1, int32)
    tile = cuda.shared.array(32, int32)
    i, t, b = cuda.grid(1), cuda.threadIdx.x, cuda.blockIdx.x
    tile[t] = a[i]
    cuda.syncthreads()
    if t == 0:
        part = 0
        for value in tile:
            part += value
        parts[b] = part
        cuda.threadfence()
        last[0] = int32(cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1)
    cuda.syncthreads()
    if last[0] and t == 0:
        for k in range(cuda.gridDim.x):
            total[0] += parts[k]


@the_last_block_adds_up.gives
def _(a, parts, done, total):
    parts[:], done[0], total[0] = a.reshape(6, 32).sum(axis=1), 6, a.sum()


@program(3, 16, shuffled(100), zeros(100), zeros(1))
def work_from_a_queue(a, out, following):
    """Each thread takes the next element until there is none."""
    i = cuda.atomic.add(following, 0, 1)
    while i < len(a):
        out[i] = a[i] * 2
        i = cuda.atomic.add(following, 0, 1)


@work_from_a_queue.gives
def _(a, out, following):
    out[:], following[0] = a * 2, 100 + 48


@program(4, 32, ints(128), zeros(128), zeros(1), unordered=(1,))
def elements_in_any_order(a, out, count):
    i = cuda.grid(1)
    if a[i] > 0:
        out[cuda.atomic.add(count, 0, 1)] = a[i]


@elements_in_any_order.gives
def _(a, out, count):
    kept = a[a > 0]
    count[0] = len(kept)
    out[: len(kept)] = kept


@program(3, 32, ints(96, low=0, high=1000), zeros(1), zeros(1))
def the_greatest_of_all(a, greatest, others):
    i = cuda.grid(1)
    if cuda.atomic.max(greatest, 0, a[i]) > a[i]:
        cuda.atomic.add(others, 0, 0)


@the_greatest_of_all.gives
def _(a, greatest, others):
    greatest[0] = a.max()


# ---- waiting for memory ------------------------------------------------------------------------


@program(8, 16, ints(128), zeros(128), zeros(8), zeros(8))
def scan_in_a_chain(a, out, totals, ready):
    """A block waits for the total of the one before it."""
    before = cuda.shared.array(1, int32)
    i, t, b = cuda.grid(1), cuda.threadIdx.x, cuda.blockIdx.x
    total = 0
    for k in range(16):
        total += a[b * 16 + k]
    if t == 0:
        before[0] = 0
        if b > 0:
            while cuda.atomic.add(ready, b - 1, 0) == 0:
                pass
            cuda.threadfence()
            before[0] = cuda.atomic.add(totals, b - 1, 0)
        cuda.atomic.add(totals, b, before[0] + total)
        cuda.threadfence()
        cuda.atomic.add(ready, b, 1)
    cuda.syncthreads()
    x = before[0]
    for k in range(t + 1):
        x += a[b * 16 + k]
    out[i] = x


@scan_in_a_chain.gives
def _(a, out, totals, ready):
    out[:] = np.cumsum(a)
    totals[:], ready[:] = out[15::16], 1


@program(9, 16, ints(144), zeros(144), zeros(9), zeros(9), zeros(9), zeros(1))
def scan_that_looks_back(a, out, flags, parts, sums, tickets):
    """A block says its own sum (flag 1), then that of all up to it (flag 2); it goes back over
    the blocks before until one knows its whole sum."""
    shared = cuda.shared.array(2, int32)
    t = cuda.threadIdx.x
    if t == 0:
        shared[0] = cuda.atomic.add(tickets, 0, 1)
    cuda.syncthreads()
    b = shared[0]
    if t == 0:
        own = 0
        for k in range(16):
            own += a[b * 16 + k]
        cuda.atomic.exch(parts, b, own)
        cuda.threadfence()
        cuda.atomic.exch(flags, b, 1)
        before, j = 0, b - 1
        while j >= 0:
            flag = cuda.atomic.add(flags, j, 0)
            if flag == 2:
                cuda.threadfence()
                before += cuda.atomic.add(sums, j, 0)
                break
            if flag == 1:
                cuda.threadfence()
                before += cuda.atomic.add(parts, j, 0)
                j -= 1
        cuda.atomic.exch(sums, b, before + own)
        cuda.threadfence()
        cuda.atomic.exch(flags, b, 2)
        shared[1] = before
    cuda.syncthreads()
    x = shared[1]
    for k in range(t + 1):
        x += a[b * 16 + k]
    out[b * 16 + t] = x


@scan_that_looks_back.gives
def _(a, out, flags, parts, sums, tickets):
    out[:] = np.cumsum(a)
    flags[:], tickets[0] = 2, 9
    parts[:], sums[:] = a.reshape(9, 16).sum(axis=1), out[15::16]


@device
def lock(mutex):
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
        cuda.nanosleep(20)
    cuda.threadfence()


@device
def unlock(mutex):
    cuda.threadfence()
    cuda.atomic.exch(mutex, 0, 0)


@program(6, 32, zeros(1), zeros(2))
def a_lock_for_each_block(mutex, data):
    if cuda.threadIdx.x == 0:
        lock(mutex)
        first, second = cuda.atomic.add(data, 0, 0), cuda.atomic.add(data, 1, 0)
        cuda.atomic.exch(data, 0, first + 1)
        cuda.atomic.exch(data, 1, second + first + 1)
        unlock(mutex)


@a_lock_for_each_block.gives
def _(mutex, data):
    data[:] = 6, 21


@program(2, 40, zeros(1), zeros(1))
def a_lock_for_each_thread(mutex, count):
    """Lanes of one warp wait for one another: they make progress on their own."""
    lock(mutex)
    cuda.atomic.exch(count, 0, cuda.atomic.add(count, 0, 0) + 1)
    unlock(mutex)


@a_lock_for_each_thread.gives
def _(mutex, count):
    count[0] = 80


@program(2, 33, zeros(1), zeros(1))
def a_lock_by_tries(mutex, count):
    done = False
    while not done:
        if cuda.atomic.cas(mutex, 0, 0, 1) == 0:
            cuda.threadfence()
            cuda.atomic.exch(count, 0, cuda.atomic.add(count, 0, 0) + 1)
            cuda.threadfence()
            cuda.atomic.exch(mutex, 0, 0)
            done = True


@a_lock_by_tries.gives
def _(mutex, count):
    count[0] = 66


@program(3, 20, zeros(2), zeros(60), unordered=(1,))
def a_lock_by_tickets(turns, order):
    mine = cuda.atomic.add(turns, 0, 1)
    while cuda.atomic.add(turns, 1, 0) != mine:
        pass
    cuda.threadfence()
    order[mine] = cuda.grid(1)
    cuda.threadfence()
    cuda.atomic.add(turns, 1, 1)


@a_lock_by_tickets.gives
def _(turns, order):
    turns[:], order[:] = 60, np.arange(60)


@program(4, 8, zeros(4))
def a_token_goes_round(stage):
    """Block 0 starts; each block hands on what it was given; twice round."""
    b, n = cuda.blockIdx.x, cuda.gridDim.x
    if cuda.threadIdx.x == 0:
        for turn in range(2):
            expected = turn * n + b
            while cuda.atomic.max(stage, 0, 0) != expected:
                pass
            cuda.atomic.add(stage, b, 10 if b else 0)
            cuda.threadfence()
            cuda.atomic.add(stage, 0, 1)


@a_token_goes_round.gives
def _(stage):
    stage[:] = 8, 20, 20, 20


@program(4, 16, ints(64), zeros(64), zeros(4))
def blocks_wait_for_later_ones(a, out, ready):
    i, t, b, n = cuda.grid(1), cuda.threadIdx.x, cuda.blockIdx.x, cuda.gridDim.x
    if b < n - 1:
        if t == 0:
            while cuda.atomic.add(ready, b + 1, 0) == 0:
                cuda.nanosleep(50)
            cuda.threadfence()
        cuda.syncthreads()
        out[i] = a[i] + cuda.atomic.add(out, i + 16, 0)
    else:
        out[i] = a[i]
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(ready, b, 1)


@blocks_wait_for_later_ones.gives
def _(a, out, ready):
    out[:] = a.reshape(4, 16)[::-1].cumsum(axis=0)[::-1].ravel()
    ready[:] = 1


@program(1, 64, ints(32), zeros(32))
def a_warp_waits_for_another(a, out):
    """A flag in shared memory; the second warp uses what the first makes."""
    flag = cuda.shared.array(1, int32)
    data = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    if t == 0:
        flag[0] = 0
    cuda.syncthreads()
    if t < 32:
        data[t] = a[t] * 3
        cuda.threadfence_block()
        cuda.atomic.add(flag, 0, 1)
    else:
        while cuda.atomic.add(flag, 0, 0) < 32:
            pass
        cuda.threadfence_block()
        out[t - 32] = data[63 - t]


@a_warp_waits_for_another.gives
def _(a, out):
    out[:] = 3 * a[::-1]


@program(1, 8, ints(8), zeros(8), zeros(8))
def lanes_in_a_chain(a, out, ready):
    """Each thread of a warp waits for the one before."""
    t = cuda.threadIdx.x
    before = 0
    if t > 0:
        while cuda.atomic.add(ready, t - 1, 0) == 0:
            pass
        cuda.threadfence()
        before = cuda.atomic.add(out, t - 1, 0)
    cuda.atomic.exch(out, t, before + a[t])
    cuda.threadfence()
    cuda.atomic.exch(ready, t, 1)


@lanes_in_a_chain.gives
def _(a, out, ready):
    out[:], ready[:] = np.cumsum(a), 1


@program(2, 4, ints(24), zeros(24), zeros(3), zeros(2))
def a_ring_between_two_blocks(a, out, ring, ends):
    """Block 0 makes, block 1 uses; three places between them."""
    if cuda.threadIdx.x == 0:
        for k in range(len(a)):
            if cuda.blockIdx.x == 0:
                while k - cuda.atomic.add(ends, 1, 0) >= 3:
                    pass
                cuda.threadfence()
                cuda.atomic.exch(ring, k % 3, a[k] + 7)
                cuda.threadfence()
                cuda.atomic.add(ends, 0, 1)
            else:
                while cuda.atomic.add(ends, 0, 0) <= k:
                    pass
                cuda.threadfence()
                out[k] = cuda.atomic.add(ring, k % 3, 0)
                cuda.threadfence()
                cuda.atomic.add(ends, 1, 1)


@a_ring_between_two_blocks.gives
def _(a, out, ring, ends):
    out[:], ends[:] = a + 7, 24
    ring[:] = out[21:]


@device
def grid_barrier_by_hand(state, rounds):
    """The last block of a round lets all go on."""
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        if cuda.atomic.add(state, 0, 1) == cuda.gridDim.x * rounds - 1:
            cuda.atomic.exch(state, 1, rounds)
        while cuda.atomic.add(state, 1, 0) < rounds:
            pass
        cuda.threadfence()
    cuda.syncthreads()


@program(3, 16, ints(48), zeros(48), zeros(2), 4)
def rounds_with_a_barrier_by_hand(a, b, state, rounds):
    i = cuda.grid(1)
    for k in range(rounds):
        b[i] = a[(i + 1) % len(a)] + k
        grid_barrier_by_hand(state, 2 * k + 1)
        a[i] = b[i] + b[(i + 5) % len(a)]
        grid_barrier_by_hand(state, 2 * k + 2)


@rounds_with_a_barrier_by_hand.gives
def _(a, b, state, rounds):
    for k in range(rounds):
        b[:] = np.roll(a, -1) + k
        a[:] = b + np.roll(b, -5)
    state[:] = 3 * 2 * rounds, 2 * rounds
