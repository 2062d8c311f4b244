"""A slice that begins beyond 2**31, in a small launch: where it begins was cut to 32 bits."""

import numpy as np

from pycu2c import cuda, kernel


@kernel
def fuzzed(a, n, o0):
    i = cuda.grid(1)
    far = n * n  # 2**32
    o0[i] = len(a[far:]) + len(a[far - i :]) * 10 + len(a[-far:]) * 100 + len(a[far + 3 : 5]) * 1000
    for x in a[far - 4 + i * 2 :]:
        o0[i] += x


GRID, BLOCK = (1, 1, 1), (4, 1, 1)
APPROXIMATE = []


def arguments():
    return (np.arange(7), 2**16, np.zeros(4, np.int64))
