"""From one view into another: every access goes through the strides."""

import numpy as np

from pycu2c import cuda, float32, int16, kernel

SIGNATURES = {
    "f32": (float32[:, :], float32[:, :]),
    "i16": (int16[:, :], int16[:, :]),
}


@kernel
def strided_copy(source, target):
    x, y = cuda.grid(2)
    if x < target.shape[1] and y < target.shape[0]:
        target[y, x] = source[y, x]


def case(rng, variant):
    dtype = {"f32": np.float32, "i16": np.int16}[variant]
    source = rng.integers(0, 1000, (40, 45)).astype(dtype)[1::2, ::3]
    target = np.zeros((30, 20), dtype).T[:, ::2][: source.shape[0], : source.shape[1]]
    return (2, 3), (8, 8), (source, target)
