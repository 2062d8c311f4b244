"""Random numbers without a state: what an element gets depends on its index and the seed."""

import numpy as np

from pycu2c import cuda, float32, kernel
from pycu2c.cuda.random import philox_normal_float32x4

SIGNATURES = {"f32": (int, float32[::1])}


@kernel
def philox_noise(seed, out):
    i = cuda.grid(1)
    if 4 * i < len(out):
        for k, z in enumerate(philox_normal_float32x4(seed, 0, i)):
            out[4 * i + k] = z


def case(rng, variant):
    return 3, 32, (42, np.zeros(360, np.float32))
