"""Clusters: blocks that synchronize and access each other's shared memory."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, float32, float64, int32
from support.synchronization.program import ints, program, zeros

PAIR = np.dtype([("x", np.int32), ("y", np.float64)])


@program((4, 3, 4), (3, 2, 2), zeros(48, 16), zeros(4, 48, 12), cluster=(2, 1, 4))
def places_in_a_cluster(blocks, threads):
    cluster = cuda.cg.this_cluster()
    x, y, z = cluster.block_index()
    sizes = cluster.dim_blocks()
    where = cuda.blockIdx.x + 4 * (cuda.blockIdx.y + 3 * cuda.blockIdx.z)
    result = (
        *(x, y, z, cluster.block_index().z),
        *(sizes.x, sizes[1], sizes.z, len(sizes)),
        *(cluster.block_rank(), cluster.num_blocks(), cluster.num_threads()),
    )
    for i, number in enumerate((*result, *cluster.dim_threads())):
        blocks[where, i] = number
    own = cuda.threadIdx.x + 3 * (cuda.threadIdx.y + 2 * cuda.threadIdx.z)
    for i, number in enumerate((cluster.thread_rank(), *cluster.thread_index())):
        threads[i, where, own] = number


@places_in_a_cluster.gives
def _(blocks, threads):
    where = np.arange(48)
    x, z = where % 4 % 2, where // 12 % 4
    rank = x + 2 * z
    columns = (x, 0, z, z, 2, 1, 4, 3, rank, 8, 96, 6, 2, 8)
    for i, column in enumerate(columns):
        blocks[:, i] = column
    own = np.arange(12)
    threads[0] = 12 * rank[:, None] + own
    threads[1] = 3 * x[:, None] + own % 3
    threads[2] = own // 3 % 2
    threads[3] = 2 * z[:, None] + own // 6


@program(8, 32, ints(256), zeros(256), cluster=4)
def sum_of_a_cluster(a, out):
    tile = cuda.shared.array(32, int32)
    cluster = cuda.cg.this_cluster()
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = a[i]
    cluster.sync()
    total = 0
    for rank in range(cluster.num_blocks()):
        for value in cluster.map_shared_rank(tile, rank):
            total += value
    cluster.sync()
    out[i] = total


sum_of_a_cluster.also(4, 32, ints(128), zeros(128))


@sum_of_a_cluster.gives
def _(a, out):
    out[:] = a.reshape(-1, 128).sum(axis=1).repeat(128)


@program(6, 40, ints(2000, low=0, high=64), zeros(64), cluster=2)
def histogram_over_a_cluster(a, counts):
    """Each block has half of the bins."""
    bins = cuda.shared.array(32, int32)
    cluster = cuda.cg.this_cluster()
    t = cuda.threadIdx.x
    if t < 32:
        bins[t] = 0
    cluster.sync()
    for i in range(cuda.grid(1), len(a), cuda.gridsize(1)):
        theirs = cluster.map_shared_rank(bins, a[i] // 32)
        cuda.atomic.add(theirs, a[i] % 32, 1)
    cluster.sync()
    if t < 32:
        cuda.atomic.add(counts, 32 * cluster.block_rank() + t, bins[t])


@histogram_over_a_cluster.gives
def _(a, counts):
    counts[:] = np.bincount(a, minlength=64)


@program(12, 32, ints(384), zeros(384), 5, cluster=6)
def ring(a, out, rounds):
    """Each block gives what it has to the next one."""
    tile = cuda.shared.array((2, 32), int32)
    cluster = cuda.cg.this_cluster()
    i, t = cuda.grid(1), cuda.threadIdx.x
    following = (cluster.block_rank() + 1) % cluster.num_blocks()
    tile[0, t] = a[i]
    cluster.sync()
    for k in range(rounds):
        now, then = k % 2, 1 - k % 2
        cluster.map_shared_rank(tile, following)[then, t] = tile[now, t] + 1
        cluster.sync()
    out[i] = tile[rounds % 2, t]


@ring.gives
def _(a, out, rounds):
    out[:] = np.roll(a.reshape(2, 6, 32), rounds, axis=1).ravel() + rounds


@device
def sum_of(values, value):
    for v in values:
        value += v
    return value


@device
def from_rank(cluster, array, rank):
    return cluster.map_shared_rank(array, rank)[cuda.threadIdx.x, 1]


@device
def summed_over_cluster(value):
    own = cuda.shared.array(1, int32)
    cluster = cuda.cg.this_cluster()
    if cuda.threadIdx.x == 0:
        own[0] = 0
    cluster.sync()
    cuda.atomic.add(cluster.map_shared_rank(own, 0), 0, value)
    cluster.sync()
    total = cluster.map_shared_rank(own, 0)[0]
    cluster.sync()
    return total


@program(4, (8,), ints(32), zeros(32, 4), cluster=(2,))
def functions_in_clusters(a, out):
    tile = cuda.shared.array((8, 3), int32)
    cluster = cuda.cg.this_cluster()
    i, t = cuda.grid(1), cuda.threadIdx.x
    for k in range(3):
        tile[t, k] = a[i] + k
    cluster.sync()
    other = 1 - cluster.block_rank()
    theirs = cluster.map_shared_rank(tile, other)
    out[i, 0] = sum_of(theirs[t], 0) + sum_of(theirs[::-1, 2], 1)
    out[i, 1] = from_rank(cluster, tile, other)
    out[i, 2] = theirs[-1, t % 3] + theirs.shape[0] * 10 + len(theirs[1:])
    cluster.sync()
    out[i, 3] = summed_over_cluster(t) + summed_over_cluster(1)


@functions_in_clusters.gives
def _(a, out):
    theirs = a.reshape(2, 2, 8)[:, ::-1]
    t = np.arange(8)
    out[:, 0] = (3 * theirs + 3 + theirs.sum(axis=2, keepdims=True) + 17).ravel()
    out[:, 1] = theirs.ravel() + 1
    out[:, 2] = (theirs[:, :, 7:] + t % 3 + 87).ravel()
    out[:, 3] = 56 + 16


@program(4, 16, ints(64), zeros(64), cluster=4, shared=16 * 8)
def dynamic_memory_of_other_blocks(a, out):
    own = cuda.shared.array(0, float64)
    cluster = cuda.cg.this_cluster()
    i, t = cuda.grid(1), cuda.threadIdx.x
    own[t] = a[i]
    cluster.sync()
    last = cluster.map_shared_rank(own, 3)
    out[i] = last[-1 - t] + last[1::2][t // 2] + len(last)
    cluster.sync()


@dynamic_memory_of_other_blocks.gives
def _(a, out):
    last = a[48:]
    out[:] = np.tile(last[::-1] + last[1::2].repeat(2) + 16, 4)


@program(2, 8, ints(16), zeros(16), zeros(16), cluster=2)
def records_and_choices(a, out, more):
    pairs = cuda.shared.array(8, PAIR)
    left, right = cuda.shared.array(8, float32), cuda.shared.array(8, float32)
    cluster = cuda.cg.this_cluster()
    i, t, rank = cuda.grid(1), cuda.threadIdx.x, cluster.block_rank()
    pairs[t].x, pairs[t].y = a[i], 0.5
    left[t], right[t] = a[i], 2 * a[i]
    cluster.sync()
    theirs = cluster.map_shared_rank(pairs, 1 - rank)
    theirs[t].y += a[i]
    chosen = left if t % 2 else right
    more[i] = cluster.map_shared_rank(chosen, 1 - rank)[t]
    cluster.sync()
    out[i] = int(2 * pairs[t].y) + theirs[t].x + cluster.map_shared_rank(pairs[1:].x, rank)[0]
    cluster.sync()


@records_and_choices.gives
def _(a, out, more):
    own = a.reshape(2, 8)
    theirs = own[::-1]
    out[:] = (2 * theirs + 1 + theirs + own[:, 1:2]).ravel()
    more[:] = np.where(np.arange(16) % 2, 1, 2) * theirs.ravel()


@program(6, 32, ints(192), zeros(192), zeros(1), cluster=3)
def clusters_and_the_grid(a, out, total):
    tile = cuda.shared.array(32, int32)
    cluster, grid = cuda.cg.this_cluster(), cuda.cg.this_grid()
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = a[i]
    cluster.sync()
    out[i] = cluster.map_shared_rank(tile, (cluster.block_rank() + 1) % 3)[t]
    cuda.syncthreads()
    if cluster.thread_rank() == 0:
        cuda.atomic.add(total, 0, out[i])
    grid.sync()
    out[i] += total[0]
    cluster.sync()


@clusters_and_the_grid.gives
def _(a, out, total):
    moved = np.roll(a.reshape(2, 3, 32), -1, axis=1)
    total[0] = moved[0, 0, 0] + moved[1, 0, 0]
    out[:] = moved.ravel() + total[0]


@program(4, 32, zeros(4), cluster=4)
def blocks_in_turn(out):
    """A block goes on when the one before it has given it the turn, in its memory."""
    turn = cuda.shared.array(1, int32)
    cluster = cuda.cg.this_cluster()
    rank = cluster.block_rank()
    if cuda.threadIdx.x == 0:
        turn[0] = rank == 3
    cluster.sync()
    if cuda.threadIdx.x == 0:
        while cuda.atomic.add(turn, 0, 0) == 0:
            pass
        cuda.threadfence()
        out[rank] = out[(rank + 1) % 4] + 1
        cuda.threadfence()
        if rank > 0:
            cuda.atomic.exch(cluster.map_shared_rank(turn, rank - 1), 0, 1)
    cluster.sync()


@blocks_in_turn.gives
def _(out):
    out[:] = [4, 3, 2, 1]


@program(4, 33, ints(132), zeros(4), cluster=2)
def some_threads_leave(a, out):
    """The cluster does not wait for threads that have returned."""
    best = cuda.shared.array(1, int32)
    cluster = cuda.cg.this_cluster()
    t = cuda.threadIdx.x
    if t == 0:
        best[0] = -1000
    cluster.sync()
    if t % 3 == 2:
        return
    cuda.atomic.max(cluster.map_shared_rank(best, 0), 0, a[cuda.grid(1)])
    cluster.sync()
    if t == 0:
        out[cuda.blockIdx.x] = cluster.map_shared_rank(best, 0)[0]
    cluster.sync()


@some_threads_leave.gives
def _(a, out):
    kept = np.where(np.arange(33) % 3 == 2, -1000, a.reshape(4, 33))
    out[:] = kept.reshape(2, 66).max(axis=1).repeat(2)


@program(3, 16, ints(48), zeros(48), cluster=1)
def clusters_of_one(a, out):
    tile = cuda.shared.array(16, int32)
    cluster = cuda.cg.this_cluster()
    tile[cuda.threadIdx.x] = a[cuda.grid(1)]
    cluster.sync()
    own = cluster.map_shared_rank(tile, cluster.block_rank())
    out[cuda.grid(1)] = own[15 - cuda.threadIdx.x] + cluster.num_blocks()


@clusters_of_one.gives
def _(a, out):
    out[:] = a.reshape(3, 16)[:, ::-1].ravel() + 1
