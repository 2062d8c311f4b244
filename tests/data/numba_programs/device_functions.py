"""Functions that call functions, tuples, globals, closures, a local array."""

import math

import numpy as np
from numba import cuda, float64, int32

SCALE, NAMES = 3, (2, 5, 7)


@cuda.jit(device=True, inline=True)
def polar(x, y):
    return math.sqrt(x * x + y * y), math.atan2(y, x)


@cuda.jit("float64(float64, float64)", device=True)
def distance(x, y):
    r, _ = polar(x, y)
    return r * SCALE


def power_of(n):
    @cuda.jit(device=True)
    def power(x):
        result = 1.0
        for _ in range(n):
            result *= x
        return result

    return power


cube = power_of(3)


@cuda.jit
def compute(xs, ys, out, counts):
    i = cuda.grid(1)
    stride = cuda.gridsize(1)
    mine = cuda.local.array(3, int32)
    for k in range(3):
        mine[k] = 0
    while i < xs.shape[0]:
        out[i] = distance(xs[i], ys[i]) + cube(xs[i])
        for k in range(len(NAMES)):
            if i % NAMES[k] == 0:
                mine[k] += 1
        i += stride
    for k in range(3):
        cuda.atomic.add(counts, k, mine[k])


n = 50
xs, ys = np.linspace(0, 1, n), np.linspace(2, 3, n)
out, counts = np.zeros(n), np.zeros(3, dtype=np.int32)
compute[2, 8](xs, ys, out, counts)
print(np.round(out, 9).tolist(), counts.tolist(), float64(2))
