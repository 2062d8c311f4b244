"""ptxas before 13.3 takes the negative of -32768 for 32768 where it is widened."""

import numpy as np

from pycu2c import cuda, kernel


@kernel
def fuzzed(a, o0, o1):
    i = cuda.grid(1)
    x = a[i]
    o0[i, 0] = -x
    o0[i, 1] = abs(x)
    o0[i, 2] = x // np.int16(-1 - i % 2 * 2)
    o0[i, 3] = max(-x, np.int16(7), x)
    o0[i, 4] = abs(x) if i % 2 == 0 else 5
    o0[i, 5] = np.int16(0) - x
    o0[i, 6] = x * np.int16(-1)
    o0[i, 7] = np.abs(x) >> 1
    o1[i, 0] = -x
    o1[i, 1] = abs(x)
    o1[i, 2] = -x > 5


GRID, BLOCK = (1, 1, 1), (4, 1, 1)
APPROXIMATE = []


def arguments():
    values = np.array([-32768, 32767, -32768, -5], np.int16)
    return values, np.zeros((4, 8), np.int64), np.zeros((4, 3))
