"""Two stores to one element: gcc 12 put the second before the first, by loop distribution."""

import numpy as np

from pycu2c import cuda, device, kernel
from pycu2c.types import float64


@device
def d0(a, k):
    v0 = k
    a[k] = v0


@kernel
def fuzzed(o0, o1):
    i = cuda.blockIdx.x + cuda.threadIdx.x
    d0(o1, i - 1)
    o1[i + 1] = float64(o0[0 - i])


GRID, BLOCK = (1, 1, 1), (1, 1, 1)
APPROXIMATE = []


def arguments():
    return np.array([2147483647], np.int32), np.array([-3.6, 9.9], np.float32)
