"""The 4 nearest points of each query in the plane, kept in order in local arrays."""

from __future__ import annotations

import math

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, float32, int32, kernel

K = 4


@kernel
def knn(queries, points, nearest, distances, n):
    i = cuda.grid(1)
    if i >= n:
        return
    best = cuda.local.array(K, float32)
    indices = cuda.local.array(K, int32)
    for k in range(K):
        best[k] = math.inf
        indices[k] = -1
    x, y = queries[i, 0], queries[i, 1]
    for j in range(points.shape[0]):
        dx = x - points[j, 0]
        dy = y - points[j, 1]
        distance = dx * dx + dy * dy
        if distance < best[K - 1]:
            k = K - 1
            while k > 0 and best[k - 1] > distance:
                best[k] = best[k - 1]
                indices[k] = indices[k - 1]
                k -= 1
            best[k] = distance
            indices[k] = j
    for k in range(K):
        nearest[i, k] = indices[k]
        distances[i, k] = best[k]


def problem(scale: int) -> Problem:
    rng, count = np.random.default_rng(15), 2**12 * scale
    # integers, so that sums of squares are exact
    queries = rng.integers(0, 2048, (count, 2)).astype(np.float32)
    points = rng.integers(0, 2048, (1000, 2)).astype(np.float32)
    nearest, distances = np.zeros((count, K), np.int32), np.zeros((count, K), np.float32)
    arguments = queries, points, nearest, distances, np.int32(count)
    return Problem(arguments, (blocks(count, 128),), (128,), results=(2, 3))
