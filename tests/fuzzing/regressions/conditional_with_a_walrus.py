"""An arm with a walrus: the compiler gives the conditional the joined type uint32, the reference kept
the arm's own uint8 (255 instead of 2**32 - 1)."""

import numpy as np

from pycu2c import cuda, kernel, uint8, uint32


@kernel
def fuzzed(o0, o1, p0):
    i = cuda.grid(1)
    o0[i] = (uint32(0) if p0 else (q := uint8(i))) - 1
    o1[i] = ((w := uint8(i)) if p0 else 2.5) / 2


GRID, BLOCK = (1, 1, 1), (2, 1, 1)
APPROXIMATE = []


def arguments():
    return np.zeros(2), np.zeros(2), 0
