"""The absolute value of an int16, and its quotient, by themselves: their helper calls another."""

import numpy as np

from pycu2c import cuda, kernel


@kernel
def fuzzed(a, o0):
    i = cuda.grid(1)
    o0[i] = abs(a[i]) if a[i] < 3 else a[i] // a[i - 1]


GRID, BLOCK = (1, 1, 1), (4, 1, 1)
APPROXIMATE = []


def arguments():
    return np.array([-32768, -1, 9, 4], np.int16), np.zeros(4, np.int64)
