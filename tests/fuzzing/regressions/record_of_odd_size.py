"""Records whose size is no multiple of what C aligns their fields to: the next one lay elsewhere."""

import numpy as np

from pycu2c import cuda, kernel


@kernel
def fuzzed(a, b, o0):
    i = cuda.grid(1)
    a[i].x += a[i - 1].y
    b[i].y += b[i - 1].z.real
    o0[i, 0] = a[i].x
    o0[i, 1] = b[i].y


A = np.dtype([("x", np.float32), ("y", np.int16)])
B = np.dtype([("z", np.complex64), ("y", np.float32)], align=True)
GRID, BLOCK = (1, 1, 1), (1, 1, 1)
APPROXIMATE = []


def arguments():
    a = np.array([(1, 2), (3, 4), (5, 6)], A)
    b = np.array([(1, 2), (3, 4), (5, 6)], B)
    return a, b, np.zeros((3, 2))
