"""One step of connected components: the ends of each edge take the smaller of their labels."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def connected_components(edges, labels, updated):
    e = cuda.grid(1)
    if e < edges.shape[0]:
        u, v = edges[e, 0], edges[e, 1]
        if labels[u] < labels[v]:
            cuda.atomic.min(updated, v, labels[u])
        elif labels[v] < labels[u]:
            cuda.atomic.min(updated, u, labels[v])


def problem(scale: int) -> Problem:
    rng, vertices, count = np.random.default_rng(8), 2**16 * scale, 2**18 * scale
    edges = rng.integers(0, vertices, (count, 2), np.int32)
    labels = rng.integers(0, np.arange(1, vertices + 1, dtype=np.int32), dtype=np.int32)
    arguments = edges, labels, labels.copy()
    return Problem(arguments, (blocks(count),), (256,), results=(2,))
