"""Merge two sorted arrays by merge path, one thread for each piece of the output."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def merge(a, b, out, piece):
    start = cuda.grid(1) * piece
    if start < out.size:
        low = max(0, start - b.size)
        high = min(start, a.size)
        while low < high:
            middle = (low + high) // 2
            if a[middle] <= b[start - middle - 1]:
                low = middle + 1
            else:
                high = middle
        i = low
        j = start - low
        for k in range(start, min(start + piece, out.size)):
            if j >= b.size or (i < a.size and a[i] <= b[j]):
                out[k] = a[i]
                i += 1
            else:
                out[k] = b[j]
                j += 1


def problem(scale: int) -> Problem:
    rng, n, piece = np.random.default_rng(1), 2**19 * scale, 16
    a, b = (np.sort(rng.integers(0, 2**30, n, np.int32)) for _ in range(2))
    arguments = a, b, np.zeros(2 * n, np.int32), piece
    return Problem(arguments, (blocks(2 * n // piece),), (256,), results=(2,), tolerance=0)
