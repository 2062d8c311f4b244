"""The nearest box that each ray hits (slab method), one thread for each ray."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, float32, kernel

FARTHEST = 10.0


@kernel
def ray_box(origins, inverse_directions, low, high, distances, hits):
    ray = cuda.grid(1)
    if ray < origins.shape[0]:
        nearest = float32(FARTHEST)
        hit = -1
        for box in range(low.shape[0]):
            enter = float32(0)
            leave = nearest
            for axis in range(3):
                t0 = (low[box, axis] - origins[ray, axis]) * inverse_directions[ray, axis]
                t1 = (high[box, axis] - origins[ray, axis]) * inverse_directions[ray, axis]
                enter = max(enter, min(t0, t1))
                leave = min(leave, max(t0, t1))
            if enter < leave:
                nearest = enter
                hit = box
        distances[ray] = nearest
        hits[ray] = hit


def problem(scale: int) -> Problem:
    rng, rays, boxes = np.random.default_rng(1), 2**14 * scale, 100
    origins = rng.random((rays, 3), np.float32)
    inverse = 1 / rng.standard_normal((rays, 3), np.float32)
    low = rng.random((boxes, 3), np.float32)
    high = low + np.float32(0.1)
    out = np.zeros(rays, np.float32), np.zeros(rays, np.int32)
    arguments = origins, inverse, low, high, *out
    return Problem(arguments, (blocks(rays, 128),), (128,), results=(4, 5), tolerance=0)
