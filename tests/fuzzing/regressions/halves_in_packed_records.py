"""16-bit floats in records without gaps: CUDA's classes of them take any place to be even."""

import ml_dtypes
import numpy as np

from pycu2c import cuda, kernel

Odd = np.dtype([("x", np.int8), ("h", np.float16), ("b", ml_dtypes.bfloat16), ("z", np.complex64)])
Even = np.dtype([("b", ml_dtypes.bfloat16), ("h", np.float16), ("n", np.int64)])


@kernel
def fuzzed(r0, r1, o0, o1):
    i = cuda.grid(1)
    v = r0[i]
    r0[i].h = v.h * 2
    r0[i].z = r0[i].z + v.h
    r0[i].b = o1[i] * o1[i]
    o0[i] = r0[i].h
    r1[i].b = r0[i].b
    r1[i].h = o1[i] - o1[i]
    r0[3 - i].x = r1[i].n
    w = r1[i]
    r1[i + 4] = w


GRID, BLOCK = (1, 1, 1), (4, 1, 1)
APPROXIMATE = []


def arguments():
    r0 = np.zeros(4, Odd)
    r0["h"] = [1, 2, -3, 0.5]
    r1 = np.zeros(8, Even)
    r1["n"] = np.arange(8)
    return r0, r1, np.zeros(4, np.float16), np.array([2, np.inf, np.nan, -1.5], np.float32)
