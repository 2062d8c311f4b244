"""Ranges whose step leads from the last value over 2**63: the loops never ended."""

import numpy as np

from pycu2c import cuda, kernel


@kernel
def fuzzed(a, o0):
    i = cuda.grid(1)
    for j in range(0, 2**63 - 1, 2**62):
        o0[i] = o0[i] * 3 + (j >> 60)
        if o0[i] > 1000:
            break
    for j in range(-(2**63) + 3, -(2**63), -2):
        o0[i] = o0[i] * 3 + j % 10
        if o0[i] > 1000:
            break
    for j in range(a[0], a[1], a[2]):
        if j == 0:
            continue
        o0[i] = o0[i] * 3 + (j >> 60) + i
        if o0[i] > 10000:
            break
    for j in range(a[1], a[0], -a[2]):
        o0[i] = o0[i] * 3 + (j >> 60)
        if o0[i] > 10**6:
            break


GRID, BLOCK = (1, 1, 1), (4, 1, 1)
APPROXIMATE = []


def arguments():
    return (np.array([-(2**63), 2**63 - 1, 2**62]), np.zeros(4, np.int64))
