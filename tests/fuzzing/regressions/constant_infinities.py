"""NVRTC takes no call for an element of constant memory, and CUDA's infinity is one."""

import numpy as np

from pycu2c import cuda, kernel

W = np.array([7.25, np.inf, -np.inf, np.nan], np.float32)
V = W.astype(np.float64)


@kernel
def fuzzed(o0, o1):
    i = cuda.grid(1)
    o0[i] = W[i]
    o1[i] = V[i]


GRID, BLOCK = (1, 1, 1), (4, 1, 1)
APPROXIMATE = []


def arguments():
    return np.zeros(4), np.zeros(4, np.float32)
