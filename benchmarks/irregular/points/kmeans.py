"""The assignment step of k-means: the nearest center of each point with 8 features."""

from __future__ import annotations

import math

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, float32, kernel


@kernel
def kmeans(points, centers, labels):
    i = cuda.grid(1)
    if i < points.shape[0]:
        label = 0
        least = float32(math.inf)
        for c in range(centers.shape[0]):
            distance = float32(0)
            for k in range(points.shape[1]):
                difference = points[i, k] - centers[c, k]
                distance += difference * difference
            if distance < least:
                least = distance
                label = c
        labels[i] = label


def problem(scale: int) -> Problem:
    rng, count = np.random.default_rng(14), 2**15 * scale
    # integers, so that sums of squares are exact
    points = rng.integers(0, 256, (count, 8)).astype(np.float32)
    centers = rng.integers(0, 256, (32, 8)).astype(np.float32)
    arguments = points, centers, np.zeros(count, np.int32)
    return Problem(arguments, (blocks(count),), (256,), results=(2,))
