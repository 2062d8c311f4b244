"""abs of a constant that is the least of its type was folded to a number that does not fit."""

import numpy as np

from pycu2c import cuda, int8, kernel


@kernel
def fuzzed(o0):
    i = cuda.grid(1)
    o0[i] = abs(int8(-128))


GRID, BLOCK = (1, 1, 1), (4, 1, 1)
APPROXIMATE = []


def arguments():
    return (np.zeros(4, np.int8),)
