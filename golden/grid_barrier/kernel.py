"""Rounds of smoothing over the whole grid, with a barrier of all threads between them."""

import numpy as np

from pycu2c import cuda, kernel


@kernel
def grid_barrier(a, b, rounds):
    i = cuda.grid(1)
    n = len(a)
    grid = cuda.cg.this_grid()
    for _ in range(rounds):
        if i < n:
            b[i] = (a[i - 1] + a[(i + 1) % n]) / 2
        grid.sync()
        if i < n:
            a[i] = b[i]
        grid.sync()


SIGNATURES = {"f32": "void(float32[::1], float32[::1], int32)"}


def case(rng, variant):
    data = rng.normal(size=100).astype(np.float32)
    return 4, 32, [data, np.zeros_like(data), 3]
