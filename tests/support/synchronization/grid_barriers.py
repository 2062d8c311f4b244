"""Barriers of the whole grid."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, int32
from support.synchronization.program import ints, program, shuffled, zeros


@program(4, 32, ints(128), zeros(128), 5)
def stencil_with_a_grid_barrier(a, b, rounds):
    i, n = cuda.grid(1), len(a)
    grid = cuda.cg.this_grid()
    for _ in range(rounds):
        b[i] = a[i - 1] + a[(i + 1) % n] - a[i]
        grid.sync()
        a[i] = b[i] % 100
        grid.sync()


@stencil_with_a_grid_barrier.gives
def _(a, b, rounds):
    for _ in range(rounds):
        b[:] = np.roll(a, 1) + np.roll(a, -1) - a
        a[:] = b % 100


@program(5, 40, ints(1000), zeros(5), zeros(1), zeros(200))
def reduction_in_two_steps(a, parts, total, out):
    tile = cuda.shared.array(40, int32)
    i, t, b = cuda.grid(1), cuda.threadIdx.x, cuda.blockIdx.x
    own = 0
    for k in range(i, len(a), cuda.gridsize(1)):
        own += a[k]
    tile[t] = own
    cuda.syncthreads()
    if t == 0:
        for value in tile:
            parts[b] += value
    cuda.cg.this_grid().sync()
    if i == 0:
        for value in parts:
            total[0] += value
    cuda.cg.this_grid().sync()
    out[i] = total[0] + own


@reduction_in_two_steps.gives
def _(a, parts, total, out):
    parts[:] = a.reshape(5, 5, 40).sum(axis=(0, 2))
    total[0] = a.sum()
    out[:] = total[0] + a.reshape(5, 200).sum(axis=0)


@device
def met_everywhere():
    cuda.cg.this_grid().sync()


@program(3, 16, shuffled(48), zeros(1))
def sorted_by_the_whole_grid(a, moved):
    """Odd-even, until a round moves nothing; the barrier is in a function."""
    i, n, go_on = cuda.grid(1), len(a), True
    while go_on:
        if i == 0:
            moved[0] = 0
        met_everywhere()
        for odd in (0, 1):
            j = 2 * i + odd
            if j + 1 < n and a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                moved[0] = 1
            met_everywhere()
        go_on = moved[0] != 0
        met_everywhere()


@sorted_by_the_whole_grid.gives
def _(a, moved):
    a[:] = np.sort(a)


@program(3, 24, ints(72), zeros(72))
def grid_and_block_barriers(a, out):
    tile = cuda.shared.array(24, int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = a[i]
    cuda.syncthreads()
    out[i] = tile[23 - t]
    if cuda.blockIdx.x == 1:
        cuda.syncthreads()
        tile[t] = 5
    cuda.cg.this_grid().sync()
    x = out[(i + 24) % 72]
    cuda.cg.this_grid().sync()
    out[i] = x + tile[t]


@grid_and_block_barriers.gives
def _(a, out):
    turned = a.reshape(3, 24)[:, ::-1]
    kept = np.where(np.arange(3)[:, None] == 1, 5, a.reshape(3, 24))
    out[:] = (np.roll(turned, -1, axis=0) + kept).ravel()
