"""One level of a breadth-first search over a graph in CSR, one thread for each vertex."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def bfs(starts, neighbors, levels, changed, level):
    vertex = cuda.grid(1)
    if vertex < levels.size and levels[vertex] == level:
        for k in range(starts[vertex], starts[vertex + 1]):
            neighbor = neighbors[k]
            if levels[neighbor] < 0:
                levels[neighbor] = level + 1
                changed[0] = 1


def problem(scale: int) -> Problem:
    rng, vertices = np.random.default_rng(6), 2**18 * scale
    starts = np.zeros(vertices + 1, np.int32)
    starts[1:] = np.cumsum(rng.integers(2, 15, vertices))
    neighbors = rng.integers(0, vertices, int(starts[-1]), np.int32)
    levels = rng.choice(np.array([-1, 0, 1, 2], np.int32), vertices, p=[0.65, 0.05, 0.15, 0.15])
    arguments = starts, neighbors, levels, np.zeros(1, np.int32), np.int32(2)
    return Problem(arguments, (blocks(vertices),), (256,), results=(2, 3))
