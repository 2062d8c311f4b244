"""An integer made of a float made of an integer was taken for the integer itself."""

import numpy as np

from pycu2c import cuda, kernel
from pycu2c.types import float32, int32, uint64


@kernel
def fuzzed(a0, o1):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    t = cuda
    c0 = 0
    while c0 < 3:
        c0 += 1
        for n3, n4 in zip(a0, range(3)):
            o1[i] *= uint64(
                int32(float32(o1[i])) if -2147483648.0 < float32(o1[i]) < 2147483647.0 else int32(2)
            )


GRID, BLOCK = ((3, 1, 1), (4, 1, 1))
APPROXIMATE = []


def arguments():
    return (
        np.array([-9.75, -3.155308494356184, 4.75], np.float64)[1:],
        np.array([1, 18446744073709551615, 10, 2, 1, 2, 17, 3, 11, 19, 16, 1], np.uint64),
    )
