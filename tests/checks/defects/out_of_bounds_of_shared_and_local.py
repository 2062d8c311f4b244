"""Accesses out of bounds of shared, local and constant arrays."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, float32, int32
from support.defects import noise, ramp, seeded, zeros

WEIGHTS = np.array([1, 4, 6, 4, 1], np.float32)
NEIGHBOURS = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]], np.int32)


@seeded("out-of-bounds", 2, 64, lambda: (ramp(130), zeros(128)))
def tile_without_halo(a, out):
    """A tile that has no elements for the halo."""
    tile = cuda.shared.array(66, float32)  # defect: tile = cuda.shared.array(64, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = a[i]
    if t < 2:
        tile[t + 64] = a[i + 64]  # finding
    cuda.syncthreads()
    out[i] = tile[t] + tile[t + 1] + tile[t + 2]


@seeded("out-of-bounds", 1, 256, lambda: (noise(256), zeros(1, dtype=np.int32)))
def too_few_warps(a, out):
    """An array for the sums of 4 warps, in a block of 8."""
    sums = cuda.shared.array(8, int32)  # defect: sums = cuda.shared.array(4, int32)
    t = cuda.threadIdx.x
    x = a[t]
    for step in (16, 8, 4, 2, 1):
        x += cuda.shfl_down_sync(0xFFFFFFFF, x, step)
    if cuda.laneid == 0:
        sums[t // 32] = x  # finding
    cuda.syncthreads()
    if t == 0:
        out[0] = sums[0] + sums[1] + sums[2] + sums[3]


@seeded("out-of-bounds", 1, (16, 4), lambda: (ramp(4, 16), zeros(16, 4)))
def axes_of_a_tile(a, out):
    """The axes of a tile that is not square."""
    tile = cuda.shared.array((4, 16), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]  # finding, defect: tile[x, y] = a[y, x]
    cuda.syncthreads()
    out[x, y] = tile[y, x]


@seeded("out-of-bounds", 1, 64, lambda: (noise(64, limit=40), zeros(32, dtype=np.int32)))
def bins_in_shared_memory(values, counts):
    """A value that has no bin."""
    bins = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    if t < 32:
        bins[t] = 0
    cuda.syncthreads()
    if values[t] < 32:  # defect: if values[t] < 64:
        cuda.atomic.add(bins, values[t], 1)  # finding
    cuda.syncthreads()
    if t < 32:
        counts[t] = bins[t]


@seeded("out-of-bounds", 1, 32, lambda: (ramp(63, dtype=np.int32), zeros(32, dtype=np.int32)))
def stack_of_a_traversal(tree, out):
    """The stack of a traversal of a binary tree with 6 levels."""
    stack = cuda.local.array(7, int32)  # defect: stack = cuda.local.array(5, int32)
    t = cuda.threadIdx.x
    stack[0] = 0
    depth, total = 1, 0
    for _ in range(63):
        depth -= 1
        node = stack[depth]
        if tree[node] % 32 >= t:
            total += 1
        if 2 * node + 2 < 63:
            stack[depth] = 2 * node + 2
            stack[depth + 1] = 2 * node + 1  # finding
            depth += 2
    out[t] = total


@seeded("out-of-bounds", 1, 32, lambda: (ramp(36), zeros(32)))
def weights_of_a_filter(a, out):
    """The radius of a filter that has more taps than weights."""
    t = cuda.threadIdx.x
    total = np.float32(0)
    for k in range(5):  # defect: for k in range(6):
        total += WEIGHTS[k] * a[min(t + k, 35)]  # finding
    out[t] = total


@seeded("out-of-bounds", 1, (8, 8), lambda: (noise(8, 8, limit=5), zeros(8, 8, dtype=np.int32)))
def direction_of_a_walk(directions, out):
    """A direction that the constant table does not have."""
    x, y = cuda.grid(2)
    d = directions[y, x]
    if d < 4:  # defect: if d < 5:
        out[(y + NEIGHBOURS[d, 1]) % 8, (x + NEIGHBOURS[d, 0]) % 8] = 1  # finding


@seeded("out-of-bounds", 1, (4, 8, 2), lambda: (zeros(2, 8, 4), ramp(2, 8, 4)))
def layer_of_a_tile(out, a):
    """The layer above the last one."""
    tile = cuda.shared.array((2, 8, 4), float32)
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    tile[z, y, x] = a[z, y, x]
    cuda.syncthreads()
    out[z, y, x] = tile[1 - z, y, x]  # finding, defect: out[z, y, x] = tile[z + 1, y, x]


@seeded("out-of-bounds", 1, 32, lambda: (ramp(64), zeros(32)))
def ring_buffer(a, out):
    """An index from the end that is one element before the start."""
    ring = cuda.local.array(4, float32)
    t = cuda.threadIdx.x
    for k in range(4):
        ring[k] = 0
    total = np.float32(0)
    for k in range(8):
        ring[k % 4] = a[t + k]
        total += ring[k % 4 - 4]  # finding, defect: total += ring[k % 4 - 5]
    out[t] = total


@seeded("out-of-bounds", 1, 32, lambda: (ramp(32), zeros(32)), shared=256)
def dynamic_memory_too_small(a, out):
    """Dynamic shared memory for 64 elements."""
    both = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    both[t] = a[t]
    both[t + 32] = -a[t]  # finding, defect: both[t + 36] = -a[t]
    cuda.syncthreads()
    out[t] = both[31 - t]


@seeded("out-of-bounds", 2, 32, lambda: (ramp(64, 3), zeros(64)))
def local_matrix(points, out):
    """A row of a local matrix that does not exist."""
    i = cuda.grid(1)
    m = cuda.local.array((3, 3), float32)
    for r in range(3):
        for c in range(3):
            m[r, c] = points[i, r] * points[i, c]
    trace = np.float32(0)
    for r in range(3):
        trace += m[r, (r + 1) % 3]  # finding, defect: trace += m[r, r + 1]
    out[i] = trace
