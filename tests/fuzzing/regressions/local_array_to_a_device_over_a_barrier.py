"""The verifier did not take a thread's slots of a local array for a device function's array."""

import numpy as np

from pycu2c import cuda, device, float64, kernel


@device
def fill(a, k, x):
    a[k] = x


@kernel
def fuzzed(o0):
    i = cuda.grid(1)
    m = cuda.local.array(2, float64)
    fill(m, 0, i)
    fill(m, -1, i * 10)
    cuda.syncthreads()
    o0[i] = m[0] + m[1]


GRID, BLOCK = (2, 1, 1), (4, 1, 1)
APPROXIMATE = []


def arguments():
    return (np.zeros(8, np.float64),)
