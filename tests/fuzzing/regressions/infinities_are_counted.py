"""C's isinf gives -1 for -inf, which was counted as -1."""

import math

import numpy as np

from pycu2c import cuda, kernel


@kernel
def fuzzed(a, o0, o1):
    i = cuda.grid(1)
    o0[i] = math.isinf(a[i]) - 0
    o1[i] = math.isinf(a[i]) + math.isnan(a[i]) * 2 + math.isfinite(a[i]) * 4


GRID, BLOCK = (1, 1, 1), (4, 1, 1)
APPROXIMATE = []


def arguments():
    values = np.array([-np.inf, np.inf, np.nan, 1.5])
    return values, np.zeros(4, np.uint16), np.zeros(4, np.int8)
