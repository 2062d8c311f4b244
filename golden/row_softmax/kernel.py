"""The softmax of each row of a matrix, by reductions of a block."""

import math

import numpy as np

from pycu2c import cuda, float32, kernel
from pycu2c.cuda import block

BLOCK = 96

SIGNATURES = {
    "f32": (float32[:, ::1], float32[:, ::1]),
}


@kernel(block=(BLOCK,))
def row_softmax(out, x):
    row, column = cuda.blockIdx.x, cuda.threadIdx.x
    value = x[row, column]
    exponential = math.exp(value - block.all_reduce(value, max))
    out[row, column] = exponential / block.all_reduce(exponential)


def case(rng, variant):
    x = rng.normal(size=(4, BLOCK)).astype(np.float32)
    return 4, BLOCK, (np.zeros_like(x), x)
