"""A lane of a strip that is not in a loop was to read an element that there is not."""

import numpy as np

from pycu2c import cuda, kernel


@kernel
def fuzzed(o0, x):
    i = cuda.grid(1)
    s = np.float32(0)
    for k in range(i, 3):
        s += x[k]
        if s < 0:
            break
    o0[i] = s


GRID, BLOCK = (1, 1, 1), (512, 1, 1)
APPROXIMATE = []


def arguments():
    return np.zeros(512), np.arange(3 * 10**6, dtype=np.float32)[:: 10**6]
