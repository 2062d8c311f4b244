"""Random numbers without a state: what an element gets depends on its index and the seed."""

import numpy as np

from pycu2c import cuda, float32, kernel
from pycu2c.cuda.random import philox_uniform_float32

SIGNATURES = {"f32": (int, float32[::1])}


@kernel
def philox_noise(seed, out):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = philox_uniform_float32(seed, 0, i)


def case(rng, variant):
    return 3, 32, (42, np.zeros(90, np.float32))
