"""Seven points in three dimensions."""

import numpy as np

from pycu2c import cuda, float32, kernel

SIGNATURES = {
    "f32": (float32[:, :, ::1], float32[:, :, ::1]),
    "strided": (float32[:, :, :], float32[:, :, :]),
}


@kernel(block=(4, 4, 4))
def stencil3d(u, out):
    x, y, z = cuda.grid(3)
    depth, height, width = u.shape[0], u.shape[1], u.shape[2]
    if 0 < x < width - 1 and 0 < y < height - 1 and 0 < z < depth - 1:
        total = u[z - 1, y, x] + u[z + 1, y, x]
        total += u[z, y - 1, x] + u[z, y + 1, x]
        total += u[z, y, x - 1] + u[z, y, x + 1]
        out[z, y, x] = total / 6.0


def case(rng, variant):
    u = rng.random((7, 8, 11)).astype(np.float32)
    if variant == "strided":
        u = u[::-1, :, ::2]
    return (3, 2, 2), (4, 4, 4), (u, np.zeros(u.shape, np.float32))
