"""Position of each query in a sorted table, one thread for each query."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def binary_search(table, queries, positions):
    i = cuda.grid(1)
    if i < queries.size:
        query = queries[i]
        low = 0
        high = table.size
        while low < high:
            middle = (low + high) // 2
            if table[middle] < query:
                low = middle + 1
            else:
                high = middle
        positions[i] = low


def problem(scale: int) -> Problem:
    rng, n = np.random.default_rng(1), 2**16 * scale
    table, queries = np.sort(rng.random(2 * n, np.float32)), rng.random(n, np.float32)
    arguments = table, queries, np.zeros(n, np.int32)
    return Problem(arguments, (blocks(n),), (256,), results=(2,), tolerance=0)
