"""The maximum of each row of a ragged array; that of an empty row is 0."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def ragged_rows(values, offsets, maxima):
    i = cuda.grid(1)
    if i >= len(maxima):
        return
    start, stop = offsets[i], offsets[i + 1]
    if start == stop:
        maxima[i] = 0
        return
    largest = values[start]
    for k in range(start + 1, stop):
        largest = max(largest, values[k])
    maxima[i] = largest


def problem(scale: int) -> Problem:
    rng, rows = np.random.default_rng(4), 2**17 * scale
    offsets = np.zeros(rows + 1, np.int32)
    offsets[1:] = np.cumsum(rng.geometric(1 / 16, rows) - 1)
    values = rng.random(int(offsets[-1]), np.float32)
    arguments = values, offsets, np.zeros(rows, np.float32)
    return Problem(arguments, (blocks(rows, 128),), (128,), results=(2,))
