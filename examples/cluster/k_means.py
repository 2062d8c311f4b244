"""k-means over chunks of points: a launch for each chunk and iteration, and one sum of their sums.

Coordinates are added as integers, whose sum is exact in any order. So the centres do not depend on
the chunks, the workers, or the order in which tasks end.

    python examples/cluster/k_means.py --workers 2
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, wait

from pycu2c import cuda, int64, kernel
from pycu2c.dask import copy_to_host, local_cluster, map_blocks, to_device

K = 8  # centres
BLOCK = 256
UNIT = 2.0**-20  # of the coordinates that are added


@kernel(block=BLOCK, fmad=False)  # the same bits on all processors
def add_to_nearest(points, centres, sums):
    """Add each point to the sums of its nearest centre: x, y, and the number of points."""
    block_sums = cuda.shared.array((K, 3), int64)
    t = cuda.threadIdx.x
    if t < K:
        for column in range(3):
            block_sums[t, column] = 0
    cuda.syncthreads()

    i = cuda.grid(1)
    if i < len(points):
        x, y = points[i, 0], points[i, 1]
        distances = [(x - centres[c, 0]) ** 2 + (y - centres[c, 1]) ** 2 for c in range(K)]
        nearest = 0
        for c in range(1, K):
            if distances[c] < distances[nearest]:
                nearest = c
        for column, value in enumerate((int64(x / UNIT), int64(y / UNIT), 1)):
            cuda.atomic.add(block_sums, (nearest, column), value)
    cuda.syncthreads()

    if t < K:
        for column in range(3):
            cuda.atomic.add(sums, (t, column), block_sums[t, column])


def blocks(points: tuple[int, ...]) -> int:
    """Return the blocks of the grid for points of this shape."""
    return -(-points[0] // BLOCK)


def sums_of_chunks(points: Any, centres: np.ndarray) -> np.ndarray:
    """Return the sums of the points in chunks for each centre."""
    partial = map_blocks(
        add_to_nearest, points, centres, grid=blocks, chunks=(K, 3), dtype=np.int64
    )
    return copy_to_host(partial).reshape(-1, K, 3).sum(axis=0).compute()


def sums_of_one(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the sums of all points by one launch."""
    sums = np.zeros((K, 3), np.int64)
    add_to_nearest[blocks(points.shape)](points, centres, sums)
    return sums


def clustered(points: Any, sums: Callable[..., np.ndarray], iterations: int) -> np.ndarray:
    """Return the centres after some iterations."""
    angle = np.arange(K)
    centres = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    for _ in range(iterations):
        x, y, count = sums(points, centres).T
        means = np.stack([x, y], axis=1) * UNIT / np.maximum(count, 1)[:, None]
        centres = np.where(count[:, None] > 0, means, centres).astype(np.float32)
    return centres


def points_around_centres(count: int, chunk: int) -> Any:
    """Return random points in chunks, which do not depend on the worker that makes them."""

    def make(block_info: Any) -> np.ndarray:
        ((first, last), _) = block_info[None]["array-location"]
        random = np.random.default_rng(first)
        corners = random.integers(0, 4, (last - first, 2)) * 3
        return (corners + random.normal(0, 0.5, corners.shape)).astype(np.float32)

    starts = da.empty((count, 2), chunks=(chunk, 2), dtype=np.float32).chunks
    return da.map_blocks(make, chunks=starts, dtype=np.float32, meta=np.empty((0, 0), np.float32))


def main(arguments: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(description="k-means over chunks of points.")
    options.add_argument("--workers", type=int, help="processes; default: that of local_cluster")
    options.add_argument("--scheduler", help="the address of a cluster, in place of --workers")
    options.add_argument("--size", type=int, default=4_000_000, help="points; default: 4 million")
    options.add_argument("--chunk", type=int, default=500_000, help="points of a chunk")
    options.add_argument("--iterations", type=int, default=20, help="default: 20")
    options.add_argument("--check", action=argparse.BooleanOptionalAction, default=True)
    given = options.parse_args(arguments)

    with Client(given.scheduler or local_cluster(given.workers)):
        points = to_device(points_around_centres(given.size, given.chunk))
        chunks = points.persist()
        wait(chunks)
        start = time.perf_counter()
        centres = clustered(chunks, sums_of_chunks, given.iterations)
        print(centres)
        print(f"{given.iterations} iterations: {time.perf_counter() - start:.2f} s")
        if given.check:
            expected = clustered(points.compute(scheduler="threads"), sums_of_one, given.iterations)
            if not np.array_equal(centres, expected):
                raise SystemExit("FAILED: the centres are not those of one process")
            print("checked: the centres are those of one process, bit by bit")


if __name__ == "__main__":
    main()
