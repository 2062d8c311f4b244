"""Barriers that some threads go past: these have effects after it, and wait at no other barrier."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, float32, int32
from support.defects import noise, ramp, seeded, zeros


@seeded("divergent-barrier", 1, 64, lambda: (ramp(64), zeros(64)))
def barrier_in_a_branch(a, out):
    """The threads that load wait for each other, and all store."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = 0
    if t < 64:  # defect: if t < 48:
        tile[t] = a[t]
        cuda.syncthreads()  # finding
    out[t] = a[t]


@seeded("divergent-barrier", 2, 64, lambda: (ramp(100), zeros(100)))
def barrier_in_a_nested_branch(a, out):
    """Threads beyond the array return before the barrier, and others go past it."""
    tile = cuda.shared.array(64, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i >= a.size:
        return
    x = a[i]
    if a.size > 50:
        if x > 0:  # defect: if x > 30:
            tile[t] = x
            cuda.syncthreads()  # finding
        x += 1
    out[i] = x


@seeded("divergent-barrier", 1, 96, lambda: (ramp(96), zeros(96)))
def iterations_of_each_warp(a, out):
    """The warps have loops of different lengths."""
    t = cuda.threadIdx.x
    total = np.float32(0)
    for k in range(3):  # defect: for k in range(1 + t // 32):
        total += a[(t + k) % 96]
        cuda.syncthreads()  # finding
    out[t] = total


@seeded("divergent-barrier", 1, 64, lambda: (noise(64), zeros(64, dtype=np.int32)))
def iteration_that_some_continue(a, out):
    """Threads continue the loop before its barrier."""
    t = cuda.threadIdx.x
    total = 0
    for k in range(3):
        if a[t] > 20 + k:
            total += 1
            pass  # defect: continue
        cuda.syncthreads()  # finding
    out[t] = total


@seeded("divergent-barrier", (2, 1), (8, 4), lambda: (noise(64), zeros(64, dtype=np.int32)))
def loop_that_some_break(a, out):
    """Threads of a block of two dimensions leave the loop before its barrier."""
    i = cuda.threadIdx.x + 8 * cuda.threadIdx.y + 32 * cuda.blockIdx.x
    rounds = 0
    while rounds < 5:
        if a[i] < 50:
            pass  # defect: break
        rounds += 1
        cuda.syncthreads()  # finding
    out[i] = rounds


@device
def doubled_by_some(x):
    if x > 90:
        return x
    cuda.syncthreads()  # finding
    return 2 * x


@seeded("divergent-barrier", 1, 64, lambda: (noise(64, limit=90), zeros(64, dtype=np.int32)))
def return_of_a_device_function(a, out):
    """A function returns before its barrier, and its caller continues."""
    t = cuda.threadIdx.x
    x = a[t]  # defect: x = a[t] + 10
    out[t] = doubled_by_some(x)


@device
def shared_maximum(values, t, limit):
    if t < limit:
        cuda.atomic.max(values, 0, t)
        cuda.syncthreads()  # finding
    return t


@seeded("divergent-barrier", 1, (4, 4, 4), lambda: (zeros(64, dtype=np.int32),))
def branch_of_a_device_function(out):
    """A function in a loop has a barrier in a branch, and the caller adds atomically."""
    best = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x + 4 * (cuda.threadIdx.y + 4 * cuda.threadIdx.z)
    if t == 0:
        best[0] = 0
    cuda.syncthreads()
    limit = 64  # defect: limit = 60
    for _ in range(2):
        cuda.atomic.add(out, t, shared_maximum(best, t, limit))


@seeded("divergent-barrier", 2, 64, lambda: (ramp(128), zeros(128)))
def barrier_of_the_last_tile(a, out):
    """A barrier in the iterations that a thread has work in; others go on in the loop."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for k in range(2):
        if t + 64 * k < 128:  # defect: if t + 64 * k < 100:
            tile[t] = a[64 * k + t]
            cuda.syncthreads()  # finding
        out[64 * k + t] = k + t


@seeded("divergent-barrier", 1, 64, lambda: (noise(64), zeros(64, dtype=np.int32)))
def vote_in_a_branch(a, out):
    """A barrier that counts, of which only some threads use the result."""
    t = cuda.threadIdx.x
    count = 0
    if a[t] >= 0:  # defect: if a[t] > 50:
        count = cuda.syncthreads_count(a[t] > 70)  # finding
    out[t] = count


@seeded("divergent-barrier", 1, 64, lambda: (noise(64), zeros(64, dtype=np.int32)))
def other_branch_of_a_barrier(a, out):
    """The other branch has no barrier, and its threads vote with those that had one."""
    t = cuda.threadIdx.x
    x = a[t]
    if t >= 0:  # defect: if t >= 32:
        cuda.syncthreads()  # finding
        x += 1
    else:
        x -= 1
    out[t] = x + cuda.popc(cuda.ballot_sync(0xFFFFFFFF, x > 5))


@seeded("divergent-barrier", 4, 32, lambda: (ramp(128), zeros(128)))
def threads_that_end_before(a, out):
    """Threads that store and return need no barrier, and blocks may differ."""
    tile = cuda.shared.array(32, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if t >= 24:
        out[i] = -1
        return
    for k in range(1 + cuda.blockIdx.x):
        tile[t] = a[i] + k
        cuda.syncthreads()
        out[i] = tile[23 - t]
        cuda.syncthreads()
        if t >= 20 - k:
            return
    if t < 24:  # defect: if t < 8:
        tile[t] = 0
        cuda.syncthreads()  # finding
    out[i] += 1


@seeded("divergent-barrier", 1, 64, lambda: (noise(64, limit=9), zeros(64, dtype=np.int32)))
def continue_before_the_barrier(a, out):
    """Threads that skip a round have one barrier less than the others."""
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    for k in range(4):
        if a[t] == k:
            tile[t] += 1  # defect: continue
        cuda.syncthreads()  # finding
        out[t] += tile[(t + k) % 64]
        cuda.syncthreads()  # finding


@seeded("divergent-barrier", 3, 32, lambda: (ramp(96), zeros(96)))
def grid_barrier_that_a_block_goes_past(a, out):
    """The blocks of a grid have different numbers of barriers."""
    i = cuda.grid(1)
    a[i] += 1
    if cuda.blockIdx.x >= 0:  # defect: if cuda.blockIdx.x != 1:
        cuda.cg.this_grid().sync()  # finding
    out[i] = a[95 - i]


@seeded("divergent-barrier", 2, 32, lambda: (ramp(64), zeros(64)))
def return_before_a_grid_barrier(a, out):
    """Threads without an element return before the others wait for the grid."""
    i = cuda.grid(1)
    if i >= a.size:  # defect: if i >= 60:
        return
    a[i] += 1
    cuda.cg.this_grid().sync()  # finding
    out[i] = a[i ^ 1]


@seeded("divergent-barrier", 4, 32, lambda: (ramp(128), zeros(128)))
def rounds_of_each_block(a, out):
    """Each block has the rounds of its own elements."""
    i = cuda.grid(1)
    rounds = 2  # defect: rounds = 1 + cuda.blockIdx.x // 2
    for k in range(rounds):
        a[i] += k
        cuda.cg.this_grid().sync()  # finding
        out[i] += a[127 - i]
        cuda.cg.this_grid().sync()  # finding


@seeded("divergent-barrier", 1, 64, lambda: (ramp(64), zeros(64)))
def vote_of_those_that_ask(a, out):
    """A vote in an ``and`` that some threads decide without it."""
    t = cuda.threadIdx.x
    x = a[t]
    limit = -1  # defect: limit = 8
    if x > limit and cuda.syncthreads_or(x == 7):  # finding
        x += 1
    out[t] = x


@seeded("divergent-barrier", 1, 64, lambda: (ramp(64), zeros(64, dtype=np.int32)))
def count_of_a_conditional_expression(a, out):
    """A barrier in one operand of a conditional expression."""
    t = cuda.threadIdx.x
    limit = 64  # defect: limit = 48
    out[t] = cuda.syncthreads_count(a[t] > 9) if t < limit else 0  # finding
