"""Scatter of a bucket sort by the high bits of a key, one thread for each key.

``cursors`` holds the start of each bucket; each thread takes the next position of its bucket.
"""

from __future__ import annotations

import numpy as np

from irregular import Arrays, Problem, blocks
from pycu2c import cuda, kernel


@kernel
def bucket_scatter(keys, values, cursors, out_keys, out_values, shift):
    i = cuda.grid(1)
    if i < keys.size:
        key = keys[i]
        at = cuda.atomic.add(cursors, key >> shift, 1)
        out_keys[at] = key
        out_values[at] = values[i]


def in_order(results: Arrays) -> Arrays:
    """Sort the pairs, which is within the buckets."""
    cursors, keys, values = results
    order = np.lexsort((values, keys))
    return [cursors, keys[order], values[order]]


def problem(scale: int) -> Problem:
    rng, n, shift = np.random.default_rng(1), 2**18 * scale, np.uint32(20)
    keys = rng.integers(0, 2**32, n, np.uint32)
    counts = np.bincount(keys >> shift, minlength=2**12)
    cursors = (np.cumsum(counts) - counts).astype(np.int32)
    values, out = np.arange(n, dtype=np.int32), (np.zeros(n, np.uint32), np.zeros(n, np.int32))
    arguments = keys, values, cursors, *out, shift
    return Problem(
        arguments, (blocks(n),), (256,), results=(2, 3, 4), canonical=in_order, tolerance=0
    )
