"""The sign of -0.0 is 0.0 for every float, as numpy's; the package of bfloat16 gives -0.0."""

import ml_dtypes
import numpy as np

from pycu2c import cuda, kernel


@kernel
def fuzzed(a, b, c):
    i = cuda.grid(1)
    a[i] = np.sign(a[i])
    b[i] = np.sign(b[i])
    c[i] = np.sign(c[i])


GRID, BLOCK = (1, 1, 1), (4, 1, 1)
APPROXIMATE = []


def arguments():
    numbers = [-0.0, 0.0, -2.5, np.nan]
    return tuple(np.array(numbers, t) for t in (ml_dtypes.bfloat16, np.float16, np.float32))
