"""``1 or x`` with a walrus in x: the compiler gives it the joined type float64 (1.0 // 0 is inf), the
reference keeps the int 1 (1 // 0 is 0)."""

import numpy as np

from pycu2c import cuda, kernel


@kernel
def fuzzed(a, o0, o1):
    i = cuda.grid(1)
    o0[i] = (1 or a[(q := i)]) // False
    o1[i] = (1 or a[i]) // False


GRID, BLOCK = (1, 1, 1), (2, 1, 1)
APPROXIMATE = []


def arguments():
    return np.ones(2), np.zeros(2), np.zeros(2)
