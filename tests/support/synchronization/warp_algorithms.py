"""Algorithms of warps: scans, sorts, compaction, transposes, searches."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, float32, int32
from support.synchronization.program import ints, program, shuffled, zeros

FULL = 0xFFFFFFFF
LANES = np.arange(32)


@device
def inclusive(value):
    """The sum of the lanes up to the thread's own."""
    for step in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(FULL, value, step)
        if cuda.laneid >= step:
            value += before
    return value


@program(2, 128, ints(256), zeros(256))
def block_scan_by_warps(a, out):
    totals = cuda.shared.array(4, int32)
    i, warp = cuda.grid(1), cuda.threadIdx.x // 32
    x = inclusive(a[i])
    if cuda.laneid == 31:
        totals[warp] = x
    cuda.syncthreads()
    if warp == 0:
        total = inclusive(totals[cuda.laneid] if cuda.laneid < 4 else 0)
        if cuda.laneid < 4:
            totals[cuda.laneid] = total
    cuda.syncthreads()
    out[i] = x + (totals[warp - 1] if warp > 0 else 0)


@block_scan_by_warps.gives
def _(a, out):
    out[:] = a.reshape(2, 128).cumsum(axis=1).ravel()


@program(2, 64, ints(128), zeros(128), zeros(4))
def compaction_by_ballot(a, out, count):
    i = cuda.grid(1)
    keep = cuda.ballot_sync(FULL, a[i] > 0)
    if a[i] > 0:
        out[i - cuda.laneid + cuda.popc(keep & cuda.lanemask_lt())] = a[i]
    if cuda.laneid == 0:
        count[i // 32] = cuda.popc(keep)


@compaction_by_ballot.gives
def _(a, out, count):
    for w, row in enumerate(a.reshape(4, 32)):
        kept = row[row > 0]
        count[w] = len(kept)
        out[32 * w : 32 * w + len(kept)] = kept


@program(3, 64, ints(180), zeros(180), zeros(1), unordered=(1,))
def compaction_over_the_grid(a, out, count):
    """Warps take places in any order; a block that is not full."""
    i = cuda.grid(1)
    good = i < len(a) and a[i] % 2 == 0
    mask = cuda.ballot_sync(FULL, good)
    first = 0
    if cuda.laneid == 0 and mask:
        first = cuda.atomic.add(count, 0, cuda.popc(mask))
    first = cuda.shfl_sync(FULL, first, 0)
    if good:
        out[first + cuda.popc(mask & cuda.lanemask_lt())] = a[i] + 1000


@compaction_over_the_grid.gives
def _(a, out, count):
    kept = a[a % 2 == 0] + 1000
    count[0] = len(kept)
    out[: len(kept)] = kept


@program(1, 64, shuffled(64))
def bitonic_sort_in_a_warp(a):
    t = cuda.threadIdx.x
    x, lane = a[t], cuda.laneid
    for k in (2, 4, 8, 16, 32):
        j = k // 2
        while j > 0:
            other = cuda.shfl_xor_sync(FULL, x, j)
            up = (lane & k) == 0
            lower = (lane & j) == 0
            x = min(x, other) if up == lower else max(x, other)
            j //= 2
    a[t] = x


@bitonic_sort_in_a_warp.gives
def _(a):
    a[:] = np.sort(a.reshape(2, 32), axis=1).ravel()


@program(1, 32, ints(32, 32), zeros(32, 32))
def transpose_by_shuffles(a, out):
    """A row in each lane's own array; five rounds of exchanges."""
    row = cuda.local.array(32, int32)
    t = cuda.threadIdx.x
    for k in range(32):
        row[k] = a[t, k]
    for bit in (16, 8, 4, 2, 1):
        for k in range(32):
            if k & bit == 0:
                high = t & bit != 0
                arguments = row[k] if high else row[k | bit]
                got = cuda.shfl_xor_sync(FULL, arguments, bit)
                if high:
                    row[k] = got
                else:
                    row[k | bit] = got
    for k in range(32):
        out[t, k] = row[k]


@transpose_by_shuffles.gives
def _(a, out):
    out[:] = a.T


@program(1, 64, ints(64), ints(64, low=0, high=5), zeros(64))
def segmented_warp_scan(a, cuts, out):
    """A segment begins where ``cuts`` is 0; its first lane from a ballot."""
    t = cuda.threadIdx.x
    heads = cuda.ballot_sync(FULL, cuts[t] == 0) | 1
    upto = heads & (cuda.lanemask_lt() | 1 << cuda.laneid)
    first = 63 - cuda.clz(upto)
    x = a[t]
    for step in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(FULL, x, step)
        if cuda.laneid - step >= first:
            x += before
    out[t] = x


@segmented_warp_scan.gives
def _(a, cuts, out):
    total = 0
    for i, (x, cut) in enumerate(zip(a, cuts)):
        total = x if cut == 0 or i % 32 == 0 else total + x
        out[i] = total


@program(1, 64, ints(64, low=0, high=256), zeros(64))
def radix_sort_by_ballots(a, out):
    """Each warp sorts its 32 numbers, a bit in each round."""
    tile = cuda.shared.array(64, int32)
    t, lane = cuda.threadIdx.x, cuda.laneid
    x, base = a[t], cuda.threadIdx.x - cuda.laneid
    for bit in range(8):
        ones = cuda.ballot_sync(FULL, x >> bit & 1)
        zeros_below = cuda.popc(~ones & cuda.lanemask_lt())
        ones_below = cuda.popc(ones & cuda.lanemask_lt())
        is_one = x >> bit & 1
        place = 32 - cuda.popc(ones) + ones_below if is_one else zeros_below
        tile[base + place] = x
        cuda.syncwarp()
        x = tile[base + lane]
        cuda.syncwarp()
    out[t] = x


@radix_sort_by_ballots.gives
def _(a, out):
    out[:] = np.sort(a.reshape(2, 32), axis=1).ravel()


@program(2, 64, ints(4, 50), ints(50), zeros(4))
def a_warp_for_each_row(m, v, out):
    i = cuda.grid(1)
    row, total = i // 32, 0
    for k in range(cuda.laneid, m.shape[1], 32):
        total += m[row, k] * v[k]
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(FULL, total, step)
    if cuda.laneid == 0:
        out[row] = total


@a_warp_for_each_row.gives
def _(m, v, out):
    out[:] = m @ v


@program(1, 64, shuffled(1024), ints(2, low=0, high=1024), zeros(2))
def search_by_32(numbers, expected, result):
    """A warp looks for a number in what it sorts on the way: 32 places in each round."""
    tile = cuda.shared.array(1024, int32)
    t = cuda.threadIdx.x
    for k in range(t, 1024, 64):
        tile[numbers[k]] = numbers[k]
    cuda.syncthreads()
    x, low, width = expected[t // 32], 0, 1024
    while width > 1:
        width //= 32
        below = cuda.ballot_sync(FULL, tile[low + cuda.laneid * width] <= x)
        low += (cuda.popc(below) - 1) * width
    if cuda.laneid == 0:
        result[t // 32] = low + 1


@search_by_32.gives
def _(numbers, sought, found):
    found[:] = sought + 1


@program(1, 64, ints(64, low=0, high=3), zeros(64), zeros(64), zeros(2))
def run_lengths(a, values, lengths, count):
    t, lane = cuda.threadIdx.x, cuda.laneid
    before = cuda.shfl_up_sync(FULL, a[t], 1)
    head = lane == 0 or before != a[t]
    heads = cuda.ballot_sync(FULL, head)
    if head:
        above = heads & ~(cuda.lanemask_lt() | 1 << lane)
        end = cuda.ffs(above) - 1 if above else 32
        place = t - lane + cuda.popc(heads & cuda.lanemask_lt())
        values[place], lengths[place] = a[t], end - lane
    if lane == 0:
        count[t // 32] = cuda.popc(heads)


@run_lengths.gives
def _(a, values, lengths, count):
    for w, row in enumerate(a.reshape(2, 32)):
        heads = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
        count[w] = len(heads)
        values[32 * w : 32 * w + len(heads)] = row[heads]
        lengths[32 * w : 32 * w + len(heads)] = np.diff(np.append(heads, 32))


@program(2, 64, ints(128), zeros(4), zeros(4))
def least_and_its_lane(a, value, lane):
    i = cuda.grid(1)
    x, where = a[i], cuda.laneid
    for step in (16, 8, 4, 2, 1):
        other = cuda.shfl_xor_sync(FULL, x, step)
        there = cuda.shfl_xor_sync(FULL, where, step)
        if other < x or (other == x and there < where):
            x, where = other, there
    if cuda.laneid == 0:
        value[i // 32], lane[i // 32] = x, where


@least_and_its_lane.gives
def _(a, value, lane):
    rows = a.reshape(4, 32)
    value[:], lane[:] = rows.min(axis=1), rows.argmin(axis=1)


@program(2, 96, ints(192, low=0, high=16), zeros(16))
def histogram_by_match(a, counts):
    own = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        own[t] = 0
    cuda.syncthreads()
    x = a[cuda.grid(1)]
    peers = cuda.match_any_sync(FULL, x)
    if peers & cuda.lanemask_lt() == 0:
        cuda.atomic.add(own, x, cuda.popc(peers))
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(counts, t, own[t])


@histogram_by_match.gives
def _(a, counts):
    counts[:] = np.bincount(a, minlength=16)


@program(1, 32, ints(32, dtype=np.float32), 3)
def stencil_by_shuffles(a, rounds):
    t = cuda.threadIdx.x
    x = a[t]
    for _ in range(rounds):
        left, right = cuda.shfl_up_sync(FULL, x, 1), cuda.shfl_down_sync(FULL, x, 1)
        x = (left + float32(2) * x + right) / float32(4)
    a[t] = x


@stencil_by_shuffles.gives
def _(a, rounds):
    for _ in range(rounds):
        row = np.pad(a, 1, mode="edge")
        a[:] = (row[:-2] + 2 * row[1:-1] + row[2:]) / 4


@program(2, 96, ints(192), zeros(2), zeros(1), zeros(1))
def sum_of_a_grid_by_warps(a, parts, done, total):
    """Warps, then blocks by atomics, then the last block."""
    t = cuda.threadIdx.x
    x = a[cuda.grid(1)]
    for step in (16, 8, 4, 2, 1):
        x += cuda.shfl_xor_sync(FULL, x, step)
    if cuda.laneid == 0:
        cuda.atomic.add(parts, cuda.blockIdx.x, x)
    cuda.threadfence()
    cuda.syncthreads()  # all warps have added before the block is counted
    last = cuda.syncthreads_or(t == 0 and cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1)
    if last and t < 32:
        own = cuda.atomic.add(parts, t, 0) if t < len(parts) else 0
        total[0] = cuda.reduce_add_sync(FULL, own)


@sum_of_a_grid_by_warps.gives
def _(a, parts, done, total):
    parts[:], done[0], total[0] = a.reshape(2, 96).sum(axis=1), 2, a.sum()


@program(3, 64, ints(192), zeros(192), zeros(4))
def look_back_by_warps(a, out, state):
    """Blocks in a chain; inside of a block scans of warps."""
    totals = cuda.shared.array(3, int32)
    i, t, b = cuda.grid(1), cuda.threadIdx.x, cuda.blockIdx.x
    x = inclusive(a[i])
    if cuda.laneid == 31:
        totals[t // 32] = x
    cuda.syncthreads()
    if t == 0:
        while cuda.atomic.add(state, 3, 0) != b:
            cuda.nanosleep(10)
        cuda.threadfence()
        totals[2] = cuda.atomic.add(state, 0, 0)
        cuda.atomic.add(state, 0, totals[0] + totals[1])
        cuda.threadfence()
        cuda.atomic.add(state, 3, 1)
    cuda.syncthreads()
    out[i] = totals[2] + x + (totals[0] if t >= 32 else 0)


@look_back_by_warps.gives
def _(a, out, state):
    out[:] = np.cumsum(a)
    state[0], state[3] = a.sum(), 3


@program(1, 64, ints(64), zeros(64), 4)
def polynomial_by_lanes(a, out, degree):
    """Each lane holds a coefficient; Horner's rule takes them by shuffles."""
    t = cuda.threadIdx.x
    coefficient = a[t] % 5
    x, value = t % 3, 0
    for k in range(degree, -1, -1):
        value = value * x + cuda.shfl_sync(FULL, coefficient, k)
    out[t] = value


@polynomial_by_lanes.gives
def _(a, out, degree):
    for t in range(64):
        c = a[t // 32 * 32 :][: degree + 1] % 5
        out[t] = sum(int(k) * (t % 3) ** i for i, k in enumerate(c))


@program(1, 32, ints(32), zeros(32))
def order_statistics(a, out):
    """A lane's rank: how many others are less, or equal and before."""
    t = cuda.threadIdx.x
    rank = 0
    for k in range(32):
        other = cuda.shfl_sync(FULL, a[t], k)
        rank += other < a[t] or (other == a[t] and k < t)
    out[rank] = a[t]


@order_statistics.gives
def _(a, out):
    out[:] = np.sort(a)
