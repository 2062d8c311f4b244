"""A quantile of each row of samples by quickselect (Hoare), one thread for each row."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, float32, kernel

SAMPLES = 32


@kernel
def quantile(samples, rank, out):
    row = cuda.grid(1)
    if row < out.size:
        values = cuda.local.array(SAMPLES, float32)
        for k in range(SAMPLES):
            values[k] = samples[row, k]
        left = 0
        right = SAMPLES - 1
        while left < right:
            pivot = values[rank]
            i = left
            j = right
            while i <= j:
                while values[i] < pivot:
                    i += 1
                while pivot < values[j]:
                    j -= 1
                if i <= j:
                    values[i], values[j] = values[j], values[i]
                    i += 1
                    j -= 1
            if j < rank:
                left = i
            if rank < i:
                right = j
        out[row] = values[rank]


def problem(scale: int) -> Problem:
    rows = 2**15 * scale
    samples = np.random.default_rng(1).random((rows, SAMPLES), np.float32)
    arguments = samples, np.int32(24), np.zeros(rows, np.float32)
    return Problem(arguments, (blocks(rows, 128),), (128,), results=(2,), tolerance=0)
