"""A complex variable that some path leaves unassigned, and a result that one does not give."""

import numpy as np

from pycu2c import cuda, device, kernel


@device
def halved(z, k):
    if k == 2:
        raise ValueError(k)
    return z / 2


@kernel
def fuzzed(z, o0):
    i = cuda.grid(1)
    if i % 2:
        u = z[i]
    o0[i] = u
    o0[i] += halved(z[i], i)


GRID, BLOCK = (1, 1, 1), (4, 1, 1)
APPROXIMATE = []


def arguments():
    return np.array([1, 2j, 3, 4 - 1j], np.complex64), np.ones(4, np.complex128)
