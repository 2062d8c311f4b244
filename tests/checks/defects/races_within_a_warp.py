"""Races between the lanes of a warp, which exchange values through memory."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, float32, int32
from support.defects import noise, ramp, seeded, zeros

FULL = 0xFFFFFFFF


@seeded("race", 2, 32, lambda: (ramp(64), zeros(64)))
def exchange(a, out):
    """No synchronization between a write and the read of another lane."""
    shared = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    shared[t] = a[cuda.grid(1)]  # other
    cuda.syncwarp()  # defect: removed
    out[cuda.grid(1)] = shared[t ^ 1]  # finding


@seeded("race", 2, 64, lambda: (noise(128), zeros(4, dtype=np.int32)))
def reduction_of_a_warp(a, out):
    """A reduction that relies on the lanes running in lockstep."""
    sums = cuda.shared.array(64, int32)
    t, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
    sums[t] = a[cuda.grid(1)]
    cuda.syncwarp()
    for half in (16, 8, 4, 2, 1):
        if lane < half:
            sums[t] += sums[t + half]  # finding, other
        cuda.syncwarp()  # defect: removed
    if lane == 0:
        out[cuda.grid(1) // 32] = sums[t]


@seeded("race", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def scan_of_a_warp(a, out):
    """No synchronization between the reads and the writes of a step."""
    sums = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    sums[t] = a[t]
    cuda.syncwarp()
    for step in (1, 2, 4, 8, 16):
        left = sums[t - step] if t >= step else np.int32(0)  # other
        cuda.syncwarp()  # defect: removed
        sums[t] += left  # finding
        cuda.syncwarp()
    out[t] = sums[t]


@seeded("race", 1, 32, lambda: (ramp(32), zeros(32)))
def halves_of_a_warp(a, out):
    """Masks of half a warp do not order the halves."""
    shared = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    mask = FULL  # defect: mask = 0xFFFF if t < 16 else 0xFFFF0000
    shared[t] = a[t]  # other
    cuda.syncwarp(mask)
    out[t] = shared[31 - t]  # finding


@seeded("race", 1, 64, lambda: (noise(64), zeros(64, dtype=np.int32)))
def leader(a, out):
    """The leader of a warp tells the others the sum of the warp before."""
    totals = cuda.shared.array(2, int32)
    t = cuda.threadIdx.x
    x = a[t]
    votes = cuda.ballot_sync(FULL, x > 50)
    if cuda.laneid == 0:
        totals[t // 32] = cuda.popc(votes)  # other
    cuda.syncwarp()  # defect: removed
    out[t] = x - totals[t // 32]  # finding


@seeded("race", 1, 32, lambda: (ramp(32), zeros(32)))
def tile_of_four(a, out):
    """A tile of four lanes that does not synchronize."""
    shared = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    tile = cuda.cg.tiled_partition(cuda.cg.this_thread_block(), 4)
    shared[t] = a[t]  # other
    tile.sync()  # defect: removed
    out[t] = shared[t ^ 3]  # finding


@seeded("race", 1, (8, 8), lambda: (ramp(8, 8), zeros(8, 8)))
def transposed_rows(a, out):
    """Four rows of a tile are one warp, which transposes their elements in pairs."""
    tile = cuda.shared.array((8, 9), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]  # other
    cuda.syncwarp()  # defect: removed
    out[y, x] = tile[y ^ 1, x ^ 1]  # finding


@seeded("race", 2, 32, lambda: (ramp(64), zeros(64), zeros(64)))
def exchange_in_global_memory(a, exchanged, out):
    """Lanes that exchange values through an array of the launch."""
    i = cuda.grid(1)
    exchanged[i] = a[i] + 1  # other
    cuda.syncwarp()  # defect: removed
    out[i] = exchanged[i ^ 5]  # finding


@device
def compacted(items, x, is_kept):
    """Append the values of some lanes."""
    kept = cuda.ballot_sync(FULL, is_kept)
    if is_kept:
        items[cuda.popc(kept & cuda.lanemask_lt())] = x  # other
    return cuda.popc(kept)


@seeded("race", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def compaction(a, out):
    """The compacted numbers are read before all lanes have written theirs."""
    items = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    count = compacted(items, a[t], a[t] >= 20)
    cuda.syncwarp()  # defect: removed
    if t < count:
        out[t] = items[count - 1 - t]  # finding


@seeded("race", 1, 32, lambda: (noise(4, 32), zeros(32, dtype=np.int32)))
def value_read_by_all(a, out):
    """A lane overwrites what all lanes read."""
    limit = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        limit[0] = 5
    cuda.syncwarp()
    total = 0
    for k in range(4):
        total += limit[0]  # other
        cuda.syncwarp()  # defect: removed
        if t == k:
            limit[0] = a[k, t] + k  # finding
        cuda.syncwarp()
    out[t] = total


@seeded("race", 1, 32, lambda: (noise(32), zeros(16, dtype=np.int32)))
def upper_half_sums_before(a, out):
    """The upper half of a warp has synchronized more often than the lower half."""
    sums = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    x = a[t]
    if t >= 16:
        x += cuda.shfl_down_sync(0xFFFF0000, x, 4)
        sums[t - 16] = x  # other
    cuda.syncwarp()  # defect: removed
    if t < 16:
        out[t] = sums[t] * x  # finding


@seeded("race", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def shuffle_orders_nothing_later(a, out):
    """A shuffle orders what is before it, not what is after it."""
    shared = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    shared[t] = a[t]
    x = cuda.shfl_xor_sync(FULL, a[t], 16)
    y = shared[t ^ 1]
    cuda.syncwarp()
    shared[t] = x + y  # other
    cuda.syncwarp()  # defect: removed
    out[t] = shared[(t + 9) % 32]  # finding


@seeded("race", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def lanes_with_different_loops(a, out):
    """Lanes that leave a loop earlier, and synchronize with the others after it."""
    shared = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    mask = cuda.ballot_sync(FULL, a[t] > 0)
    x = a[t]
    while x > 0:
        x //= 2
        mask = cuda.ballot_sync(mask, x > 0)
    shared[t] = a[t] + x  # other
    cuda.syncwarp()  # defect: removed
    out[t] = shared[31 - t] + (mask >> 40)  # finding


@seeded("race", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def coalesced_lanes(a, out):
    """The lanes of a branch synchronize as a group."""
    shared = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    out[t] = 0
    if a[t] % 3 > 0:
        group = cuda.cg.coalesced_threads()
        rank, size = group.thread_rank(), group.size()
        shared[rank] = a[t]  # other
        group.sync()  # defect: removed
        out[t] = shared[size - 1 - rank]  # finding


@seeded("race", 1, 32, lambda: (ramp(32), zeros(32)))
def order_through_a_third_lane(a, out):
    """Quarters of a warp synchronize with their neighbors one after the other."""
    shared = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    quarter = t // 8
    shared[t] = a[t]  # other
    for k in range(3):
        if quarter == k or quarter == k + 1:  # defect: if k != 1 and k <= quarter <= k + 1:
            cuda.syncwarp(0xFFFF << 8 * k)
    if quarter == 3:
        out[t] = shared[t - 24]  # finding


@seeded("race", 1, 64, lambda: (noise(64, limit=6), zeros(64, dtype=np.int32)))
def lanes_that_take_turns(a, out):
    """Each lane leaves a loop after a different number of turns."""
    shared = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    shared[t] = 0
    left = a[t]
    mask = cuda.ballot_sync(FULL, left > 0)
    while left > 0:
        mask = cuda.ballot_sync(mask, left > 1)
        left -= 1
    cuda.syncwarp()
    shared[t] = a[t]  # other
    cuda.syncwarp()  # defect: removed
    out[t] = shared[t ^ 7] + (mask >> 40)  # finding


@seeded("race", 1, 32, lambda: (noise(32), zeros(8, dtype=np.int32)))
def reduction_by_tiles(a, out):
    """The last step of a reduction of eight lanes, of which four are in step."""
    sums = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    tile = cuda.cg.tiled_partition(cuda.cg.this_thread_block(), 8)
    rank = tile.thread_rank()
    sums[t] = a[t]
    tile.sync()
    if rank < 4:
        sums[t] += sums[t + 4]  # other
        cuda.syncwarp(0xF << (t // 8 * 8))
        if rank < 2:
            sums[t] += sums[t + 2]  # other
    tile.sync()  # defect: removed
    if rank == 7:
        out[t // 8] = sums[t - 7] + sums[t - 6]  # finding
