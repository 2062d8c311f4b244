"""Shuffles of every width and type."""

from __future__ import annotations

import numpy as np

from pycu2c import bool_, cuda, device, float32, int32
from support.synchronization.program import ints, program, zeros

FULL = 0xFFFFFFFF
LANES = np.arange(32)


def taken(row, source, valid):
    """What each lane gets of a warp's values: its own where the source is not valid."""
    return np.where(valid, row[np.where(valid, source, 0)], row)


@program(2, 64, ints(128), zeros(128), zeros(128), 9)
def from_one_lane(a, out, other, lane):
    i = cuda.grid(1)
    out[i] = cuda.shfl_sync(FULL, a[i], lane)
    other[i] = cuda.shfl_sync(FULL, a[i] + i, 31) - cuda.shfl_sync(FULL, i, lane - 32)


@from_one_lane.gives
def _(a, out, other, lane):
    rows = a.reshape(-1, 32)
    out[:] = np.repeat(rows[:, lane % 32], 32)
    starts = np.repeat(np.arange(0, len(a), 32), 32)
    other[:] = np.repeat(rows[:, 31], 32) + starts + 31 - (starts + lane % 32)


from_one_lane.also(1, 32, ints(32), zeros(32), zeros(32), 40)
from_one_lane.also(1, 32, ints(32), zeros(32), zeros(32), -1)


@program(1, 64, ints(64), ints(64, low=0, high=32), zeros(64))
def from_a_lane_for_each(a, source, out):
    t = cuda.threadIdx.x
    out[t] = cuda.shfl_sync(FULL, a[t], source[t])


@from_a_lane_for_each.gives
def _(a, source, out):
    for w in (0, 32):
        out[w : w + 32] = a[w : w + 32][source[w : w + 32]]


@program(1, 32, ints(32), zeros(32), 5, 2)
def shuffles_of_a_width(a, out, n, width):
    """All four, ``n`` as lane, distance and mask."""
    t = cuda.threadIdx.x
    out[t] = cuda.shfl_sync(FULL, a[t], n, width)
    out[t] += 7 * cuda.shfl_up_sync(FULL, a[t], n, width)
    out[t] += 31 * cuda.shfl_down_sync(FULL, a[t], n, width)
    out[t] += 101 * cuda.shfl_xor_sync(FULL, a[t], n, width)


@shuffles_of_a_width.gives
def _(a, out, n, width):
    first = LANES // width * width
    out[:] = a[first + n % width]
    out += 7 * taken(a, LANES - n, LANES - n >= first)
    out += 31 * taken(a, LANES + n, LANES + n < first + width)
    out += 101 * taken(a, LANES ^ n, LANES ^ n < first + width)


for _n, _width in ((0, 4), (1, 2), (3, 4), (2, 8), (9, 8), (8, 16), (20, 16), (31, 32), (16, 32)):
    shuffles_of_a_width.also(1, 32, ints(32), zeros(32), _n, _width)


@program(2, 64, ints(128), zeros(4))
def sum_downwards(a, out):
    i = cuda.grid(1)
    x = a[i]
    for step in (16, 8, 4, 2, 1):
        x += cuda.shfl_down_sync(FULL, x, step)
    if cuda.laneid == 0:
        out[i // 32] = x


@sum_downwards.gives
def _(a, out):
    out[:] = a.reshape(4, 32).sum(axis=1)


@program(1, 96, ints(96), zeros(96), zeros(96))
def butterflies(a, total, most):
    t = cuda.threadIdx.x
    x, y = a[t], a[t]
    step = 1
    while step < cuda.warpsize:
        x += cuda.shfl_xor_sync(FULL, x, step)
        y = max(y, cuda.shfl_xor_sync(FULL, y, step))
        step *= 2
    total[t], most[t] = x, y


@butterflies.gives
def _(a, total, most):
    rows = a.reshape(3, 32)
    total[:] = np.repeat(rows.sum(axis=1), 32)
    most[:] = np.repeat(rows.max(axis=1), 32)


@program(1, 64, ints(64), zeros(64), zeros(64), 8)
def scans_upwards(a, out, parts, width):
    t = cuda.threadIdx.x
    x, y = a[t], a[t]
    step = 1
    while step < 32:
        before = cuda.shfl_up_sync(FULL, x, step)
        if cuda.laneid >= step:
            x += before
        step *= 2
    for step in (1, 2, 4, 8, 16):
        if step < width:
            before = cuda.shfl_up_sync(FULL, y, step, width)
            if cuda.laneid % width >= step:
                y += before
    out[t], parts[t] = x, y


@scans_upwards.gives
def _(a, out, parts, width):
    out[:] = a.reshape(2, 32).cumsum(axis=1).ravel()
    parts[:] = a.reshape(-1, width).cumsum(axis=1).ravel()


scans_upwards.also(1, 64, ints(64), zeros(64), zeros(64), 2)
scans_upwards.also(1, 64, ints(64), zeros(64), zeros(64), 32)


@program(1, 32, ints(32), zeros(32), 4)
def sums_of_parts(a, out, width):
    t = cuda.threadIdx.x
    x, step = a[t], width // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step, width)
        step //= 2
    out[t] = cuda.shfl_sync(FULL, x, 0, width)


@sums_of_parts.gives
def _(a, out, width):
    out[:] = np.repeat(a.reshape(-1, width).sum(axis=1), width)


sums_of_parts.also(1, 32, ints(32), zeros(32), 2)
sums_of_parts.also(1, 32, ints(32), zeros(32), 8)
sums_of_parts.also(1, 32, ints(32), zeros(32), 16)


@program(
    1, 32, ints(32, dtype=np.int8), ints(32, low=0, dtype=np.uint8), ints(32, dtype=np.int16),
    ints(32, low=0, dtype=np.uint16), ints(32, low=0, dtype=np.uint32), ints(32, dtype=np.int64),
    ints(32, low=0, dtype=np.uint64), ints(32, low=0, high=2, dtype=bool),
)  # fmt: skip
def whole_numbers_of_every_type(a, b, c, d, e, f, g, h):
    t = cuda.threadIdx.x
    a[t] = cuda.shfl_down_sync(FULL, a[t], 1)
    b[t] = cuda.shfl_up_sync(FULL, b[t], 1) + 200
    c[t] = cuda.shfl_xor_sync(FULL, c[t], 3)
    d[t] = cuda.shfl_sync(FULL, d[t], 31 - t)
    e[t] = cuda.shfl_down_sync(FULL, e[t] * 100000000, 2)
    f[t] = cuda.shfl_up_sync(FULL, f[t] << 40, 2)
    g[t] = cuda.shfl_xor_sync(FULL, g[t] << 58, 31)
    h[t] = cuda.shfl_sync(FULL, h[t], t ^ 1) and cuda.shfl_sync(FULL, t > 3, 31)


@whole_numbers_of_every_type.gives
def _(a, b, c, d, e, f, g, h):
    a[:31] = a[1:].copy()
    b[1:] = b[:-1].copy()
    b += 200
    c[:] = c[LANES ^ 3]
    d[:] = d[::-1].copy()
    e *= 100000000
    e[:30] = e[2:].copy()
    f <<= 40
    f[2:] = f[:-2].copy()
    g[:] = (g << np.uint64(58))[::-1]
    h[:] = h[LANES ^ 1]


@program(
    1, 32, ints(32, dtype=np.float16), ints(32, dtype=np.float32), ints(32, dtype=np.float64),
    ints(32, dtype=np.complex64), ints(32, dtype=np.complex128),
    lambda rng: rng.integers(0, 9, 64).astype(np.float32).view(cuda.float2.numpy),
)  # fmt: skip
def other_numbers_of_every_type(a, b, c, d, e, f):
    t = cuda.threadIdx.x
    a[t] = cuda.shfl_down_sync(FULL, a[t], 1)
    b[t] = cuda.shfl_up_sync(FULL, b[t] / 4, 1)
    c[t] = cuda.shfl_xor_sync(FULL, c[t] / 3, 3)
    d[t] = cuda.shfl_sync(FULL, d[t] * 1j, 31 - t)
    e[t] = cuda.shfl_down_sync(FULL, e[t] + 2j, 4, 8)
    f[t] = cuda.shfl_sync(FULL, f[t], 31 - t)


@other_numbers_of_every_type.gives
def _(a, b, c, d, e, f):
    a[:31] = a[1:].copy()
    b /= 4
    b[1:] = b[:-1].copy()
    c[:] = (c / 3)[LANES ^ 3]
    d[:] = (d * np.complex64(1j))[::-1]
    e += 2j
    e[:] = taken(e, LANES + 4, LANES % 8 < 4)
    f[:] = f[::-1].copy()


@program(1, 32, zeros(32), zeros(32, dtype=np.float64))
def pythons_own_numbers(out, halves):
    t = cuda.threadIdx.x
    out[t] = cuda.shfl_sync(FULL, t * t, (t + 1) % 32) - cuda.shfl_sync(FULL, 5, 0)
    halves[t] = cuda.shfl_up_sync(FULL, t / 2, 1)


@pythons_own_numbers.gives
def _(out, halves):
    out[:] = np.roll(LANES * LANES, -1) - 5
    halves[:] = np.maximum(LANES - 1, 0) / 2


@program(2, 40, ints(80), zeros(80))
def shuffles_in_a_warp_that_is_not_full(a, out):
    """The second warp has 8 lanes, and takes from those alone."""
    i, t = cuda.grid(1), cuda.threadIdx.x
    source = (t + 3) % 8 if t >= 32 else (t + 3) % 32
    out[i] = cuda.shfl_sync(FULL, a[i], source)


@shuffles_in_a_warp_that_is_not_full.gives
def _(a, out):
    for b in (0, 40):
        out[b : b + 32] = np.roll(a[b : b + 32], -3)
        out[b + 32 : b + 40] = np.roll(a[b + 32 : b + 40], -3)


@program(1, 64, ints(64), zeros(64))
def taken_from_those_who_stay(a, out):
    """Every other lane returns; the others go on with the mask of a whole warp."""
    t = cuda.threadIdx.x
    if t % 2:
        return
    x = a[t]
    for step in (16, 8, 4, 2):
        x += cuda.shfl_xor_sync(FULL, x, step)
    out[t] = x


@taken_from_those_who_stay.gives
def _(a, out):
    out[::2] = np.repeat(a.reshape(2, 16, 2)[:, :, 0].sum(axis=1), 16)


@program(1, 64, ints(64), zeros(64), 0)
def one_warp_or_the_other(a, out, which):
    """Conditions that a warp agrees on, and the block does not."""
    t = cuda.threadIdx.x
    if t // 32 == which:
        out[t] = cuda.shfl_down_sync(FULL, a[t], 1)
    elif t < 64:
        x = cuda.shfl_up_sync(FULL, a[t], 1)
        out[t] = x + cuda.shfl_sync(FULL, x, 7)


@one_warp_or_the_other.gives
def _(a, out, which):
    for w in (0, 1):
        row, part = a[w * 32 : w * 32 + 32], out[w * 32 : w * 32 + 32]
        if w == which:
            part[:] = taken(row, LANES + 1, LANES < 31)
        else:
            x = taken(row, LANES - 1, LANES > 0)
            part[:] = x + x[7]


one_warp_or_the_other.also(1, 64, ints(64), zeros(64), 1)


@device
def warp_sum(value):
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(FULL, value, step)
    return value


@program(2, 96, ints(170), zeros(2), zeros(2, dtype=np.float32))
def block_sum_by_warps(a, out, halves):
    """A warp sums up, then the first warp sums the warps."""
    parts = cuda.shared.array(32, int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    x = warp_sum(a[i] if i < len(a) else 0)
    if cuda.laneid == 0:
        parts[t // 32] = x
    cuda.syncthreads()
    if t < 32:
        total = warp_sum(parts[t] if t < cuda.blockDim.x // 32 else 0)
        if t == 0:
            out[cuda.blockIdx.x] = total
    half = warp_sum(float32(t) / 2)
    if t == 64:
        halves[cuda.blockIdx.x] = half


@block_sum_by_warps.gives
def _(a, out, halves):
    out[:] = a[:96].sum(), a[96:].sum()
    halves[:] = np.arange(64, 96).sum() / 2


@program(2, (8, 8), ints(16, 8), zeros(16, 8))
def rows_of_a_warp(a, out):
    """A block of two axes: a row is a part of eight lanes."""
    x, y = cuda.threadIdx.x, cuda.blockIdx.x * 8 + cuda.threadIdx.y
    total = a[y, x]
    for step in (4, 2, 1):
        total += cuda.shfl_xor_sync(FULL, total, step, 8)
    out[y, x] = total * 10 + cuda.shfl_sync(FULL, x, x + 1, 8)


@rows_of_a_warp.gives
def _(a, out):
    out[:] = a.sum(axis=1, keepdims=True) * 10 + (np.arange(8) + 1) % 8


@program(1, 64, ints(64), zeros(64))
def over_shared_memory_with_syncwarp(a, out):
    """Lanes exchange through memory; warps do not wait for one another."""
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    base, lane = t - cuda.laneid, cuda.laneid
    tile[t] = a[t]
    cuda.syncwarp()
    x = tile[base + (lane + 1) % 32]
    cuda.syncwarp()
    tile[t] = x * 2
    cuda.syncwarp(FULL)
    out[t] = tile[base + 31 - lane] + x


@over_shared_memory_with_syncwarp.gives
def _(a, out):
    x = np.roll(a.reshape(2, 32), -1, axis=1)
    out[:] = (2 * x[:, ::-1] + x).ravel()


@program(1, 64, ints(64), zeros(64))
def in_a_local_function(a, out):
    def turned(value, by):
        return cuda.shfl_sync(FULL, value, cuda.laneid + by)

    t = cuda.threadIdx.x
    twice = lambda v: cuda.shfl_xor_sync(FULL, v, 1) + v  # noqa: E731
    out[t] = turned(a[t], 5) + twice(turned(a[t], -1))


@in_a_local_function.gives
def _(a, out):
    rows = a.reshape(2, 32)
    back = np.roll(rows, 1, axis=1)
    out[:] = (np.roll(rows, -5, axis=1) + back + back[:, LANES ^ 1]).ravel()


@program(1, 32, ints(32, low=0, high=2, dtype=bool), zeros(32, dtype=bool))
def bools_stay_bools(a, out):
    t = cuda.threadIdx.x
    out[t] = bool_(cuda.shfl_xor_sync(FULL, a[t], 1)) ^ cuda.shfl_sync(FULL, not a[t], 0)


@bools_stay_bools.gives
def _(a, out):
    out[:] = a[LANES ^ 1] ^ (not a[0])
