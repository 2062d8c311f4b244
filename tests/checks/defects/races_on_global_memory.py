"""Races on arrays of the launch, between blocks and within a block."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, int32
from support.defects import noise, ramp, seeded, zeros


@seeded("race", 4, 32, lambda: (ramp(128), zeros(128)))
def smoothing_in_place(a, out):
    """A stencil whose result overwrites its operand."""
    i = cuda.grid(1)
    if 0 < i < 127:
        out[i] = a[i - 1] + a[i + 1]  # finding, other, defect: a[i] = a[i - 1] + a[i + 1]


@seeded("race", 4, 16, lambda: (ramp(64), zeros(64)))
def overlapping_blocks(a, out):
    """Blocks that overlap by one element."""
    b = cuda.blockIdx.x
    i = cuda.threadIdx.x + 16 * b  # defect: i = cuda.threadIdx.x + 15 * b
    out[i] = a[i] * (1 + b)  # finding, other


@seeded("race", 4, 32, lambda: (noise(128), zeros(1, dtype=np.int32)))
def sum_without_atomics(a, total):
    """A sum of all threads in one element."""
    x = a[cuda.grid(1)]
    cuda.atomic.add(total, 0, x)  # finding, other, defect: total[0] += x


@seeded("race", 3, 64, lambda: (ramp(192), zeros(192), zeros(192)))
def scratch_of_a_block(a, scratch, out):
    """Scratch memory that blocks do not have for themselves."""
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * 64  # defect: first = 0
    scratch[first + t] = a[cuda.grid(1)]  # finding, other
    cuda.syncthreads()
    out[cuda.grid(1)] = scratch[first + 63 - t]  # other


@seeded("race", 2, 64, lambda: (ramp(128), zeros(128), zeros(128)))
def exchange_in_a_block(a, exchanged, out):
    """No barrier before a thread reads what another thread of the block wrote."""
    i = cuda.grid(1)
    exchanged[i] = a[i] * 2  # other
    cuda.syncthreads()  # defect: removed
    out[i] = exchanged[i ^ 32]  # finding


@seeded("race", 2, 64, lambda: (noise(128, limit=1000), zeros(1, dtype=np.int32)))
def maximum(a, best):
    """A maximum by a comparison and a store."""
    x = a[cuda.grid(1)]
    cuda.atomic.max(best, 0, x)  # finding, other, defect: best[0] = x if x > best[0] else best[0]


@seeded(
    "race",
    2,
    32,
    lambda: (np.random.default_rng(2).permutation(64).astype(np.int32), zeros(64, dtype=np.int32)),
)
def inverse_permutation(order, out):
    """Indices that are not unique."""
    i = cuda.grid(1)
    position = order[i]  # defect: position = order[i] // 2
    out[position] = i  # finding, other


@seeded(
    "race",
    4,
    64,
    lambda: (noise(256), zeros(4, dtype=np.int32), zeros(1, dtype=np.uint32), zeros(1)),
)
def last_block(a, partial, done, out):
    """The last block adds the sums of all blocks, without a fence before it is counted."""
    is_last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    total = a[cuda.grid(1)]
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
    if t == 0:
        partial[cuda.blockIdx.x] = total  # other
        cuda.threadfence()  # defect: removed
        is_last[0] = cuda.atomic.inc(done, 0, 3) == 3
    cuda.syncthreads()
    if is_last[0] and t == 0:
        everything = np.int32(0)
        for k in range(4):
            everything += partial[k]  # finding
        out[0] = everything


@seeded("race", 2, 32, lambda: (ramp(64), zeros(64)))
def wave_with_grid_barriers(a, b):
    """No barrier of the grid between the steps of a simulation."""
    i, grid = cuda.grid(1), cuda.cg.this_grid()
    for _ in range(3):
        b[i] = (a[i - 1] + a[(i + 1) % len(a)]) / 2  # other
        grid.sync()  # defect: removed
        a[i] = b[i]  # finding
        grid.sync()  # defect: removed


@seeded("race", 2, 32, lambda: (ramp(64), zeros(64)))
def second_grid_barrier(a, b):
    """One of two barriers of the grid is missing."""
    i, grid = cuda.grid(1), cuda.cg.this_grid()
    for _ in range(3):
        b[i] = a[i - 1] + 1  # other
        grid.sync()  # defect: removed
        a[i] = b[i]  # finding
        grid.sync()


@device
def neighbours(starts, node):
    return starts[node], starts[node + 1]


@seeded(
    "race",
    2,
    4,
    lambda: (
        np.array([0, 2, 4, 6, 8, 10, 12, 14, 16]),
        np.array([1, 7, 2, 0, 3, 1, 4, 2, 5, 3, 6, 4, 7, 5, 0, 6]),
        np.array([1, 0, 0, 0, 1, 0, 0, 0], np.int32),
        zeros(8, dtype=np.int32),
    ),
)
def frontier(starts, targets, reached, reached_next):
    """A step of a breadth-first search that reads the nodes which the same step reaches."""
    node = cuda.grid(1)
    first, last = neighbours(starts, node)
    if reached[node]:  # other
        for k in range(first, last):
            reached_next[targets[k]] = 1  # finding, defect: reached[targets[k]] = 1


@seeded("race", 1, 64, lambda: (noise(64, limit=50), zeros(64, dtype=np.int32)))
def forces_of_pairs(position, force):
    """Each pair adds its force to both particles."""
    i = cuda.threadIdx.x
    for j in range(i):
        d = position[i] - position[j]
        cuda.atomic.add(force, i, d)  # finding, other, defect: force[i] += d
        cuda.atomic.sub(force, j, d)  # finding, other, defect: force[j] -= d


@seeded("race", (2, 2), (8, 8), lambda: (ramp(16, 16, dtype=np.int64), zeros(16, dtype=np.int64)))
def sums_of_columns(a, out):
    """One thread for each element adds to the sum of its column."""
    x, y = cuda.grid(2)
    cuda.atomic.add(out, x, a[y, x])  # finding, other, defect: out[x] += a[y, x]


def overlapping():
    memory = ramp(192)
    return memory[:128], memory[64:]


@seeded("race", 2, 32, overlapping)
def overlapping_arguments(a, out):
    """Two arguments have a part of their memory in common."""
    i = cuda.grid(1)
    out[i] = a[i] * 2  # finding, other, defect: out[i] = a[i + 1] * 2


@seeded("race", 2, 32, lambda: (np.zeros(64, [("x", np.float32), ("v", np.float32)]), zeros(64)))
def particles_in_a_chain(points, out):
    """Each particle moves by the position of the next one."""
    i = cuda.grid(1)
    points[i].v = i  # other
    j = (i + 1) % 64
    out[i] = points[i].v + points[j].x  # finding, defect: out[i] = points[j].v + points[j].x


@seeded("race", 2, 64, lambda: (ramp(128, dtype=np.int64), zeros(2, 64, dtype=np.int64)))
def rows_of_blocks(a, rows):
    """Each block has a row, which a device function shifts."""
    row, t = rows[cuda.blockIdx.x], cuda.threadIdx.x
    row[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    shift(row, t)
    cuda.syncthreads()
    row[t] += 1


@device
def shift(row, t):
    x = row[(t + 1) % 64]  # other
    cuda.syncthreads()  # defect: removed
    row[t] = x  # finding
