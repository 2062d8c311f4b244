"""Constant arrays of halves: C takes no call for their elements, and missed the type."""

import ml_dtypes
import numpy as np

from pycu2c import cuda, kernel

W = np.array([[1, -0.1], [np.inf, 6e-8]], np.float16)
V = np.array([1, -0.1, np.nan, 6e-8], ml_dtypes.bfloat16)


@kernel
def fuzzed(o0, o1):
    i = cuda.grid(1)
    o0[i] = W[i // 2, i % 2]
    if V[i]:
        o1[i] = V[i]


GRID, BLOCK = (1, 1, 1), (4, 1, 1)
APPROXIMATE = []


def arguments():
    return np.zeros(4), np.zeros(4, np.float32)
