"""What a kernel prints, and that a device function prints too."""

import numpy as np

from pycu2c import cuda, device, float32, kernel

SIGNATURES = {"f32": (float32[::1], int)}


@device
def checked(x, i):
    if x < 0.0:
        print(f"thread {i}: {x:.3f} is negative")
        return 0.0
    return x


@kernel
def debug_print(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] = checked(a[i], i) * 2.0
        if i == 0:
            print("first:", a[i], (i, n))


def case(rng, variant):
    return 2, 32, ((rng.random(50) - 0.1).astype(np.float32), 50)
