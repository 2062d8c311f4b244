"""Vectors: one load and one store of 128 bits for four numbers, and one component changed."""

import numpy as np

from pycu2c import cuda, double4, float4, float32, float64, kernel, uchar4, uint8

SIGNATURES = {
    "f32": (float4[::1], float4[::1], float32),
    "f64": (double4[::1], double4[::1], float64),
    "u8": (uchar4[::1], uchar4[::1], uint8),
}


@kernel
def vector_copy(source, target, gain):
    i = cuda.grid(1)
    if i < len(source):
        v = source[i]
        v.w *= gain
        target[i] = v


def case(rng, variant):
    kind = {"f32": float4, "f64": double4, "u8": uchar4}[variant].numpy
    data = rng.integers(0, 255, (70, 4)).astype(kind[0]).view(kind).ravel()
    return 2, 64, (data, np.zeros(70, kind), kind[0].type(3))
