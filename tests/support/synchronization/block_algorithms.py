"""Algorithms of blocks: reductions, scans, sorts, tiles."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, float32, int32, int64
from support.synchronization.program import ints, program, shuffled, zeros


@program(3, 100, ints(280), zeros(3))
def tree_of_any_size(a, out):
    """A block that is no power of two, the last one partly empty."""
    tile = cuda.shared.array(100, int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = a[i] if i < len(a) else 0
    n = cuda.blockDim.x
    while n > 1:
        cuda.syncthreads()
        half = (n + 1) // 2
        if t < n - half:
            tile[t] += tile[t + half]
        n = half
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


@tree_of_any_size.gives
def _(a, out):
    out[:] = [a[k : k + 100].sum() for k in (0, 100, 200)]


@program(2, 64, ints(128), zeros(2), zeros(2))
def least_and_where(a, value, place):
    values = cuda.shared.array(64, int32)
    places = cuda.shared.array(64, int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    values[t], places[t] = a[i], t
    for s in (32, 16, 8, 4, 2, 1):
        cuda.syncthreads()
        if t < s:
            other, where = values[t + s], places[t + s]
            if (other, where)[0] < values[t] or (other == values[t] and where < places[t]):
                values[t], places[t] = other, where
    if t == 0:
        value[cuda.blockIdx.x], place[cuda.blockIdx.x] = values[0], places[0]


@least_and_where.gives
def _(a, value, place):
    rows = a.reshape(2, 64)
    value[:], place[:] = rows.min(axis=1), rows.argmin(axis=1)


@program(2, 70, ints(140), zeros(140))
def scan_by_doubling(a, out):
    tile = cuda.shared.array((2, 70), int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    now, step = 0, 1
    tile[0, t] = a[i]
    while step < cuda.blockDim.x:
        cuda.syncthreads()
        before = tile[now, t - step] if t >= step else 0
        tile[1 - now, t] = tile[now, t] + before
        now = 1 - now
        step *= 2
    out[i] = tile[now, t]


@scan_by_doubling.gives
def _(a, out):
    out[:] = a.reshape(2, 70).cumsum(axis=1).ravel()


@program(1, 32, ints(64), zeros(64))
def scan_up_and_down(a, out):
    """Blelloch's: two elements for each thread, exclusive."""
    tile = cuda.shared.array(64, int32)
    t, n, step = cuda.threadIdx.x, 64, 1
    tile[2 * t], tile[2 * t + 1] = a[2 * t], a[2 * t + 1]
    d = n // 2
    while d > 0:
        cuda.syncthreads()
        if t < d:
            tile[step * (2 * t + 2) - 1] += tile[step * (2 * t + 1) - 1]
        step *= 2
        d //= 2
    if t == 0:
        tile[n - 1] = 0
    d = 1
    while d < n:
        step //= 2
        cuda.syncthreads()
        if t < d:
            left, right = step * (2 * t + 1) - 1, step * (2 * t + 2) - 1
            tile[left], tile[right] = tile[right], tile[left] + tile[right]
        d *= 2
    cuda.syncthreads()
    out[2 * t], out[2 * t + 1] = tile[2 * t], tile[2 * t + 1]


@scan_up_and_down.gives
def _(a, out):
    out[:] = np.cumsum(a) - a


@program(2, 64, shuffled(128))
def bitonic_sort(a):
    tile = cuda.shared.array(64, int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = a[i]
    k = 2
    while k <= 64:
        j = k // 2
        while j > 0:
            cuda.syncthreads()
            other = t ^ j
            if other > t:
                up = t & k == 0
                if (tile[t] > tile[other]) == up:
                    tile[t], tile[other] = tile[other], tile[t]
            j //= 2
        k *= 2
    cuda.syncthreads()
    a[i] = tile[t]


@bitonic_sort.gives
def _(a):
    a[:] = np.sort(a.reshape(2, 64), axis=1).ravel()


@program(1, 64, ints(64, low=0, high=256), zeros(64))
def radix_sort(a, out):
    """By one bit after the other: a place for each thread from a scan of the zeros."""
    tile = cuda.shared.array(64, int32)
    counts = cuda.shared.array((2, 64), int32)
    t = cuda.threadIdx.x
    x = a[t]
    for bit in range(8):
        zero = 1 - (x >> bit & 1)
        now, step = 0, 1
        counts[0, t] = zero
        while step < 64:
            cuda.syncthreads()
            before = counts[now, t - step] if t >= step else 0
            counts[1 - now, t] = counts[now, t] + before
            now, step = 1 - now, step * 2
        cuda.syncthreads()
        below, total = counts[now, t] - zero, counts[now, 63]
        place = below if zero else total + t - below
        tile[place] = x
        cuda.syncthreads()
        x = tile[t]
    out[t] = x


@radix_sort.gives
def _(a, out):
    out[:] = np.sort(a)


@program(2, 64, ints(100, low=0, high=8), zeros(2, 8))
def histogram_in_shared_memory(a, out):
    counts = cuda.shared.array(8, int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if t < 8:
        counts[t] = 0
    cuda.syncthreads()
    if i < len(a):
        cuda.atomic.add(counts, a[i], 1)
    cuda.syncthreads()
    if t < 8:
        out[cuda.blockIdx.x, t] = counts[t]


@histogram_in_shared_memory.gives
def _(a, out):
    out[0], out[1] = np.bincount(a[:64], minlength=8), np.bincount(a[64:], minlength=8)


@program(2, 48, ints(96), zeros(96), zeros(2))
def compaction_by_a_scan(a, out, count):
    flags = cuda.shared.array(48, int32)
    i, t, b = cuda.grid(1), cuda.threadIdx.x, cuda.blockIdx.x
    keeps = a[i] > 0
    flags[t] = int32(keeps)
    step = 1
    while step < 48:
        cuda.syncthreads()
        before = flags[t - step] if t >= step else 0
        cuda.syncthreads()
        flags[t] += before
        step *= 2
    cuda.syncthreads()
    if keeps:
        out[b * 48 + flags[t] - 1] = a[i]
    if t == 47:
        count[b] = flags[t]


@compaction_by_a_scan.gives
def _(a, out, count):
    for b, row in enumerate(a.reshape(2, 48)):
        kept = row[row > 0]
        count[b] = len(kept)
        out[b * 48 : b * 48 + len(kept)] = kept


@program(1, 80, ints(80), ints(80, low=0, high=4), zeros(80))
def segmented_scan(a, cuts, out):
    """Sums begin anew where ``cuts`` is 0."""
    sums = cuda.shared.array(80, int32)
    heads = cuda.shared.array(80, int32)
    t = cuda.threadIdx.x
    sums[t], heads[t] = a[t], int32(cuts[t] == 0)
    step = 1
    while step < 80:
        cuda.syncthreads()
        plus, cut = 0, heads[t]
        if t >= step and not heads[t]:
            plus, cut = sums[t - step], heads[t - step]
        cuda.syncthreads()
        sums[t] += plus
        heads[t] = cut
        step *= 2
    out[t] = sums[t]


@segmented_scan.gives
def _(a, cuts, out):
    total = 0
    for i, (x, cut) in enumerate(zip(a, cuts)):
        total = x if cut == 0 else total + x
        out[i] = total


@program((2, 3), (8, 8), ints(20, 11), ints(11, 15), zeros(20, 15))
def matmul_in_tiles(a, b, c):
    left = cuda.shared.array((8, 8), int32)
    right = cuda.shared.array((8, 8), int32)
    x, y = cuda.grid(2)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    total = 0
    for k in range(0, a.shape[1], 8):
        left[i, j] = a[y, k + j] if y < a.shape[0] and k + j < a.shape[1] else 0
        right[i, j] = b[k + i, x] if k + i < b.shape[0] and x < b.shape[1] else 0
        cuda.syncthreads()
        for m in range(8):
            total += left[i, m] * right[m, j]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


@matmul_in_tiles.gives
def _(a, b, c):
    c[:] = a @ b


@program((3, 2), (8, 4), ints(16, 24), zeros(24, 16))
def transpose_in_tiles(a, out):
    tile = cuda.shared.array((8, 9), int32)
    bx, by, x, y = cuda.blockIdx.x, cuda.blockIdx.y, cuda.threadIdx.x, cuda.threadIdx.y
    for row in (0, 4):
        tile[y + row, x] = a[by * 8 + y + row, bx * 8 + x]
    cuda.syncthreads()
    for row in (0, 4):
        out[bx * 8 + y + row, by * 8 + x] = tile[x, y + row]


@transpose_in_tiles.gives
def _(a, out):
    out[:] = a.T


@program(3, 32, ints(90), zeros(90), 5)
def window_with_a_halo(a, out, reach):
    tile = cuda.shared.array(32 + 2 * 8, int32)
    i, t, n = cuda.grid(1), cuda.threadIdx.x, len(a)
    for k in range(t, 32 + 2 * reach, 32):
        j = cuda.blockIdx.x * 32 + k - reach
        tile[k] = a[j] if 0 <= j < n else 0
    cuda.syncthreads()
    if i >= n:
        return
    total = 0
    for k in range(2 * reach + 1):
        total += tile[t + k]
    out[i] = total


@window_with_a_halo.gives
def _(a, out, reach):
    padded = np.pad(a, reach)
    out[:] = [padded[i : i + 2 * reach + 1].sum() for i in range(len(a))]


@program(1, (8, 8), ints(8, 8, low=0, high=2), 6)
def life(cells, rounds):
    now = cuda.shared.array((8, 8), int32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    now[y, x] = cells[y, x]
    for _ in range(rounds):
        cuda.syncthreads()
        near = 0
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if dx != 0 or dy != 0:
                    near += now[(y + dy) % 8, (x + dx) % 8]
        cuda.syncthreads()
        now[y, x] = 1 if near == 3 or (near == 2 and now[y, x]) else 0
    cells[y, x] = now[y, x]


@life.gives
def _(cells, rounds):
    for _ in range(rounds):
        near = sum(
            np.roll(cells, (dy, dx), (0, 1))
            for dy in (-1, 0, 1)
            for dx in (-1, 0, 1)
            if (dy, dx) != (0, 0)
        )
        cells[:] = (near == 3) | ((near == 2) & (cells == 1))


@program(1, 64, ints(64, dtype=np.float64), 10)
def heat_between_two_buffers(a, steps):
    rows = cuda.shared.array((2, 66), float32)
    t = cuda.threadIdx.x
    rows[0, t + 1] = a[t]
    if t < 2:
        rows[t, 0] = rows[t, 65] = 0
    cuda.syncthreads()
    for k in range(steps):
        old, new = k % 2, (k + 1) % 2
        rows[new, t + 1] = (rows[old, t] + rows[old, t + 2]) / 2
        cuda.syncthreads()
    a[t] = rows[steps % 2, t + 1]


@heat_between_two_buffers.gives
def _(a, steps):
    row = np.pad(a.astype(np.float32), 1)
    for _ in range(steps):
        row[1:-1] = (row[:-2] + row[2:]) / 2
    a[:] = row[1:-1]


@program(1, 64, ints(64, low=0, high=10), zeros(64))
def counting_sort(a, out):
    counts = cuda.shared.array(11, int32)
    t = cuda.threadIdx.x
    if t < 11:
        counts[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(counts, a[t] + 1, 1)
    cuda.syncthreads()
    if t == 0:
        for k in range(10):
            counts[k + 1] += counts[k]
    cuda.syncthreads()
    place = counts[a[t]]
    for k in range(t):
        place += a[k] == a[t]
    out[place] = a[t]


@counting_sort.gives
def _(a, out):
    out[:] = np.sort(a)


@device
def row_total(tile, row):
    total = int64(0)
    for value in tile[row]:
        total += value
    return total


@program(2, (16, 4), ints(8, 16), zeros(8, dtype=np.int64), zeros(8))
def rows_of_a_block(a, sums, greatest):
    tile = cuda.shared.array((4, 16), int32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.x * 4 + y
    tile[y, x] = a[row, x]
    cuda.syncthreads()
    if x == 0:
        sums[row] = row_total(tile, y)
    cuda.syncthreads()
    for s in (8, 4, 2, 1):
        if x < s:
            tile[y, x] = max(tile[y, x], tile[y, x + s])
        cuda.syncthreads()
    if x == 0:
        greatest[row] = tile[y, 0]


@rows_of_a_block.gives
def _(a, sums, greatest):
    sums[:], greatest[:] = a.sum(axis=1), a.max(axis=1)


@program(1, 64, shuffled(64), ints(40, low=-10, high=80), zeros(40))
def search_in_a_sorted_tile(numbers, expected, result):
    """Ranks by counting, then binary searches of a tile."""
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    rank = 0
    for value in numbers:
        rank += value < numbers[t]
    tile[rank] = numbers[t] * 2
    cuda.syncthreads()
    if t >= len(expected):
        return
    low, high = 0, 64
    while low < high:
        middle = (low + high) // 2
        if tile[middle] < expected[t]:
            low = middle + 1
        else:
            high = middle
    result[t] = low


@search_in_a_sorted_tile.gives
def _(numbers, sought, found):
    found[:] = np.searchsorted(np.sort(numbers) * 2, sought)
