"""Races on shared memory between the warps of a block."""

from __future__ import annotations

import numpy as np

from pycu2c import bool_, complex64, cuda, device, float16, float32, int32
from support.defects import noise, ramp, seeded, zeros


@seeded("race", 2, 64, lambda: (ramp(128), zeros(128)))
def reversed_blocks(a, out):
    """No barrier between the write of a tile and its use."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]  # other
    cuda.syncthreads()  # defect: removed
    out[cuda.grid(1)] = tile[63 - t]  # finding


@seeded("race", 2, 128, lambda: (ramp(256), zeros(2)))
def tree_reduction(a, out):
    """No barrier between the levels of a reduction."""
    partial = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    partial[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            partial[t] += partial[t + half]  # finding, other
        cuda.syncthreads()  # defect: removed
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = partial[0]


@seeded("race", 2, 128, lambda: (noise(256), zeros(256, dtype=np.int32)))
def scan_in_place(a, out):
    """No barrier between the reads and the writes of a step of a scan."""
    sums = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    sums[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < 128:
        left = sums[t - step] if t >= step else np.int32(0)  # other
        cuda.syncthreads()  # defect: removed
        sums[t] += left  # finding
        cuda.syncthreads()
        step *= 2
    out[cuda.grid(1)] = sums[t]


@seeded("race", (2, 2), (8, 8), lambda: (ramp(16, 16), ramp(16, 16), zeros(16, 16)))
def product_in_tiles(a, b, c):
    """No barrier after the use of a tile, before the next one is loaded."""
    left = cuda.shared.array((8, 8), float32)
    right = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    total = np.float32(0)
    for first in range(0, a.shape[1], 8):
        left[ty, tx] = a[y, first + tx]  # finding
        right[ty, tx] = b[first + ty, x]  # finding
        cuda.syncthreads()
        for k in range(8):
            total += left[ty, k] * right[k, tx]  # other
        cuda.syncthreads()  # defect: removed
    c[y, x] = total


@seeded("race", 1, 64, lambda: (ramp(320), zeros(320)))
def double_buffer(a, out):
    """One barrier in an iteration suffices for two buffers, but not for one."""
    buffers = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    for k in range(5):
        buffer = k % 2  # defect: buffer = 0
        buffers[buffer, t] = a[64 * k + t]  # finding
        cuda.syncthreads()
        out[64 * k + t] = buffers[buffer, t] - buffers[buffer, t ^ 32]  # other


@seeded("race", 3, 96, lambda: (ramp(3), zeros(288)))
def broadcast(scales, out):
    """No barrier before the other threads read what thread 0 writes."""
    scale = cuda.shared.array(1, float32)
    if cuda.threadIdx.x == 0:
        scale[0] = scales[cuda.blockIdx.x] + 1  # other
    cuda.syncthreads()  # defect: removed
    out[cuda.grid(1)] = scale[0] * 2  # finding


@seeded("race", 1, 64, lambda: (ramp(4, dtype=np.int32), zeros(64, dtype=np.int32)))
def broadcast_in_a_loop(a, out):
    """No barrier before thread 0 overwrites what the other threads read."""
    current = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    total = 0
    for k in range(len(a)):
        if t == 0:
            current[0] = a[k]  # finding
        cuda.syncthreads()
        total = total * 3 + current[0]  # other
        cuda.syncthreads()  # defect: removed
    out[t] = total


@seeded("race", (2, 2), (32, 8), lambda: (ramp(64, 64), zeros(64, 64)))
def transposed_tiles(a, out):
    """No barrier in the transposition of a padded tile, of which a thread moves 4 elements."""
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    bx, by = cuda.blockIdx.x, cuda.blockIdx.y
    for k in range(0, 32, 8):
        tile[ty + k, tx] = a[32 * by + ty + k, 32 * bx + tx]  # other
    cuda.syncthreads()  # defect: removed
    for k in range(0, 32, 8):
        out[32 * bx + ty + k, 32 * by + tx] = tile[tx, ty + k]  # finding


@device
def warp_sum(x):
    for step in (16, 8, 4, 2, 1):
        x += cuda.shfl_down_sync(0xFFFFFFFF, x, step)
    return x


@seeded("race", 2, 256, lambda: (noise(512), zeros(2, dtype=np.int32)))
def sum_of_warps(a, out):
    """No barrier before the first warp adds the sums of all warps."""
    sums = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    x = warp_sum(a[cuda.grid(1)])
    if t % 32 == 0:
        sums[t // 32] = x  # other
    cuda.syncthreads()  # defect: removed
    if t < 32:
        y = sums[t] if t < cuda.blockDim.x // 32 else np.int32(0)  # finding
        y = warp_sum(y)
        if t == 0:
            out[cuda.blockIdx.x] = y


@seeded("race", 1, 128, lambda: (noise(128, limit=1000),))
def bitonic_sort(a):
    """No barrier between the steps of a sorting network."""
    s = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    size = 2
    while size <= 128:
        step = size // 2
        while step > 0:
            partner = t ^ step
            if partner > t:
                if (s[t] > s[partner]) == (t & size == 0):  # finding, other
                    s[t], s[partner] = s[partner], s[t]  # finding, other
            cuda.syncthreads()  # defect: removed
            step //= 2
        size *= 2
    a[t] = s[t]


@device
def block_total(values, t):
    """Return the sum of 64 values to all threads."""
    for half in (32, 16, 8, 4, 2, 1):
        if t < half:
            values[t] += values[t + half]
        cuda.syncthreads()
    return values[0]  # other


@seeded("race", 2, 64, lambda: (ramp(128), ramp(128), zeros(2, 2)))
def reused_array(a, b, out):
    """No barrier between a call that reads an array, and the next use of the array."""
    values = cuda.shared.array(64, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    values[t] = a[i]
    cuda.syncthreads()
    first = block_total(values, t)
    cuda.syncthreads()  # defect: removed
    values[t] = b[i]  # finding
    cuda.syncthreads()
    second = block_total(values, t)
    if t == 0:
        out[cuda.blockIdx.x, 0] = first
        out[cuda.blockIdx.x, 1] = second


@device
def total_of_own(x, t):
    values = cuda.shared.array(64, float32)
    values[t] = x  # finding
    cuda.syncthreads()
    for half in (32, 16, 8, 4, 2, 1):
        if t < half:
            values[t] += values[t + half]
        cuda.syncthreads()
    return values[0]  # other


@seeded("race", 2, 64, lambda: (ramp(128), ramp(128), zeros(128)))
def reused_array_of_a_function(a, b, out):
    """No barrier between two calls that use the shared array of a function."""
    i, t = cuda.grid(1), cuda.threadIdx.x
    first = total_of_own(a[i], t)
    cuda.syncthreads()  # defect: removed
    out[i] = first + total_of_own(b[i], t)


@seeded("race", 2, 64, lambda: (ramp(140), zeros(128)))
def window_with_halo(a, out):
    """A barrier that does not cover the halo, which few threads load."""
    tile = cuda.shared.array(64 + 12, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    block = cuda.cg.this_thread_block()
    tile[t] = a[i]
    block.sync()  # defect: removed
    if t < 12:
        tile[t + 64] = a[i + 64]  # other
    block.sync()  # defect: removed
    total = np.float32(0)
    for k in range(13):
        total += tile[t + k]  # finding
    out[i] = total


@seeded("race", 1, (4, 4, 8), lambda: (ramp(8, 4, 4), zeros(8, 4, 4)))
def layers_of_a_volume(a, out):
    """No barrier between layers of a block with three axes; threads without work have returned."""
    layer = cuda.shared.array((8, 4, 4), float32)
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    if y == 3:
        return
    layer[z, y, x] = a[z, y, x]  # other
    cuda.syncthreads()  # defect: removed
    out[z, y, x] = layer[7 - z, y, x]  # finding


@seeded("race", 2, 64, lambda: (noise(128), zeros(2, dtype=np.int32)))
def flag_of_equal_values(a, out):
    """Several threads write the same value, which is no race, or different values."""
    found = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        found[0] = 0
    cuda.syncthreads()
    if a[cuda.grid(1)] > 50:
        found[0] = 1  # finding, other, defect: found[0] = t + 1
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = found[0]


@seeded("race", 1, 64, lambda: (ramp(64), zeros(64)))
def column_of_a_thread(a, out):
    """A part of shared memory that each thread has for itself needs no barrier."""
    own = cuda.shared.array((4, 64), float32)
    t = cuda.threadIdx.x
    for k in range(4):
        own[k, t] = a[(t + k) % 64]  # other
    total = np.float32(0)
    for k in range(4):
        column = t  # defect: column = t ^ 32
        total += own[k, t] * own[3 - k, column]  # finding
    own[0, t] = total
    out[t] = own[0, t]


@seeded("race", 1, 64, lambda: (ramp(128).view(np.complex64), zeros(64, dtype=np.complex64)))
def complex_tile(a, out):
    """No barrier in a step of a Fourier transform."""
    tile = cuda.shared.array(64, complex64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    even, odd = tile[t & ~32], tile[t | 32]  # other
    cuda.syncthreads()  # defect: removed
    tile[t] = even + odd if t < 32 else even - odd  # finding
    cuda.syncthreads()
    out[t] = tile[63 - t]


@seeded("race", 1, 128, lambda: (zeros(128, dtype=np.bool_),))
def sieve(out):
    """A sieve of Eratosthenes in a shared array of bools."""
    is_composite = cuda.shared.array(128, bool_)
    t = cuda.threadIdx.x
    is_composite[t] = False  # other
    cuda.syncthreads()  # defect: removed
    if t >= 2:
        for k in range(2 * t, 128, t):
            is_composite[k] = True  # finding
    cuda.syncthreads()
    out[t] = t > 1 and not is_composite[t]


@seeded(
    "race",
    2,
    64,
    lambda: (ramp(128, dtype=np.float16), zeros(128, dtype=np.float16)),
    shared=384,
)
def halves_in_dynamic_memory(a, out):
    """Two arrays of different types in dynamic shared memory, and no barrier."""
    t, i = cuda.threadIdx.x, cuda.grid(1)
    values = cuda.shared.array(0, float16)[:64]
    order = cuda.shared.array(0, int32)[32:]
    values[t] = a[i]  # other
    order[t] = 63 - t
    cuda.syncthreads()  # defect: removed
    out[i] = values[order[t]]  # finding


@seeded("race", 1, 64, lambda: (ramp(256).view(cuda.float4.numpy), zeros(64)))
def tile_of_vectors(a, out):
    """A tile of float4, and no barrier."""
    tile = cuda.shared.array(64, cuda.float4)
    t = cuda.threadIdx.x
    tile[t] = a[t]  # other
    cuda.syncthreads()  # defect: removed
    v = tile[63 - t]  # finding
    out[t] = v.x + v.y * v.z - v.w


POINT = np.dtype([("x", np.float32), ("n", np.int32)])


@seeded("race", 1, 64, lambda: (ramp(64), zeros(64)))
def tile_of_records(a, out):
    """A tile of records, and no barrier."""
    tile = cuda.shared.array(64, POINT)
    t = cuda.threadIdx.x
    tile[t].x = a[t]  # other
    tile[t].n = t
    cuda.syncthreads()  # defect: removed
    out[t] = tile[63 - t].x + tile[t].n  # finding
