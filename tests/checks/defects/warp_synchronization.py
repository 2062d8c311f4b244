"""Warp operations whose masks do not name the lanes that execute them."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, float32
from support.defects import noise, ramp, seeded, zeros

FULL = 0xFFFFFFFF


@seeded("warp-sync", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def shuffle_in_a_branch(a, out):
    """The mask names lanes that wait at another operation."""
    t = cuda.threadIdx.x
    x = a[t]
    if t < 16:
        mask = 0xFFFF  # defect: mask = FULL
        x += cuda.shfl_xor_sync(mask, x, 8)  # finding
    cuda.syncwarp()  # finding
    out[t] = x


@seeded("warp-sync", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def lane_outside_of_its_mask(a, out):
    """All lanes call with the mask of the lower half."""
    t = cuda.threadIdx.x
    mask = 0xFFFF if t < 16 else 0xFFFF0000  # defect: mask = 0xFFFF
    out[t] = cuda.ballot_sync(mask, a[t] > 50) % 65536  # finding


@seeded("warp-sync", 2, 64, lambda: (noise(128), zeros(128, dtype=np.int32)))
def mask_of_other_lanes(a, out):
    """The mask has the lanes of a predicate, and the others call."""
    i = cuda.grid(1)
    is_odd = a[i] % 2 == 1
    mask = cuda.ballot_sync(FULL, is_odd)
    if is_odd:  # defect: if not is_odd:
        out[i] = cuda.popc(cuda.match_any_sync(mask, a[i] % 10))  # finding


@device
def segment_sum(x, mask):
    for step in (4, 2, 1):
        x += cuda.shfl_xor_sync(mask, x, step)  # finding
    return x


@seeded("warp-sync", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def mask_of_the_wrong_segment(a, out):
    """The mask of a segment of 8 lanes, shifted by the number of the segment."""
    t = cuda.threadIdx.x
    mask = 0xFF << t // 8 * 8  # defect: mask = 0xFF << t // 8
    out[t] = segment_sum(a[t], mask)


@seeded("warp-sync", 1, 64, lambda: (ramp(64), zeros(64)))
def syncwarp_in_a_branch(a, out):
    """Half a warp synchronizes with all lanes, which wait at a shuffle."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    if t % 32 < 8:
        cuda.syncwarp(0xFF)  # finding, defect: cuda.syncwarp()
    x = cuda.shfl_xor_sync(FULL, tile[t], 3)  # finding
    out[t] = x


@seeded("warp-sync", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def shuffle_from_an_absent_lane(a, out):
    """The lane that a shuffle reads from does not take part."""
    t = cuda.threadIdx.x
    if t < 8:
        source = 7  # defect: source = 12
        out[t] = cuda.shfl_sync(0xFF, a[t], source)  # finding


@seeded("warp-sync", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def shuffle_beyond_the_mask(a, out):
    """The last lanes of a mask read from lanes after it."""
    t = cuda.threadIdx.x
    total = np.int32(0)
    if t < 24:
        width = 8  # defect: width = 32
        total += cuda.shfl_down_sync(0xFFFFFF, a[t], 1, width)  # finding
    out[t] = total


@seeded("warp-sync", 1, 40, lambda: (noise(40), zeros(40, dtype=np.int32)))
def warp_that_is_not_full(a, out):
    """The last warp of a block has 8 lanes, and a shuffle reads from the ninth."""
    t = cuda.threadIdx.x
    step = 4 if t >= 32 else 16  # defect: step = 16
    out[t] = cuda.shfl_xor_sync(FULL, a[t], step)  # finding


@seeded("warp-sync", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def loop_that_lanes_leave(a, out):
    """Lanes leave a loop in which the others still name them."""
    t = cuda.threadIdx.x
    left, rounds = a[t], 0
    active = cuda.ballot_sync(FULL, left > 0)
    while left > 0:
        left //= 3
        rounds += cuda.popc(cuda.ballot_sync(active, left > 0))  # finding
        active = cuda.ballot_sync(active, left > 0)  # finding, defect: pass
    cuda.syncwarp()  # finding
    out[t] = rounds


@seeded("warp-sync", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def reduction_with_a_mask_of_lanes(a, out):
    """The mask has the bit of the next lane instead of the own one."""
    t = cuda.threadIdx.x
    mask = 1 << t  # defect: mask = 1 << (t + 1) % 32
    out[t] = cuda.reduce_add_sync(mask, a[t])  # finding


@seeded("warp-sync", 1, 64, lambda: (noise(64), zeros(2, dtype=np.int32)))
def masks_that_overlap(a, out):
    """The halves of a warp name a lane of each other."""
    t, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
    mask = 0xFFFF if lane < 16 else 0xFFFF0000  # defect: mask = 0x1FFFF if lane < 16 else FULL - 1
    if cuda.any_sync(mask, a[t] == 7):  # finding
        cuda.atomic.add(out, t // 32, 1)


@seeded(
    "warp-sync",
    (1, 2),
    (8, 4),
    lambda: (noise(8, 8), zeros(8, 8, dtype=np.int32)),
)
def rows_of_a_warp(a, out):
    """The mask of a row of 8 lanes, from the index of the column."""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row = 4 * cuda.blockIdx.y + y
    mask = 0xFF << 8 * y  # defect: mask = 0xFF << 8 * (x % 4)
    out[row, x] = cuda.shfl_sync(mask, a[row, x], 0, 8)  # finding


@seeded("warp-sync", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def groups_of_equal_values(a, out):
    """The lanes of a warp with equal values reduce by their mask, in branches."""
    t = cuda.threadIdx.x
    key = a[t] % 4
    same = cuda.match_any_sync(FULL, key)
    others = FULL ^ same
    if key > 1:
        out[t] = cuda.reduce_max_sync(same, a[t])
    else:
        mask = same if key >= 0 else others  # defect: mask = others
        out[t] = cuda.popc(cuda.ballot_sync(mask, a[t] > 40))  # finding


@seeded("warp-sync", 1, (8, 5), lambda: (noise(40), zeros(2, dtype=np.int32)))
def sum_of_a_block_that_is_no_multiple(a, out):
    """The second warp of a block of two dimensions has 8 lanes, and sums 32."""
    t = cuda.threadIdx.x + 8 * cuda.threadIdx.y
    x = a[t]
    steps = 3 if t >= 32 else 5  # defect: steps = 5
    for k in range(steps):
        x += cuda.shfl_down_sync(FULL, x, 1 << (steps - 1 - k))  # finding
    if t % 32 == 0:
        out[t // 32] = x


@device
def left_neighbour(mask, x, distance):
    return cuda.shfl_up_sync(mask, x, distance)  # finding


@seeded("warp-sync", 1, 64, lambda: (noise(64), zeros(64, dtype=np.int32)))
def lanes_from_four_on(a, out):
    """A device function reads from the lanes below the mask."""
    t, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
    if lane >= 4:
        distance = min(2, lane - 4)  # defect: distance = 2
        out[t] = left_neighbour(0xFFFFFFF0, a[t], distance)


@seeded("warp-sync", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def broadcast_from_a_lane_that_votes_no(a, out):
    """The lanes that vote yes read from the first one, or from a lane that votes no."""
    t = cuda.threadIdx.x
    x = a[t]
    mask = cuda.ballot_sync(FULL, x > 40)
    leader = cuda.ffs(mask) - 1  # defect: leader = cuda.ffs(FULL ^ mask) - 1
    if x > 40:
        out[t] = cuda.shfl_sync(mask, x, leader)  # finding


@seeded("warp-sync", 2, 32, lambda: (noise(64), zeros(64, dtype=np.int32)))
def butterfly_beyond_the_mask(a, out):
    """A butterfly of 16 lanes exchanges with the other half of the warp."""
    i, t = cuda.grid(1), cuda.threadIdx.x
    x = a[i]
    if t < 16:
        for step in (8, 4, 2, 1):  # defect: for step in (16, 8, 4, 2, 1):
            x += cuda.shfl_xor_sync(0xFFFF, x, step)  # finding
    out[i] = x


@seeded("warp-sync", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def neighbour_that_some_use(a, out):
    """The lanes whose neighbour is in the mask use its number, or all lanes do."""
    t = cuda.threadIdx.x
    if t < 12:
        x = a[t]
        above = cuda.shfl_down_sync(0xFFF, x, 3)
        if t + 3 < 12:
            x -= above
        out[t] = x  # finding, defect: out[t] = x + cuda.shfl_down_sync(0xFFF, a[t], 3)


@seeded("warp-sync", 2, 32, lambda: (noise(64), zeros(64, dtype=np.int32)))
def shuffle_that_half_a_warp_skips(a, out):
    """The other half goes on, and ends without another operation of the warp."""
    i, t = cuda.grid(1), cuda.threadIdx.x
    x = a[i]
    y = cuda.shfl_xor_sync(FULL, x, 8)  # defect: y = x
    if t < 16:
        x = y  # finding, defect: x = cuda.shfl_xor_sync(FULL, x, 8)
    out[i] = x


@seeded("warp-sync", 1, 64, lambda: (noise(64), zeros(64, dtype=np.int32)))
def vote_of_some_lanes(a, out):
    """The mask of a vote inside a condition names all lanes."""
    t = cuda.threadIdx.x
    count = np.int32(0)
    mask = cuda.ballot_sync(FULL, a[t] > 50)
    named = mask  # defect: named = FULL
    if a[t] > 50:
        count = cuda.popc(cuda.ballot_sync(named, a[t] % 2 == 0))  # finding
    out[t] = count + (mask >> 40)


@seeded("warp-sync", 1, 32, lambda: (noise(32, limit=6), zeros(32, dtype=np.int32)))
def vote_in_a_loop_of_different_length(a, out):
    """Lanes that leave the loop are still in the mask."""
    t = cuda.threadIdx.x
    left, rounds = a[t], np.int32(0)
    mask = cuda.ballot_sync(FULL, left > 0)
    while left > 0:
        left -= 1
        rounds += cuda.popc(mask)
        named = mask  # defect: named = FULL
        mask = cuda.ballot_sync(named, left > 0)  # finding
    out[t] = rounds


@seeded("warp-sync", 1, 32, lambda: (noise(32), zeros(1, dtype=np.int32)))
def sum_after_an_early_return(a, out):
    """Lanes that have returned have no values to add."""
    t = cuda.threadIdx.x
    x = a[t] if t < 20 else np.int32(0)  # defect: x = a[t]
    if t >= 32:  # defect: if t >= 20:
        return
    for step in (16, 8, 4, 2, 1):
        x += cuda.shfl_down_sync(FULL, x, step)  # finding
    if t == 0:
        out[0] = x


@seeded("warp-sync", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def lane_that_has_returned(a, out):
    """The leader of a warp returns before it tells the others its value."""
    t = cuda.threadIdx.x
    if t == 31:  # defect: if t == 0:
        return
    out[t] = cuda.shfl_sync(FULL, a[t], 0)  # finding


@device
def sum_of_warp(x):
    for step in (16, 8, 4, 2, 1):
        x += cuda.shfl_xor_sync(FULL, x, step)  # finding
    return x


@seeded("warp-sync", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def function_of_the_warp_in_a_branch(a, out):
    """Some lanes call a function in which all lanes must take part."""
    t = cuda.threadIdx.x
    x = a[t]
    y = sum_of_warp(x)  # defect: y = x
    if x > 30:
        x = y  # defect: x = sum_of_warp(x)
    out[t] = x
