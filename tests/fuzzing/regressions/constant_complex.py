"""Constant arrays of complex numbers and of what is not finite: C takes only constants for them."""

import numpy as np

from pycu2c import cuda, kernel

Z = np.array([1 + 2j, complex(np.inf, -np.inf), 3.5], np.complex64)
F = np.array([[np.inf, -np.inf, 0.5]], np.float64)


@kernel
def fuzzed(o0, o1):
    i = cuda.grid(1)
    o0[i] = Z[i]
    o1[i] = F[0, i] + Z[2].real


GRID, BLOCK = (1, 1, 1), (3, 1, 1)
APPROXIMATE = []


def arguments():
    return np.zeros(3, np.complex128), np.zeros(3, np.float64)
