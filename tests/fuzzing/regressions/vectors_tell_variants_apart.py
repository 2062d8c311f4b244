"""A device function called with two types beside a vector, in the reference: the kernel has a loop
over a tuple, and was called in place of the function."""

import numpy as np

from pycu2c import cuda, device, kernel

Row = np.dtype([("x", np.float64), ("y", np.float64)])


@device
def first(e, k):
    v = 0
    if k > 1:
        v = e.x
    return v + k


@kernel
def fuzzed(a, out):
    i = cuda.grid(1)
    for t in (1, 2.5):
        out[i] += first(a[i], i) + first(a[i], t)


GRID, BLOCK = (1, 1, 1), (3, 1, 1)
APPROXIMATE = []


def arguments():
    return np.array([(1.5, 2), (3, 4), (5.5, 6)], Row), np.zeros(3)
