"""Barriers that only some threads of a block reach, while the others wait at another one."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, float32, int32
from support.defects import noise, ramp, seeded, zeros


@seeded("divergent-barrier", 2, 64, lambda: (ramp(100), zeros(128)))
def barrier_inside_a_guard(a, out):
    """Threads beyond the array do not reach the barrier."""
    tile = cuda.shared.array(64, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = 0
    cuda.syncthreads()
    if i < a.size:
        tile[t] = a[i]
        pass  # finding, defect: cuda.syncthreads()
    cuda.syncthreads()  # finding
    out[i] = tile[63 - t]


@seeded("divergent-barrier", 1, 64, lambda: (ramp(64), zeros(64)))
def barriers_of_two_branches(a, out):
    """Each branch has a barrier of its own."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < 32:
        tile[t] = a[t]
        pass  # finding, defect: cuda.syncthreads()
    else:
        tile[t] = -a[t]
        pass  # finding, defect: cuda.syncthreads()
    cuda.syncthreads()
    out[t] = tile[63 - t]


@seeded("divergent-barrier", 1, 64, lambda: (noise(64), zeros(64, dtype=np.int32)))
def different_numbers_of_rounds(a, out):
    """The number of iterations with a barrier depends on the thread."""
    best = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    best[t] = a[t]
    cuda.syncthreads()
    rounds = 3  # defect: rounds = 3 + t // 32
    for _ in range(rounds):
        x = best[(t + 1) % 64]
        cuda.syncthreads()  # finding
        best[t] = max(best[t], x)
        cuda.syncthreads()  # finding
    cuda.syncthreads()  # finding
    out[t] = best[63 - t]


@seeded("divergent-barrier", 2, 64, lambda: (noise(128), zeros(2, dtype=np.int32)))
def barrier_for_the_active_half(a, out):
    """Only the threads that add wait for each other."""
    sums = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    sums[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    half = 32
    while half > 0:
        if t < half:
            sums[t] += sums[t + half]
            pass  # finding, defect: cuda.syncthreads()
        cuda.syncthreads()  # finding
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = sums[0]


@seeded("divergent-barrier", 1, 64, lambda: (noise(64), zeros(1, dtype=np.int32)))
def search_that_some_leave(a, out):
    """A thread leaves a loop with barriers when it has found something."""
    found = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        found[0] = 0
    cuda.syncthreads()
    for k in range(4):
        if a[(t + k) % 64] % 10 == 7:
            cuda.atomic.max(found, 0, t)
            pass  # defect: break
        cuda.syncthreads()  # finding
    cuda.syncthreads()  # finding
    if t == 0:
        out[0] = found[0]


@device
def shared_total(values, t):
    for half in (32, 16, 8, 4, 2, 1):
        if t < half:
            values[t] += values[t + half]
        cuda.syncthreads()  # finding
    return values[0]


@seeded("divergent-barrier", 1, 64, lambda: (ramp(64), zeros(64)))
def device_function_with_a_barrier(a, out):
    """A function with a barrier is called in a branch."""
    values = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    values[t] = a[t]
    cuda.syncthreads()
    total = np.float32(1)
    if len(a) > 10:  # defect: if a[t] > 10:
        total = shared_total(values, t)
    cuda.syncthreads()  # finding
    out[t] = total


@seeded("divergent-barrier", 2, (8, 8), lambda: (ramp(16, 8), zeros(16, 8)))
def vote_of_a_row(a, out):
    """A barrier that counts, in the threads of some rows."""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row = 8 * cuda.blockIdx.x + y
    count = 0
    if y < 8:  # defect: if y < 4:
        count = cuda.syncthreads_count(a[row, x] > 20)  # finding
    cuda.syncthreads()  # finding
    out[row, x] = count


@seeded("divergent-barrier", 1, 96, lambda: (ramp(96), zeros(96)))
def warps_with_different_work(a, out):
    """A warp loads, the others compute, and they count different numbers of barriers."""
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    total = np.float32(0)
    for k in range(3):
        if t < 32:
            tile[t] = a[32 * k + t]
        cuda.syncthreads()  # finding
        if t >= 32:
            total += tile[t % 32]
            pass  # finding, defect: cuda.syncthreads()
        cuda.syncthreads()  # finding
    out[t] = total


@seeded("divergent-barrier", 1, 128, lambda: (ramp(128), zeros(128)))
def returned_threads(a, out):
    """Threads that return need no barrier; threads that skip one do."""
    tile = cuda.shared.array(96, float32)
    t = cuda.threadIdx.x
    if t >= 96:
        return
    tile[t] = a[t]
    if t < 96:  # defect: if t < 64:
        cuda.syncthreads()  # finding
    total = tile[95 - t]
    cuda.syncthreads()  # finding
    tile[t] = total
    cuda.syncthreads()  # finding
    out[t] = tile[(t + 1) % 96]


@seeded("divergent-barrier", 1, (4, 4, 4), lambda: (ramp(4, 4, 4), zeros(4, 4, 4)))
def barrier_of_a_block_group(a, out):
    """The barrier of a thread block group, in some layers."""
    tile = cuda.shared.array((4, 4, 4), float32)
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    block = cuda.cg.this_thread_block()
    tile[z, y, x] = a[z, y, x]
    if z >= 0:  # defect: if z >= 2:
        block.sync()  # finding
    block.sync()  # finding
    out[z, y, x] = tile[3 - z, y, x]


@seeded("divergent-barrier", 2, 32, lambda: (ramp(64), zeros(64)))
def grid_barrier_and_block_barrier(a, out):
    """Some threads wait for the grid, the others for the block."""
    i, t = cuda.grid(1), cuda.threadIdx.x
    a[i] += 1
    if t >= 0:  # defect: if t >= 16:
        cuda.cg.this_grid().sync()  # finding
    cuda.syncthreads()  # finding
    out[i] = a[63 - i]
    cuda.cg.this_grid().sync()  # finding


@seeded("divergent-barrier", 3, 64, lambda: (noise(192, limit=50), zeros(192, dtype=np.int32)))
def loop_that_all_leave_together(a, out):
    """All threads of a block leave a loop at once, and blocks have different numbers of rounds."""
    i = cuda.grid(1)
    x, rounds = a[i], 0
    is_left = cuda.syncthreads_or(x > 0)  # finding
    while is_left:  # defect: while x > 0:
        x -= 7 + cuda.blockIdx.x
        rounds += 1
        is_left = cuda.syncthreads_or(x > 0)  # finding
    if cuda.blockIdx.x == 1:
        cuda.syncthreads()  # finding
    cuda.syncthreads()  # finding
    out[i] = rounds
