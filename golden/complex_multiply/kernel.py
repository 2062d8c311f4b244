"""Complex numbers by parts: device functions called at two dtypes make two C functions."""

import numpy as np

from pycu2c import cuda, device, float32, float64, kernel

SIGNATURES = {
    "f32": (float32[:, ::1], float32[:, ::1], float32[:, ::1]),
    "mixed": (float32[:, ::1], float64[:, ::1], float64[:, ::1]),
}


@device
def real_part(ar, ai, br, bi):
    return ar * br - ai * bi


@device
def imaginary_part(ar, ai, br, bi):
    return ar * bi + ai * br


@device
def squared_length(re, im):
    return real_part(re, im, re, -im)


@kernel
def complex_multiply(a, b, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        re = real_part(a[i, 0], a[i, 1], b[i, 0], b[i, 1])
        im = imaginary_part(a[i, 0], a[i, 1], b[i, 0], b[i, 1])
        out[i, 0] = re
        out[i, 1] = im
        out[i, 2] = squared_length(re, im) - squared_length(a[i, 0], a[i, 1])


def case(rng, variant):
    wide = np.float64 if variant == "mixed" else np.float32
    a = rng.random((40, 2)).astype(np.float32)
    b = rng.random((40, 2)).astype(wide)
    return 2, 32, (a, b, np.zeros((40, 3), wide))
