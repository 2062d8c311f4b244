"""A complex number with an infinite part over 0."""

import numpy as np

from pycu2c import cuda, kernel


@kernel
def fuzzed(z, n, o0, o1):
    i = cuda.grid(1)
    o0[i] = z[i] / n
    o1[i] = z[i] / -(0j * z[i])


GRID, BLOCK = (1, 1, 1), (4, 1, 1)
APPROXIMATE = []


def arguments():
    z = np.array([complex(-4.5, np.inf), 1 - 1j, 0, complex(np.nan, 1)], np.complex64)
    return z, 0, np.zeros(4, np.complex64), np.zeros(4, np.complex128)
