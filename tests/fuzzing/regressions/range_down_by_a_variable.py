"""A step that is known to be negative, but not which, counted upwards for ever."""

import numpy as np

from pycu2c import cuda, kernel


@kernel
def fuzzed(o0):
    i = cuda.grid(1)
    for n in range(i + 5, 1, -(i % 3) - 1):
        o0[i] = o0[i] * 10 + n


GRID, BLOCK = (2, 1, 1), (4, 1, 1)
APPROXIMATE = []


def arguments():
    return (np.zeros(8, np.int64),)
