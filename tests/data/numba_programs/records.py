"""Structured arrays, complex numbers, several dtypes by one kernel."""

import numpy as np
from numba import cuda

particle = np.dtype([("x", "f8"), ("v", "f8"), ("hits", "i4")], align=True)


@cuda.jit
def move(particles, dt):
    i = cuda.grid(1)
    if i < particles.size:
        particles[i]["x"] += particles[i]["v"] * dt
        if particles[i].x > 1:
            particles[i].v = -particles[i].v
            particles[i].hits += 1


@cuda.jit
def escapes(out, limit):
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        c = complex(-2 + 3 * x / out.shape[1], -1 + 2 * y / out.shape[0])
        z, n = 0j, 0
        while n < limit and z.real * z.real + z.imag * z.imag < 4:
            z = z * z + c
            n += 1
        out[y, x] = n


@cuda.jit
def doubled(a):
    i = cuda.grid(1)
    if i < len(a):
        a[i] = a[i] * 2


particles = np.zeros(5, dtype=particle)
particles["v"] = np.arange(5) * 0.5
for _ in range(3):
    move[1, 8](particles, 0.5)
print(particles.tolist())
picture = np.zeros((6, 12), dtype=np.uint8)
escapes[(2, 1), (8, 8)](picture, 30)
print(picture.tolist())
for dtype in (np.int8, np.uint32, np.float32, np.float64, np.complex64):
    a = np.arange(5).astype(dtype)
    doubled[1, 8](a)
    print(a.dtype, a.tolist())
