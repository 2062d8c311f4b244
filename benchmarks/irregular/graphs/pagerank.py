"""One step of PageRank: each vertex sums the shares of the vertices that link to it."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, float32, kernel


@kernel
def pagerank(starts, sources, degrees, ranks, updated, damping, n):
    v = cuda.grid(1)
    if v >= n:
        return
    total = float32(0.0)
    for k in range(starts[v], starts[v + 1]):
        u = sources[k]
        total += ranks[u] / float32(degrees[u])
    updated[v] = (float32(1.0) - damping) / float32(n) + damping * total


def problem(scale: int) -> Problem:
    rng, vertices = np.random.default_rng(7), 2**17 * scale
    starts = np.zeros(vertices + 1, np.int32)
    starts[1:] = np.cumsum(rng.integers(0, 25, vertices))
    sources = rng.integers(0, vertices, int(starts[-1]), np.int32)
    degrees = np.bincount(sources, minlength=vertices).astype(np.int32)
    ranks = rng.random(vertices, np.float32)
    ranks /= ranks.sum()
    updated = np.zeros(vertices, np.float32)
    arguments = starts, sources, degrees, ranks, updated, np.float32(0.85), np.int32(vertices)
    return Problem(arguments, (blocks(vertices),), (256,), results=(4,))
