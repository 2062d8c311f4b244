"""Votes of blocks and of warps, also after lanes have returned."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, float32, int32
from support.synchronization.program import array, full, ints, program, zeros

FULL = 0xFFFFFFFF


def bits(flags):
    """The mask of the places where something is true."""
    return sum(1 << int(i) for i in np.flatnonzero(flags))


# ---- of a block --------------------------------------------------------------------------------


@program(2, 100, ints(200), zeros(200))
def counted_over_the_block(a, out):
    i = cuda.grid(1)
    above = cuda.syncthreads_count(a[i] > 10)
    out[i] = above * 1000 + cuda.syncthreads_count(a[i] % 2)


@counted_over_the_block.gives
def _(a, out):
    rows = a.reshape(2, 100)
    totals = (rows > 10).sum(axis=1) * 1000 + (rows % 2 != 0).sum(axis=1)
    out[:] = np.repeat(totals, 100)


@program(3, 40, array([1] * 80 + [1] * 39 + [0]), zeros(3), zeros(3))
def all_and_some(a, every, some):
    x = a[cuda.grid(1)]
    if cuda.syncthreads_and(x):
        every[cuda.blockIdx.x] = 1
    if cuda.syncthreads_or(x == 0):
        some[cuda.blockIdx.x] = 1


@all_and_some.gives
def _(a, every, some):
    every[:], some[:] = (1, 1, 0), (0, 0, 1)


@program(2, 50, full(100, value=-1), array([3, 60]))
def spreads_until_all_are_reached(distance, start):
    """A wave from one cell: the loop's condition is a barrier."""
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    row = distance[b * 50 : b * 50 + 50]
    if t == start[b] % 50:
        row[t] = 0
    step = 0
    while cuda.syncthreads_count(row[t] < 0) > 0:
        near = (t > 0 and row[t - 1] == step) or (t < 49 and row[t + 1] == step)
        reached = near and row[t] < 0
        cuda.syncthreads()
        step += 1
        if reached:
            row[t] = step


@spreads_until_all_are_reached.gives
def _(distance, start):
    for b in range(2):
        distance[b * 50 : b * 50 + 50] = np.abs(np.arange(50) - start[b] % 50)


@program(1, 40, ints(40), zeros(40))
def count_without_those_who_left(a, out):
    t = cuda.threadIdx.x
    if a[t] < 0:
        return
    n = cuda.syncthreads_count(a[t] > 5)
    if a[t] > 30:
        return
    out[t] = n * 100 + cuda.syncthreads_count(True)


@count_without_those_who_left.gives
def _(a, out):
    stay = (a >= 0) & (a <= 30)
    out[stay] = (a > 5).sum() * 100 + stay.sum()


# ---- of a warp ---------------------------------------------------------------------------------


@program(2, 64, ints(128), zeros(128), zeros(4, dtype=np.int64))
def ballots(a, rank, masks):
    """Who is true, and how many of the lanes below."""
    i = cuda.grid(1)
    mask = cuda.ballot_sync(FULL, a[i] > 0)
    rank[i] = cuda.popc(mask & cuda.lanemask_lt())
    if cuda.laneid == 5:
        masks[i // 32] = mask


@ballots.gives
def _(a, rank, masks):
    flags = a.reshape(4, 32) > 0
    rank[:] = (flags.cumsum(axis=1) - flags).ravel()
    masks[:] = [bits(row) for row in flags]


@program(1, 96, array([0] * 32 + [1] * 32 + [0, 1] * 16), zeros(96), zeros(96), zeros(96))
def every_some_and_equal(a, every, some, equal):
    t = cuda.threadIdx.x
    every[t] = cuda.all_sync(FULL, a[t])
    some[t] = cuda.any_sync(FULL, a[t] != 0)
    equal[t] = cuda.eq_sync(FULL, a[t] == 1)


@every_some_and_equal.gives
def _(a, every, some, equal):
    every[32:64] = 1
    some[32:] = 1
    equal[:64] = 1


@program(1, 64, ints(64), zeros(64, dtype=np.int64))
def ballot_when_some_have_returned(a, out):
    t = cuda.threadIdx.x
    if a[t] % 3 == 0:
        return
    out[t] = cuda.ballot_sync(FULL, a[t] > 0)
    if a[t] % 3 == 1:
        return
    out[t] += cuda.ballot_sync(FULL, True) << 1


@ballot_when_some_have_returned.gives
def _(a, out):
    for w in (0, 32):
        row, part = a[w : w + 32], out[w : w + 32]
        first, second = row % 3 != 0, row % 3 == 2
        part[first] = bits(first & (row > 0))
        part[second] += bits(second) << 1


@program(2, 40, ints(80), zeros(80), zeros(80, dtype=np.int64))
def votes_in_a_warp_that_is_not_full(a, some, masks):
    """Of the second warp only 8 lanes exist."""
    i = cuda.grid(1)
    some[i] = cuda.any_sync(FULL, a[i] == 49)
    masks[i] = cuda.ballot_sync(FULL, 1)


@votes_in_a_warp_that_is_not_full.gives
def _(a, some, masks):
    for start, stop in ((0, 32), (32, 40), (40, 72), (72, 80)):
        some[start:stop] = (a[start:stop] == 49).any()
        masks[start:stop] = (1 << (stop - start)) - 1


@program(1, 32, ints(32), zeros(32, dtype=np.int64))
def ballots_in_both_arms(a, out):
    t = cuda.threadIdx.x
    if t < 16:
        out[t] = cuda.ballot_sync(0x0000FFFF, a[t] > 0)
    else:
        out[t] = cuda.ballot_sync(0xFFFF0000, a[t] < 0)


@ballots_in_both_arms.gives
def _(a, out):
    out[:16] = bits(a[:16] > 0)
    out[16:] = bits(a[16:] < 0) << 16


@program(1, 64, zeros(64), 20, 0.5)
def predicates_of_every_type(out, n, x):
    t = cuda.threadIdx.x
    count = 0
    count += cuda.any_sync(FULL, t - 3)
    count += 2 * cuda.all_sync(FULL, float32(t))
    count += 4 * cuda.any_sync(FULL, x)
    count += 8 * cuda.all_sync(FULL, n)
    count += 16 * cuda.popc(cuda.ballot_sync(FULL, x * (t % 2)))
    out[t] = count


@predicates_of_every_type.gives
def _(out, n, x):
    out[:] = 1 + 4 + 8 + 16 * 16
    out[32:] += 2


@program(1, 64, ints(64, low=0, high=30), zeros(64), zeros(2))
def a_loop_until_no_thread_has_work(a, out, rounds):
    """The loop's condition is a vote, so the lanes of a warp stay together."""
    t = cuda.threadIdx.x
    left, turns = a[t], 0
    while cuda.any_sync(FULL, left > 0):
        if left > 0:
            left -= 1 + t % 2
            out[t] += 1
        turns += 1
    if cuda.laneid == 0:
        rounds[t // 32] = turns


@a_loop_until_no_thread_has_work.gives
def _(a, out, rounds):
    out[:] = -(-a // (1 + np.arange(64) % 2))
    rounds[:] = out.reshape(2, 32).max(axis=1)


@program(2, 64, array([3, 0, 2, 5]), ints(128), zeros(128))
def warps_with_different_rounds(count, a, out):
    """A trip count that a warp agrees on, and the block does not."""
    i = cuda.grid(1)
    x = a[i]
    for k in range(count[i // 32]):
        ahead = cuda.popc(cuda.ballot_sync(FULL, x > k))
        x += ahead
    out[i] = x


@warps_with_different_rounds.gives
def _(count, a, out):
    for row, result, n in zip(a.reshape(4, 32).copy(), out.reshape(4, 32), count):
        for k in range(n):
            row += (row > k).sum()
        result[:] = row


@program(1, 64, ints(64), zeros(64))
def votes_behind_conditions(a, out):
    """``and`` and ``or`` skip a vote for a whole warp, or for none of its lanes."""
    t = cuda.threadIdx.x
    if t >= 32 and cuda.any_sync(FULL, a[t] > 40):
        out[t] = 1
    if t < 32 or cuda.all_sync(FULL, a[t] > -60):
        out[t] += 2
    out[t] += 4 * (cuda.popc(cuda.ballot_sync(FULL, a[t] > 0)) if t >= 32 else 1)


@votes_behind_conditions.gives
def _(a, out):
    out[:] = 2
    out[32:] += int((a[32:] > 40).any())
    out[:32] += 4
    out[32:] += 4 * (a[32:] > 0).sum()


@device
def majority(flag):
    return cuda.popc(cuda.ballot_sync(FULL, flag)) > 16


@program(1, (8, 4, 2), ints(2, 4, 8), zeros(2, 4, 8))
def lanes_of_a_block_with_three_axes(a, out):
    """Warps are along x first, then y, then z."""
    x, y, z = cuda.grid(3)
    value = 100 * cuda.laneid + cuda.popc(cuda.ballot_sync(FULL, a[z, y, x] > 0))
    out[z, y, x] = -value if majority(a[z, y, x] > -10) else value


@lanes_of_a_block_with_three_axes.gives
def _(a, out):
    for z in range(2):
        value = 100 * np.arange(32).reshape(4, 8) + (a[z] > 0).sum()
        out[z] = -value if (a[z] > -10).sum() > 16 else value


@program(1, 64, ints(64, low=0, high=5), zeros(64), zeros(64, dtype=np.int64))
def equal_values(a, size, masks):
    t = cuda.threadIdx.x
    peers = cuda.match_any_sync(FULL, a[t])
    size[t], masks[t] = cuda.popc(peers), peers


@equal_values.gives
def _(a, size, masks):
    for w in (0, 32):
        row = a[w : w + 32]
        for t, x in enumerate(row):
            size[w + t], masks[w + t] = (row == x).sum(), bits(row == x)


@program(
    1,
    96,
    array([7] * 32 + [7] * 31 + [8] + [2.5] * 32, np.float64),
    zeros(96),
    zeros(96, dtype=np.int64),
)
def all_equal(a, out, masks):
    t = cuda.threadIdx.x
    mask, same = cuda.match_all_sync(FULL, a[t])
    out[t], masks[t] = same, mask
    mask, same = cuda.match_all_sync(0xFFFF if t % 32 < 16 else 0xFFFF0000, a[t])
    out[t] += 2 * same


@all_equal.gives
def _(a, out, masks):
    out[:], masks[:] = 3, FULL
    out[32:48], out[48:64], masks[32:64] = 2, 0, 0


@program(1, 32, array([0.0, -0.0, np.nan, 1.0] * 8, np.float32), zeros(32, dtype=np.int64))
def floats_are_compared_by_bits(a, masks):
    masks[cuda.threadIdx.x] = cuda.match_any_sync(FULL, a[cuda.threadIdx.x])


@floats_are_compared_by_bits.gives
def _(a, masks):
    for t in range(32):
        masks[t] = bits(np.arange(32) % 4 == t % 4)


@program(1, 64, ints(64), ints(64, dtype=np.int64), zeros(64), zeros(64, dtype=np.int64))
def reductions(a, b, out, wide):
    t = cuda.threadIdx.x
    x, y = a[t], b[t] << 40
    out[t] = cuda.reduce_add_sync(FULL, x) + 3 * cuda.reduce_min_sync(FULL, x)
    out[t] += cuda.reduce_max_sync(FULL, x) ^ cuda.reduce_xor_sync(FULL, x)
    wide[t] = cuda.reduce_add_sync(FULL, y) + cuda.reduce_max_sync(FULL, y)
    wide[t] ^= cuda.reduce_or_sync(FULL, y) - cuda.reduce_and_sync(FULL, y | 1)


@reductions.gives
def _(a, b, out, wide):
    for w in (0, 32):
        x, y = a[w : w + 32], b[w : w + 32] << 40
        total = x.sum() + 3 * x.min() + (x.max() ^ np.bitwise_xor.reduce(x))
        out[w : w + 32] = total
        both = np.bitwise_or.reduce(y) - np.bitwise_and.reduce(y | 1)
        wide[w : w + 32] = (y.sum() + y.max()) ^ both


@program(1, 48, ints(48), zeros(48, dtype=np.uint32))
def reductions_of_parts(a, out):
    """Of four lanes each, of the lanes that some condition names, and of a warp that is not
    full."""
    t = cuda.threadIdx.x
    quad = 0xF << (cuda.laneid & 28)
    total = cuda.reduce_add_sync(quad, a[t])
    mask = cuda.ballot_sync(FULL, a[t] > 0)
    if a[t] > 0:
        total += cuda.reduce_min_sync(mask, a[t]) * 1000
    out[t] = cuda.reduce_max_sync(FULL, total)
    out[t] += int32(cuda.reduce_or_sync(quad, 1 << (t & 3)))


@reductions_of_parts.gives
def _(a, out):
    totals = np.repeat(a.reshape(12, 4).sum(axis=1), 4)
    for w, n in ((0, 32), (32, 16)):
        row, part = a[w : w + n], totals[w : w + n]
        part[row > 0] += row[row > 0].min() * 1000
        out[w : w + n] = np.array(part.max() + 15).astype(np.uint32)
