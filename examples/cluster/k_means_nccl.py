"""K-means of points that are divided between processes, one for each GPU; NCCL adds the sums.

Run it by torchrun: ``torchrun --nproc-per-node 2 examples/cluster/k_means_nccl.py``. Without a GPU,
Gloo adds them, and the processes share the cores.

The sums are integers: coordinates in units of 2**-20. Their order does not matter, so the result
does not depend on the number of processes.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch
import torch.distributed as dist
from heat_nccl import on_stream, process_group

from pycu2c import cuda, float32, int64, kernel
from pycu2c.cuda.random import philox_uniform_float32x4

CLUSTERS, AXES = 16, 8
SCALE = 2**20
BLOCK, GRID = 256, 132 * 8  # 8 blocks for each multiprocessor of an H200
SEED = 7


@kernel
def draw(points, first):
    """Fill points with random numbers of their indices; ``first`` is that of the first point."""
    for i in range(cuda.grid(1), points.shape[0], cuda.gridsize(1)):
        for q in range(AXES // 4):
            numbers = philox_uniform_float32x4(SEED, first + i, q)
            for d in range(4):
                points[i, 4 * q + d] = numbers[d]


@kernel
def assign(points, centres, sums):
    """Add each point, and 1, to the sums of the nearest centre."""
    shared = cuda.shared.array((CLUSTERS, AXES + 1), int64)
    near = cuda.shared.array((CLUSTERS, AXES), float32)
    for j in range(cuda.threadIdx.x, CLUSTERS * (AXES + 1), cuda.blockDim.x):
        shared[divmod(j, AXES + 1)] = 0
    for j in range(cuda.threadIdx.x, CLUSTERS * AXES, cuda.blockDim.x):
        near[divmod(j, AXES)] = centres[divmod(j, AXES)]
    cuda.syncthreads()
    point = cuda.local.array(AXES, float32)
    for i in range(cuda.grid(1), points.shape[0], cuda.gridsize(1)):
        for d in range(AXES):
            point[d] = points[i, d]
        best, nearest = float32(np.inf), 0
        for k in range(CLUSTERS):
            distance = float32(0)
            for d in range(AXES):
                distance += (point[d] - near[k, d]) * (point[d] - near[k, d])
            if distance < best:
                best, nearest = distance, k
        for d in range(AXES):
            cuda.atomic.add(shared, (nearest, d), int64(point[d] * float32(SCALE)))
        cuda.atomic.add(shared, (nearest, AXES), 1)
    cuda.syncthreads()
    for j in range(cuda.threadIdx.x, CLUSTERS * (AXES + 1), cuda.blockDim.x):
        k, d = divmod(j, AXES + 1)
        cuda.atomic.add(sums, (k, d), shared[k, d])


@kernel
def move(centres, sums):
    """Move the centres to the means of their points, and clear the sums."""
    k, d = cuda.threadIdx.y, cuda.threadIdx.x
    count = sums[k, AXES]
    if count > 0:
        centres[k, d] = float32(sums[k, d] / (count * SCALE))
    cuda.syncthreads()
    sums[k, d] = 0
    if d == 0:
        sums[k, AXES] = 0


class Clusters:
    """The points of this process, and the centres."""

    def __init__(self, first: int, count: int) -> None:
        self.stream = cuda.stream(blocking=False)
        self.points = cuda.device_array((count, AXES), np.float32)
        draw[GRID, BLOCK](self.points, first)
        centres = np.random.default_rng(SEED).random((CLUSTERS, AXES), np.float32)
        self.centres = cuda.to_device(centres)
        self.sums = cuda.to_device(np.zeros((CLUSTERS, AXES + 1), np.int64))
        cuda.synchronize()

    def run(self, steps: int, *, reduce: bool = True) -> None:
        """Move the centres, and wait."""
        sums = torch.from_dlpack(self.sums)
        for _ in range(steps):
            assign[GRID, BLOCK, self.stream](self.points, self.centres, self.sums)
            if reduce:
                with on_stream(self.stream):
                    dist.all_reduce(sums)
            move[1, (AXES, CLUSTERS), self.stream](self.centres, self.sums)
        self.stream.synchronize()


def main(arguments: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--points", type=int, default=100_000, help="of each process")
    options.add_argument("--steps", type=int, default=10)
    options.add_argument("--no-check", action="store_true", help="measure only")
    given = options.parse_args(arguments)
    with process_group():
        rank, processes = dist.get_rank(), dist.get_world_size()
        clusters = Clusters(rank * given.points, given.points)
        clusters.run(given.steps)
        if rank == 0 and not given.no_check:
            check(clusters, processes * given.points, given.steps)
        dist.barrier()
        start = time.perf_counter()
        clusters.run(given.steps)
        duration = (time.perf_counter() - start) / given.steps
        if rank == 0:
            print(f"{processes} x {given.points} points: {duration * 1e3:.4f} ms per step")


def check(divided: Clusters, count: int, steps: int) -> None:
    """Compare with the centres that one process finds for all points."""
    single = Clusters(0, count)
    single.run(steps, reduce=False)
    if not np.array_equal(divided.centres.copy_to_host(), single.centres.copy_to_host()):
        raise SystemExit("FAILED: the centres differ from those of one process")
    print(f"checked: the centres of {count} points equal those of one process")


if __name__ == "__main__":
    main()
