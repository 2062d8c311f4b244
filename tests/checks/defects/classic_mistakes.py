"""Mistakes that programs in CUDA are known for."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, float32, int32, int64
from support.defects import noise, ramp, seeded, zeros

FULL = 0xFFFFFFFF


@seeded("out-of-bounds", 4, 16, lambda: (ramp(50), zeros(50)))
def grid_that_is_larger_than_the_data(a, out):
    """The threads of the last block have no guard."""
    i = cuda.grid(1)
    if i < len(a):  # defect: if i < 64:
        out[i] = 2 * a[i]  # finding


@seeded("out-of-bounds", 2, 16, lambda: (ramp(32), zeros(32)))
def halo_that_is_too_narrow(a, out):
    """The tile has cells for one neighbor, not two."""
    tile = cuda.shared.array(18, float32)  # defect: tile = cuda.shared.array(17, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t + 1] = a[i]  # finding
    if t == 0:
        tile[0] = a[i - 1] if i > 0 else 0
        tile[t + 17] = a[i + 16] if i + 16 < len(a) else 0  # finding
    cuda.syncthreads()
    out[i] = tile[t] + tile[t + 1] + tile[t + 2]  # finding


@seeded("uninitialized", 2, 16, lambda: (ramp(32), zeros(32)))
def halo_without_its_corner(a, out):
    """One thread loads the left neighbor, none the right one."""
    tile = cuda.shared.array(18, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t + 1] = a[i]
    if t == 0:
        tile[0] = a[i - 1] if i > 0 else 0
    if t == 15:
        tile[17] = a[i + 1] if i + 1 < len(a) else 0  # defect: removed
    cuda.syncthreads()
    out[i] = tile[t] + tile[t + 1] + tile[t + 2]  # finding


@seeded("race", 1, 64, lambda: (ramp(4, 64), zeros(64)))
def second_barrier_of_a_loop(a, out):
    """The next round overwrites a tile that others still read."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for k in range(a.shape[0]):
        tile[t] = a[k, t]  # other
        cuda.syncthreads()
        total += tile[63 - t]  # finding
        cuda.syncthreads()  # defect: removed
    out[t] = total


@seeded("race", 1, 64, lambda: (ramp(6, 64), zeros(64)))
def buffers_in_turn(a, out):
    """A double buffer whose parity does not change."""
    tiles = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    tiles[0, t] = a[0, t]
    total = float32(0)
    for k in range(a.shape[0]):
        cuda.syncthreads()
        if k + 1 < a.shape[0]:
            tiles[(k + 1) % 2, t] = a[k + 1, t]  # other, defect: tiles[k % 2, t] = a[k + 1, t]
        total += tiles[k % 2, 63 - t]  # finding
    out[t] = total


@seeded("race", 1, 64, lambda: (noise(64), zeros(1, dtype=np.int32)))
def last_steps_without_barriers(a, out):
    """The warp-synchronous end of old reductions, which relies on lockstep."""
    sums = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    sums[t] = a[t]
    cuda.syncthreads()
    if t < 32:
        sums[t] += sums[t + 32]
        cuda.syncwarp()
        for step in (16, 8, 4, 2, 1):
            x = sums[t + step] if t < step else np.int32(0)  # finding, other
            cuda.syncwarp()  # defect: removed
            sums[t] += x  # finding, other
            cuda.syncwarp()  # defect: removed
        if t == 0:
            out[0] = sums[0]


@seeded("uninitialized", 1, 48, lambda: (noise(48), zeros(1, dtype=np.int32)))
def reduction_of_48_numbers(a, out):
    """Halving needs a power of two."""
    sums = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    sums[t] = a[t]
    if t < 16:
        sums[t + 48] = 0  # defect: pass
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            sums[t] += sums[t + step]  # finding
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[0] = sums[0]


@seeded("race", 1, 64, lambda: (noise(64), zeros(64, dtype=np.int32)))
def flag_of_the_block(a, out):
    """Threads read a flag before all have set it."""
    found = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        found[0] = 0
    cuda.syncthreads()
    if a[t] > 90:
        found[0] = 1  # other
    cuda.syncthreads()  # defect: removed
    out[t] = found[0]  # finding


@seeded("race", 1, 64, lambda: (noise(64), zeros(1, dtype=np.int32)))
def flag_that_is_not_reset_in_time(a, out):
    """The flag of a loop is cleared while others still read it."""
    changed = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    x, rounds = a[t], 0
    for _ in range(8):
        if t == 0:
            changed[0] = 0  # other
        cuda.syncthreads()
        if x > 0:
            x //= 2
            changed[0] = 1
        cuda.syncthreads()
        again = changed[0]  # finding
        cuda.syncthreads()  # defect: removed
        if again == 1:
            rounds += 1
    if t == 0:
        out[0] = rounds


@seeded("race", 4, 32, lambda: (noise(128), zeros(1, dtype=np.int64)))
def total_of_all_blocks(a, out):
    """A sum without an atomic operation."""
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, a[i])  # finding, other, defect: out[0] += a[i]


@seeded("race", 1, 64, lambda: (noise(64, limit=8), zeros(8, dtype=np.int32)))
def histogram_in_shared_memory(a, out):
    """The bins are cleared by some threads, and counted at once by the others."""
    bins = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        bins[t] = 0  # other
    cuda.syncthreads()  # defect: removed
    cuda.atomic.add(bins, a[t], 1)  # finding
    cuda.syncthreads()
    if t < 8:
        out[t] = bins[t]


@seeded("race", 1, 64, lambda: (noise(64), zeros(64, dtype=np.int32), zeros(1, dtype=np.int32)))
def stack_with_a_plain_top(a, items, top):
    """The top is read by plain loads while others change it."""
    t = cuda.threadIdx.x
    if a[t] > 50:
        at = cuda.atomic.add(top, 0, 1)  # other
        items[at] = 7
    cuda.syncthreads()  # defect: removed
    if t == 0 and top[0] > 0:  # finding
        items[63] = 1


@seeded("race", 2, 8, lambda: (ramp(16), zeros(16)))
def shift_in_place(a, out):
    """The array is both read and written, by neighbors in other blocks."""
    i = cuda.grid(1)
    out[i] = a[(i + 1) % 16]  # finding, other, defect: a[i] = a[(i + 1) % 16]


@seeded("divergent-barrier", 2, 32, lambda: (ramp(50), zeros(50)))
def threads_without_data(a, out):
    """Threads without data go past the barrier of the others, to the next one."""
    tile = cuda.shared.array(32, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = a[i] if i < 50 else 0
    cuda.syncthreads()  # defect: removed
    if i < 50:
        tile[t] += 1  # defect: cuda.syncthreads()  # finding
    cuda.syncthreads()  # finding
    if i < 50:
        out[i] = tile[(t + 1) % 18]


@device
def tile_sum(tile, t):
    cuda.syncthreads()  # finding
    return tile[t] + tile[t ^ 1]


@seeded("divergent-barrier", 1, 64, lambda: (ramp(64), zeros(64)))
def function_with_a_barrier(a, out):
    """A device function with a barrier is called by some threads."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    x = tile_sum(tile, t)  # defect: x = a[t]
    if t < 40:
        out[t] = x  # defect: out[t] = tile_sum(tile, t)
    cuda.syncthreads()  # finding
    out[t] += a[t]


@seeded("out-of-bounds", (1, 2), (8, 4), lambda: (ramp(8, 6), zeros(8, 6)))
def rows_and_columns(a, out):
    """Row and column are exchanged, which a square array does not show."""
    x, y = cuda.grid(2)
    if x < a.shape[0] and y < a.shape[1]:
        out[x, y] = a[x, y]  # finding, defect: out[x, y] = a[y, x]


@seeded("out-of-bounds", 1, 8, lambda: (np.full(8, 50_000, np.int32), zeros(8)))
def product_that_wraps(sizes, out):
    """A product of two int32 has no 32 bits."""
    i = cuda.grid(1)
    n = int64(sizes[i])  # defect: n = int32(sizes[i])
    area = n * n  # defect: area = int32(n * n)
    out[area % 8 if area > 0 else 100] = 1  # finding


@seeded("out-of-bounds", 1, 64, lambda: (ramp(64), zeros(64)))
def tile_of_another_block_size(a, out):
    """The tile is made for blocks of 32 threads."""
    tile = cuda.shared.array(64, float32)  # defect: tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]  # finding
    cuda.syncthreads()
    out[t] = tile[t ^ 1]  # finding


@seeded("uninitialized", 1, 8, lambda: (noise(8), zeros(8, dtype=np.int32)))
def index_without_a_value(a, out):
    """An index that is only assigned if a condition holds."""
    t = cuda.threadIdx.x
    at = t  # defect: pass
    if a[t] > 50:
        at = t ^ 1
    out[t] = a[at]  # finding


@seeded("uninitialized", 1, 8, lambda: (noise(8), zeros(8, dtype=np.int32)))
def counts_that_are_not_cleared(a, out):
    """A local array starts with any values."""
    counts = cuda.local.array(4, int32)
    t = cuda.threadIdx.x
    for k in range(4):
        counts[k] = 0  # defect: pass
    for k in range(8):
        counts[a[k] % 4] += 1  # finding
    out[t] = counts[t % 4]


@seeded("race", 2, 32, lambda: (ramp(64), zeros(64), zeros(1, dtype=np.int32), zeros(1)))
def message_without_a_fence(a, parts, ready, out):
    """The flag may be seen before what it is the flag of."""
    i, t = cuda.grid(1), cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        parts[i] = a[i]  # other
        cuda.threadfence()  # defect: removed
        cuda.syncthreads()
        if t == 0:
            cuda.atomic.exch(ready, 0, 1)
    elif t == 0:
        while cuda.atomic.add(ready, 0, 0) == 0:
            cuda.threadfence()
        out[0] = parts[5]  # finding


@seeded("race", 3, 32, lambda: (noise(96), zeros(3, dtype=np.int32), zeros(2, dtype=np.int32)))
def last_block_sums(a, parts, out):
    """The block that counts last reads the sums of the others, which have no fence."""
    sums = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        sums[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(sums, 0, a[cuda.grid(1)])
    cuda.syncthreads()
    if t == 0:
        parts[cuda.blockIdx.x] = sums[0]  # other
        cuda.threadfence()  # defect: removed
        if cuda.atomic.add(out, 1, 1) == 2:
            out[0] = parts[0] + parts[1] + parts[2]  # finding


@seeded("arithmetic", 1, 8, lambda: (noise(8, limit=3), zeros(8, dtype=np.int32)))
def average_of_no_elements(counts, out):
    """An average of an empty bin."""
    t = cuda.threadIdx.x
    n = max(counts[t], 1)  # defect: n = counts[t]
    out[t] = 100 // n  # finding


@seeded("race", 1, (16, 4), lambda: (ramp(16, 16), zeros(16, 16)))
def transposed_tile(a, out):
    """Each thread copies four rows of a tile, which others read as columns."""
    tile = cuda.shared.array((16, 17), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    for k in range(0, 16, 4):
        tile[y + k, x] = a[y + k, x]  # other
    cuda.syncthreads()  # defect: removed
    for k in range(0, 16, 4):
        out[y + k, x] = tile[x, y + k]  # finding


@seeded("race", 1, 64, lambda: (noise(64), zeros(64, dtype=np.int32)))
def scan_without_the_second_barrier(a, out):
    """A step of an inclusive scan reads what others have written already."""
    sums = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    sums[t] = a[t]
    cuda.syncthreads()
    step = 1
    while step < 64:
        left = sums[t - step] if t >= step else np.int32(0)  # other
        cuda.syncthreads()  # defect: removed
        sums[t] += left  # finding
        cuda.syncthreads()
        step *= 2
    out[t] = sums[t]
