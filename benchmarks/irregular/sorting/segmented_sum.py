"""Sums of segments of very different lengths, one thread for each segment."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def segmented_sum(values, offsets, sums):
    segment = cuda.grid(1)
    if segment < sums.size:
        total = 0.0
        for k in range(offsets[segment], offsets[segment + 1]):
            total += values[k]
        sums[segment] = total


def problem(scale: int) -> Problem:
    rng, segments = np.random.default_rng(1), 2**17 * scale
    offsets = np.zeros(segments + 1, np.int64)
    offsets[1:] = np.cumsum(np.minimum(rng.zipf(1.6, segments), 1000))
    arguments = rng.random(offsets[-1]), offsets, np.zeros(segments)
    return Problem(arguments, (blocks(segments),), (256,), results=(2,), tolerance=1e-12)
