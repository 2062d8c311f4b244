"""A loop whose step is the size of the grid: any grid does all the work."""

import numpy as np

from pycu2c import cuda, float32, kernel

SIGNATURES = {
    "f32": (float32[::1], float32[::1], float32),
    "strided": (float32[:], float32[:], float32),
}


@kernel
def grid_stride(data, out, offset):
    for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
        out[i] = data[i] * data[i] + offset


def case(rng, variant):
    data = rng.random(500).astype(np.float32)
    if variant == "strided":
        data = data[::3]
    return 2, 32, (data, np.zeros(data.size, np.float32), np.float32(0.5))
