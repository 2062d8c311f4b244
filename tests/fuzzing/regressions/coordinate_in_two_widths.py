"""Strips that know a coordinate in 32 bits, and a reader elsewhere who wants Python's int."""

import numpy as np

from pycu2c import cuda, kernel


@kernel
def fuzzed(o0):
    i = cuda.grid(1)
    c1 = 0
    while c1 < 3:
        c1 += 1
        if cuda.grid(1) > 2:
            continue
    o0[i] = c1


GRID, BLOCK = (2, 1, 1), (4, 1, 1)
APPROXIMATE = []
KNOWN_BLOCK = False


def arguments():
    return (np.zeros(8, np.int64),)
