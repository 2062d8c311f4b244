"""Lanes that synchronize in parts of a warp, in divergent code."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, int32, int64
from support.synchronization.program import array, ints, program, shuffled, zeros

FULL = 0xFFFFFFFF
LOW, HIGH = 0x0000FFFF, 0xFFFF0000
LANES = np.arange(32)


@program(1, 64, ints(64), zeros(64))
def half_warps_apart(a, out):
    """Each half goes its own way, with other shuffles and another number of them."""
    t = cuda.threadIdx.x
    x = a[t]
    if cuda.laneid < 16:
        for step in (8, 4, 2, 1):
            x += cuda.shfl_xor_sync(LOW, x, step)
    else:
        x = cuda.shfl_down_sync(HIGH, x, 1)
        if cuda.laneid >= 24:
            x = cuda.shfl_sync(0xFF000000, x, 24) - x
        else:
            x = -x
    out[t] = x


@half_warps_apart.gives
def _(a, out):
    for w in (0, 32):
        low, high = a[w : w + 16], a[w + 16 : w + 32]
        out[w : w + 16] = low.sum()
        moved = np.append(high[1:], high[-1])
        out[w + 16 : w + 24] = -moved[:8]
        out[w + 24 : w + 32] = moved[8] - moved[8:]


@program(1, 32, ints(32), zeros(32))
def quarters_in_nested_arms(a, out):
    t = cuda.threadIdx.x
    x = a[t]
    if t < 16:
        if t < 8:
            x = cuda.shfl_xor_sync(0x000000FF, x, 7)
        else:
            x = cuda.popc(cuda.ballot_sync(0x0000FF00, x > 0))
        cuda.syncwarp(LOW)
        x += cuda.shfl_sync(LOW, x, 15 - t)
    elif t < 24:
        x = cuda.shfl_up_sync(0x00FF0000, x, 2, 8)
    else:
        x = 1 if cuda.any_sync(0xFF000000, x > 45) else 2
    x = cuda.shfl_sync(FULL, x, t + 8)
    out[t] = x


@quarters_in_nested_arms.gives
def _(a, out):
    x = a.copy()
    x[:8] = a[:8][::-1]
    x[8:16] = (a[8:16] > 0).sum()
    x[:16] += x[:16][::-1].copy()
    x[18:24] = a[16:22]
    x[24:] = 1 if (a[24:] > 45).any() else 2
    out[:] = np.roll(x, -8)


@program(1, 64, ints(64), zeros(64))
def come_to_different_calls(a, out):
    """Lanes meet that call the same function, wherever they do."""
    t = cuda.threadIdx.x
    x = a[t]
    if t % 32 < 16:
        x = cuda.shfl_xor_sync(FULL, x * 3, 16) + 1000
        x = cuda.shfl_xor_sync(FULL, x * 2, 8) + 11
    else:
        for k in range(2):
            x = cuda.shfl_xor_sync(FULL, x + 7, 16 >> k) * 5
    out[t] = x


@come_to_different_calls.gives
def _(a, out):
    low = np.arange(64) % 32 < 16
    given = np.where(low, a * 3, a + 7)[np.arange(64) ^ 16]
    x = np.where(low, given + 1000, given * 5)
    given = np.where(low, x * 2, x + 7)[np.arange(64) ^ 8]
    out[:] = np.where(low, given + 11, given * 5)


@program(1, 64, ints(64), zeros(64))
def votes_and_sums_of_different_calls(a, out):
    t = cuda.threadIdx.x
    x = a[t]
    if x > 0:
        seen = cuda.popc(cuda.ballot_sync(FULL, x % 2 == 0))
        out[t] = cuda.reduce_add_sync(FULL, x) + seen
    elif x % 3 == 0:
        seen = cuda.popc(cuda.ballot_sync(FULL, x % 5 == 0))
        out[t] = cuda.reduce_add_sync(FULL, -x) * 2 + seen
    else:
        seen = cuda.popc(cuda.ballot_sync(FULL, True))
        out[t] = seen - cuda.reduce_add_sync(FULL, a[t - 1])


@votes_and_sums_of_different_calls.gives
def _(a, out):
    for w in (0, 32):
        x, before = a[w : w + 32], np.roll(a, 1)[w : w + 32]
        first, second = x > 0, (x <= 0) & (x % 3 == 0)
        holds = np.where(first, x % 2 == 0, np.where(second, x % 5 == 0, True))
        seen = holds.sum()
        total = int(np.where(first, x, np.where(second, -x, before)).sum())
        arms = np.where(second, 2 * total + seen, seen - total)
        out[w : w + 32] = np.where(first, total + seen, arms)


@program(1, 32, ints(32), zeros(32))
def come_in_different_rounds(a, out):
    """Even lanes come to the shuffle in round 0, odd ones in round 1: they meet there."""
    t = cuda.threadIdx.x
    for k in range(4):
        if k == t & 1:
            out[t] = cuda.shfl_sync(FULL, a[t] * (k + 1), t ^ 1)


@come_in_different_rounds.gives
def _(a, out):
    given = a * (LANES % 2 + 1)
    out[:] = given[LANES ^ 1]


@program(1, 32, ints(32), zeros(32))
def come_from_different_depths(a, out):
    """A lane's first rounds of a while loop pass by the meeting, as many as its number says."""
    t = cuda.threadIdx.x
    k = 0
    total = 0
    while k < 8:
        if k >= t % 4 and k < t % 4 + 4:
            total += cuda.shfl_xor_sync(FULL, a[t] + k - t % 4, 2)
        k += 1
    out[t] = total


@come_from_different_depths.gives
def _(a, out):
    out[:] = 4 * a[LANES ^ 2] + 6


@program(1, 64, ints(64), zeros(64))
def members_by_ballot(a, out):
    """Only positive ones go on, with their own mask: a sum over them, handed on in a ring."""
    t = cuda.threadIdx.x
    mask = cuda.ballot_sync(FULL, a[t] > 0)
    if a[t] > 0:
        rank = cuda.popc(mask & cuda.lanemask_lt())
        above = mask & ~cuda.lanemask_lt() & ~(1 << cuda.laneid)
        following = cuda.ffs(above) - 1 if above else cuda.ffs(mask) - 1
        x = cuda.shfl_sync(mask, a[t], following)
        out[t] = x * 100 + rank + 10 * cuda.reduce_max_sync(mask, a[t])


@members_by_ballot.gives
def _(a, out):
    for w in (0, 32):
        row, part = a[w : w + 32], out[w : w + 32]
        keep = np.flatnonzero(row > 0)
        values = row[keep]
        part[keep] = np.roll(values, -1) * 100 + np.arange(len(keep)) + 10 * values.max()


@program(1, 32, ints(32, low=1, high=12), zeros(32))
def loop_that_lanes_leave(a, out):
    """Those who stay know who they are from a ballot before any leaves."""
    t = cuda.threadIdx.x
    n, mask, total = a[t], FULL, 0
    while True:
        mask = cuda.ballot_sync(mask, n > 0)
        if n <= 0:
            break
        total += cuda.popc(mask)
        n -= 1
    out[t] = total


@loop_that_lanes_leave.gives
def _(a, out):
    for t in range(32):
        out[t] = sum((a > k).sum() for k in range(a[t]))


@program(1, 32, ints(32, low=0, high=10), zeros(32))
def loops_of_different_length(a, out):
    """Lanes meet in ``syncwarp`` with the mask of those that have as many rounds left."""
    tile = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    n = a[t]
    peers = cuda.match_any_sync(FULL, n)
    leader = cuda.ffs(peers) - 1
    tile[t] = t
    total = 0
    for k in range(n):
        cuda.syncwarp(peers)
        total += tile[leader] + k
        cuda.syncwarp(peers)
        if t == leader:
            tile[t] += 3
    cuda.syncwarp()
    out[t] = total + 1000 * cuda.popc(peers)


@loops_of_different_length.gives
def _(a, out):
    for t, n in enumerate(a):
        leader = int(np.flatnonzero(a == n)[0])
        out[t] = sum(leader + 3 * k + k for k in range(n)) + 1000 * (a == n).sum()


@program(2, 64, ints(128, low=0, high=6), zeros(6))
def aggregated_by_match(a, counts):
    """One atomic for each different value of a warp."""
    x = a[cuda.grid(1)]
    peers = cuda.match_any_sync(FULL, x)
    if cuda.laneid == cuda.ffs(peers) - 1:
        cuda.atomic.add(counts, x, cuda.popc(peers))


@aggregated_by_match.gives
def _(a, counts):
    counts[:] = np.bincount(a, minlength=6)


@program(2, 64, ints(128), zeros(1), zeros(1))
def aggregated_by_those_who_are_there(a, count, members):
    """``activemask``: who is there is the machine's choice; what comes out is not."""
    if a[cuda.grid(1)] > 0:
        mask = cuda.activemask()
        leader = cuda.ffs(mask) - 1
        if cuda.laneid == leader:
            cuda.atomic.add(count, 0, cuda.popc(mask))
        cuda.atomic.add(members, 0, int32(mask >> cuda.laneid & 1))


@aggregated_by_those_who_are_there.gives
def _(a, count, members):
    count[0] = members[0] = (a > 0).sum()


@program(2, 64, ints(128), zeros(128), zeros(1), unordered=(1,))
def places_for_those_who_are_there(a, out, count):
    """A warp-aggregated increment: the leader takes places for all, and tells them."""
    i = cuda.grid(1)
    if a[i] % 3 != 0:
        mask = cuda.activemask()
        leader, first = cuda.ffs(mask) - 1, 0
        if cuda.laneid == leader:
            first = cuda.atomic.add(count, 0, cuda.popc(mask))
        first = cuda.shfl_sync(mask, first, leader)
        out[first + cuda.popc(mask & cuda.lanemask_lt())] = a[i]


@places_for_those_who_are_there.gives
def _(a, out, count):
    kept = a[a % 3 != 0]
    count[0] = len(kept)
    out[: len(kept)] = kept


@device
def part_sum(mask, value):
    """Over the lanes of a mask, one after the other."""
    total, rest = 0, mask
    while rest:
        lane = cuda.ffs(rest) - 1
        total += cuda.shfl_sync(mask, value, lane)
        rest &= rest - 1
    return total


@program(1, 64, ints(64), zeros(64))
def function_called_in_both_arms(a, out):
    t = cuda.threadIdx.x
    odd = a[t] % 2 != 0
    mask = cuda.ballot_sync(FULL, odd)
    if odd:
        out[t] = part_sum(mask, a[t])
    else:
        out[t] = -part_sum(FULL & ~mask, a[t])


@function_called_in_both_arms.gives
def _(a, out):
    for w in (0, 32):
        row = a[w : w + 32]
        odd = row % 2 != 0
        out[w : w + 32] = np.where(odd, row[odd].sum(), -row[~odd].sum())


@program(1, 48, ints(48), zeros(48))
def pairs_in_a_warp_that_is_not_full(a, out):
    """Each lane meets its neighbour alone, if both are positive."""
    t = cuda.threadIdx.x
    both = 3 << (cuda.laneid & 30)
    if cuda.all_sync(both, a[t] > 0):
        out[t] = cuda.shfl_xor_sync(both, a[t], 1)
    else:
        cuda.syncwarp(both)
        out[t] = -1


@pairs_in_a_warp_that_is_not_full.gives
def _(a, out):
    pairs = a.reshape(24, 2)
    good = (pairs > 0).all(axis=1, keepdims=True)
    out[:] = np.where(good, pairs[:, ::-1], -1).ravel()


@program(1, 32, array([1, 5, 27, 7, 97, 3] * 5 + [2, 54]), zeros(32))
def collatz_with_those_who_go_on(a, out):
    """Steps to 1; in each round those who go on count one another."""
    t = cuda.threadIdx.x
    n, mask, seen = int64(a[t]), FULL, 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        seen += 1
    out[t] = seen + 1000 * cuda.popc(cuda.ballot_sync(mask, seen > 50))


@collatz_with_those_who_go_on.gives
def _(a, out):
    for t, x in enumerate(a):
        n, steps = int(x), 0
        while n != 1:
            n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
        out[t] = steps
    out += 1000 * (out > 50).sum()


@program(1, 64, ints(64), zeros(64))
def returns_from_an_arm(a, out):
    """Some lanes return from inside an arm; the rest of the arm, then all who are left, meet."""
    t = cuda.threadIdx.x
    if cuda.laneid < 20:
        if a[t] < 0:
            out[t] = -1
            return
        out[t] = cuda.popc(cuda.ballot_sync(0x000FFFFF, a[t] > 10))
    out[t] += 100 * cuda.popc(cuda.ballot_sync(FULL, True))


@returns_from_an_arm.gives
def _(a, out):
    for w in (0, 32):
        row, part = a[w : w + 32], out[w : w + 32]
        gone = (row < 0) & (LANES < 20)
        part[:20] = (row[:20] > 10).sum()
        part += 100 * (~gone).sum()
        part[gone] = -1


@program(1, 64, shuffled(64), zeros(64))
def warps_that_synchronize_and_warps_that_do_not(a, out):
    """Barriers of the block around code that only one warp's half runs."""
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    if 40 <= t < 56:
        mask = 0x00FFFF00
        x = tile[t - 40]
        for step in (1, 2, 4, 8):
            other = cuda.shfl_sync(mask, x, cuda.laneid - step)
            if t - 40 >= step:
                x += other
        tile[t] = x
    cuda.syncthreads()
    out[t] = tile[63 - t]


@warps_that_synchronize_and_warps_that_do_not.gives
def _(a, out):
    tile = a.copy()
    tile[40:56] = np.cumsum(a[:16])
    out[:] = tile[::-1]


@program(1, 64, ints(32), zeros(32))
def warps_as_maker_and_user(a, out):
    """Warp 0 makes, warp 1 uses: a flag in shared memory, lanes held together by syncwarp."""
    data = cuda.shared.array(32, int32)
    state = cuda.shared.array(1, int32)
    t, lane = cuda.threadIdx.x, cuda.laneid
    if t == 0:
        state[0] = 0
    cuda.syncthreads()
    for turn in range(3):
        if t < 32:
            if lane == 0:
                while cuda.atomic.add(state, 0, 0) != 2 * turn:
                    pass
                cuda.threadfence_block()
            cuda.syncwarp()
            data[lane] = a[lane] * (turn + 1)
            cuda.threadfence_block()
            cuda.syncwarp()
            if lane == 0:
                cuda.atomic.add(state, 0, 1)
        else:
            if lane == 0:
                while cuda.atomic.add(state, 0, 0) != 2 * turn + 1:
                    pass
                cuda.threadfence_block()
            cuda.syncwarp()
            out[lane] += data[31 - lane]
            cuda.syncwarp()
            if lane == 0:
                cuda.atomic.add(state, 0, 1)


@warps_as_maker_and_user.gives
def _(a, out):
    out[:] = 6 * a[::-1]


@program(1, 32, ints(32, low=0, high=4), zeros(4), zeros(4), zeros(32))
def a_lock_for_each_value(a, locks, sums, seen):
    """Lanes of a warp lock one another out; then all meet again."""
    t = cuda.threadIdx.x
    x, done = a[t], False
    while not done:
        if cuda.atomic.cas(locks, x, 0, 1) == 0:
            cuda.threadfence()
            cuda.atomic.exch(sums, x, cuda.atomic.add(sums, x, 0) + t)
            cuda.threadfence()
            cuda.atomic.exch(locks, x, 0)
            done = True
    cuda.syncwarp()
    seen[t] = cuda.shfl_sync(FULL, cuda.atomic.add(sums, x, 0), 31 - t)


@a_lock_for_each_value.gives
def _(a, locks, sums, seen):
    sums[:] = np.bincount(a, weights=LANES, minlength=4).astype(int)
    seen[:] = sums[a][::-1]


@program(1, 64, ints(64), zeros(64), 3)
def chosen_by_data_and_by_break(a, out, limit):
    """Break and continue around meetings, the same for all lanes of a warp."""
    t = cuda.threadIdx.x
    x = a[t]
    for k in range(10):
        if cuda.all_sync(FULL, x > 60):
            break
        if k == limit:
            continue
        x += cuda.popc(cuda.ballot_sync(FULL, x <= 60))
    else:
        x = -x
    out[t] = x


@chosen_by_data_and_by_break.gives
def _(a, out, limit):
    for w in (0, 32):
        x = a[w : w + 32].astype(int)
        for k in range(10):
            if (x > 60).all():
                break
            if k != limit:
                x += (x <= 60).sum()
        else:
            x = -x
        out[w : w + 32] = x


@program(1, 32, ints(32), zeros(32))
def a_barrier_as_an_index(a, out):
    """Meetings in subscripts, arguments and conditional expressions."""
    t = cuda.threadIdx.x
    out[cuda.shfl_xor_sync(FULL, t, 5)] = min(
        cuda.shfl_down_sync(FULL, a[t], 1), a[cuda.shfl_sync(FULL, t, 31 - t)]
    )
    cuda.syncwarp()
    out[t] += cuda.shfl_sync(FULL, a[t], 3) if cuda.any_sync(FULL, a[t] > 0) else 7


@a_barrier_as_an_index.gives
def _(a, out):
    least = np.minimum(np.append(a[1:], a[31]), a[::-1])
    out[:] = least[LANES ^ 5] + (a[3] if (a > 0).any() else 7)


@program(1, 32, ints(32), zeros(32), zeros(32))
def in_comprehensions(a, out, first):
    t = cuda.threadIdx.x
    by = lambda n: cuda.shfl_sync(FULL, a[t], t + n)  # noqa: E731
    out[t] = sum(by(n) * n for n in (1, 2, 3))
    out[t] += sum([cuda.shfl_xor_sync(FULL, t, i + j) for i, j in ((1, 2), (4, 8)) if i < 4])
    out[t] += max(cuda.shfl_up_sync(FULL, a[t], i + j) for i in (0, 1) for j in (0, 2))
    if any(cuda.ballot_sync(FULL, a[t] > n) == 0 for n in (-60, 30, 60)):
        first[t] = 1
    if all(cuda.all_sync(FULL, a[t] < n) for n in (60, 70)):
        first[t] += 2


@in_comprehensions.gives
def _(a, out, first):
    out[:] = sum(np.roll(a, -n) * n for n in (1, 2, 3)) + (LANES ^ 3)
    out += np.max([np.where(n <= LANES, np.roll(a, n), a) for n in range(4)], axis=0)
    first[:] = 3
