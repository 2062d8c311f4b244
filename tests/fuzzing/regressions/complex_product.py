"""gcc fused the product of complex numbers although contraction was off; C has no unary plus."""

import numpy as np

from pycu2c import cuda, kernel


@kernel
def fuzzed(z, o0, o1):
    i = cuda.grid(1)
    o0[i] *= z[i]
    o1[i] = +z[i]


GRID, BLOCK = (1, 1, 1), (32, 1, 1)
APPROXIMATE = []


def arguments():
    rng = np.random.default_rng(5)
    parts = rng.uniform(-10, 10, (4, 32))
    return parts[0] + 1j * parts[1], parts[2] + 1j * parts[3], np.zeros(32, np.complex64)
