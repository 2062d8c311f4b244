"""The sum of what the blocks of a cluster have, read from each other's shared memory."""

import numpy as np

from pycu2c import cuda, float32, kernel


@kernel(cluster=4)
def cluster_sum(data, sums):
    tile = cuda.shared.array((2, 32), float32)
    cluster = cuda.cg.this_cluster()
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[0, t] = data[i] if i < len(data) else 0
    cluster.sync()
    if cluster.block_rank() == 0:
        total = tile[0, t]
        for rank in range(1, cluster.num_blocks()):
            theirs = cluster.map_shared_rank(tile, rank)
            total += theirs[0, t]
        cuda.atomic.add(sums, cuda.blockIdx.x // 4, total)
    cluster.sync()


SIGNATURES = {"f32": "void(float32[::1], float32[::1])"}


def case(rng, variant):
    return 8, 32, [rng.normal(size=250).astype(np.float32), np.zeros(2, np.float32)]
