"""Reads of memory and variables before they are written."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, float32, float64, int32
from support.defects import noise, ramp, seeded, zeros


@seeded("uninitialized", 2, 64, lambda: (ramp(100), zeros(2)))
def last_tile(a, out):
    """The last block does not fill its tile, but adds all of it."""
    tile = cuda.shared.array(64, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = 0  # defect: removed
    if i < a.size:
        tile[t] = a[i]
    cuda.syncthreads()
    if t == 0:
        total = np.float32(0)
        for k in range(64):
            total += tile[k]  # finding
        out[cuda.blockIdx.x] = total


@seeded("uninitialized", 2, 64, lambda: (noise(128, limit=16), zeros(16, dtype=np.int32)))
def bins_not_zeroed(a, out):
    """Bins in shared memory that start with arbitrary counts."""
    bins = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        bins[t] = 0  # defect: pass
    cuda.syncthreads()
    cuda.atomic.add(bins, a[cuda.grid(1)], 1)  # finding
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(out, t, bins[t])


@seeded("uninitialized", 1, 32, lambda: (ramp(32, 6), zeros(32)))
def sums_in_a_local_array(a, out):
    """A local array of sums that does not start at 0."""
    t = cuda.threadIdx.x
    sums = cuda.local.array(3, float32)
    for k in range(3):
        sums[k] = 0  # defect: pass
    for j in range(6):
        sums[j % 3] += a[t, j]  # finding
    out[t] = sums[0] * sums[1] + sums[2]


@seeded("uninitialized", 1, 32, lambda: (ramp(32), zeros(32)))
def window_of_a_median(a, out):
    """A window of which the last number is not loaded."""
    t = cuda.threadIdx.x
    window = cuda.local.array(5, float32)
    for k in range(5):  # defect: for k in range(4):
        window[k] = a[(t + k) % 32]
    for i in range(5):
        for j in range(4 - i):
            if window[j] > window[j + 1]:  # finding
                window[j], window[j + 1] = window[j + 1], window[j]
    out[t] = window[2]


@seeded("uninitialized", 2, 32, lambda: (noise(64), zeros(64, dtype=np.int32)))
def variable_of_one_branch(a, out):
    """A case that no branch covers."""
    i = cuda.grid(1)
    if a[i] > 50:
        grade = 2
    elif a[i] > 25:
        grade = 1
    elif a[i] >= 0:  # defect: elif a[i] < 0:
        grade = 0
    out[i] = grade  # finding


@seeded("uninitialized", 1, 32, lambda: (np.arange(33) // 2, ramp(16), zeros(32)))
def variable_of_a_loop(starts, values, out):
    """The last value of a row that may be empty."""
    row = cuda.threadIdx.x
    last = np.float32(0)  # defect: removed
    for k in range(starts[row], starts[row + 1]):
        last = values[k]
    out[row] = last  # finding


@seeded("uninitialized", 2, 64, lambda: (noise(128), zeros(2, dtype=np.int32)))
def result_of_a_search(a, out):
    """A result that only a thread writes which has found something."""
    found = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        found[0] = -1  # defect: pass
    cuda.syncthreads()
    if a[cuda.grid(1)] == 1000:
        found[0] = t
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = found[0]  # finding


@seeded("uninitialized", 2, 64, lambda: (ramp(128), zeros(128)))
def halo_at_the_edge(a, out):
    """The halo of the first block, which has no left neighbour."""
    tile = cuda.shared.array(66, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t + 1] = a[i]
    if t == 0:
        if i > 0:
            tile[0] = a[i - 1]
        else:
            tile[0] = 0  # defect: pass
    if t == 63:
        tile[65] = a[i + 1] if i + 1 < a.size else np.float32(0)
    cuda.syncthreads()
    out[i] = tile[t] + tile[t + 2]  # finding


@seeded("uninitialized", 2, 32, lambda: (ramp(64), zeros(64)), shared=32 * 12)
def two_dynamic_arrays(a, out):
    """Two arrays in dynamic shared memory, of which the second one is not filled."""
    both = cuda.shared.array(0, float32)
    low, high = both[:32], both[32:96]
    i, t = cuda.grid(1), cuda.threadIdx.x
    low[t] = a[i]
    high[t] = -a[i]
    high[t + 32] = a[i] * 2  # defect: high[t] = a[i] * 2
    cuda.syncthreads()
    out[i] = low[31 - t] + high[63 - t]  # finding


@seeded("uninitialized", (1, 1), (16, 16), lambda: (ramp(16, 12), zeros(12, 16)))
def tile_of_a_narrow_matrix(a, out):
    """The tile of a matrix that is narrower: the same threads must read and write."""
    tile = cuda.shared.array((16, 17), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = a.shape
    if y < rows and x < columns:
        tile[y, x] = a[y, x]
    cuda.syncthreads()
    if y < columns and x < rows:
        out[y, x] = tile[x, y]  # finding, defect: out[y, x] = tile[y, x]


@device
def shifted(x, t):
    """Return the value of the next thread, and 0 to the last one."""
    values = cuda.shared.array(65, float64)
    values[t] = x
    if t == 0:
        values[64] = 0  # defect: pass
    cuda.syncthreads()
    return values[t + 1]  # finding


@seeded("uninitialized", 1, 64, lambda: (ramp(64, dtype=np.float64), zeros(64, dtype=np.float64)))
def array_of_a_device_function(a, out):
    """The end of a shared array that a device function allocates."""
    t = cuda.threadIdx.x
    out[t] = a[t] - shifted(a[t], t)


@seeded("uninitialized", 1, 64, lambda: (ramp(256), zeros(256)))
def pipeline(a, out):
    """A pipeline of two buffers that is not filled before the loop."""
    buffers = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    buffers[0, t] = a[t]  # defect: removed
    for k in range(4):
        if k < 3:
            buffers[(k + 1) % 2, t] = a[64 * (k + 1) + t]
        cuda.syncthreads()
        out[64 * k + t] = buffers[k % 2, 63 - t]  # finding
        cuda.syncthreads()


@seeded("uninitialized", 1, 64, lambda: (noise(64, limit=16), zeros(16, dtype=np.int32)))
def bins_set_by_an_exchange(a, out):
    """Bins that an atomic exchange sets."""
    bins = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        cuda.atomic.exch(bins, t, 0)  # defect: pass
    cuda.syncthreads()
    cuda.atomic.add(bins, a[t], 1)  # finding
    cuda.syncthreads()
    if t < 16:
        out[t] = bins[t]


@seeded("uninitialized", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def variables_of_endless_loops(a, out):
    """A loop assigns a variable at least once, whatever its condition."""
    i = cuda.grid(1)
    k = 0
    while True:
        x = a[(i + k) % 32]
        k += 1
        if x > 60 or k == 32:
            break
    for j in range(3):
        y = x * j
    has_value = x % 2 == 1
    if has_value:
        z = y + 1
    out[i] = x + (z if has_value else y)  # finding, defect: out[i] = x + z


@seeded("uninitialized", 1, 32, lambda: (noise(32, limit=20), zeros(32, dtype=np.int32)))
def stack_in_a_local_array(a, out):
    """A stack is read up to its depth, not beyond."""
    t = cuda.threadIdx.x
    stack = cuda.local.array(8, int32)
    depth = 0
    for k in range(5):
        if a[(t + k) % 32] > 8:
            stack[depth] = a[(t + k) % 32]
            depth += 1
    total = 0
    while depth > 0:
        depth -= 1
        total = total * 3 + stack[depth]  # finding, defect: total = total * 3 + stack[depth + 1]
    out[t] = total


@seeded("uninitialized", 1, 64, lambda: (ramp(64), zeros(64)))
def slice_that_is_filled(a, out):
    """A slice assignment fills a row of a shared array."""
    rows = cuda.shared.array((64, 4), float32)
    t = cuda.threadIdx.x
    rows[t, :3] = a[t]
    rows[t, 3] = 1  # defect: rows[t, 2] = 1
    cuda.syncthreads()
    out[t] = rows[63 - t, 0] + rows[63 - t, 3]  # finding
