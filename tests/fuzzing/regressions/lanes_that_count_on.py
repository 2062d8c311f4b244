"""Seed 812122 on narrowed: died."""

import math
from collections import namedtuple
from math import inf, nan
import ml_dtypes
import numpy as np
from pycu2c import cuda, device, kernel
from pycu2c.types import (
    bfloat16,
    boolean,
    complex128,
    complex64,
    float16,
    float32,
    float64,
    int16,
    int32,
    int64,
    int8,
    uint16,
    uint32,
    uint64,
    uint8,
)

@kernel
def fuzzed(a0, o1, p0):
    i = cuda.threadIdx.x
    t = cuda.threadIdx.x
    match p0 % i:
        case 1:
            o1[i] = 1
        case 0 | 1:
            for n2 in range(t % 1, 1, t + 1):
                v3, *t5, v4 = (int8, uint8, int16, np)
                view7 = a0
            view8 = a0
        case _:
            pass
GRID, BLOCK = ((1, 1, 1), (8, 1, 1))
APPROXIMATE = []
KNOWN_BLOCK, OWN_ACCUMULATORS = (True, True)

def arguments():
    return (np.array([1, 1, 1, 1, 1, 1, 1, 1], np.float32).reshape(2, 4)[:, 1:], np.array([1, 1, 1, 1, 1, 1, 1, 1], np.int16), 1)
