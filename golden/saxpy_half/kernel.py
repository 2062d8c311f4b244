"""float16 and bfloat16: every operation rounds; the text says so by name."""

import ml_dtypes
import numpy as np

from pycu2c import bfloat16, cuda, float16, kernel

SIGNATURES = {
    "f16": (float16, float16[::1], float16[::1], float16[::1]),
    "bf16": (bfloat16, bfloat16[::1], bfloat16[::1], bfloat16[::1]),
}


@kernel
def saxpy_half(a, x, y, out):
    i = cuda.grid(1)
    if i < len(x):
        value = a * x[i] + y[i] / 3
        out[i] = -value if value < 0 else value


def case(rng, variant):
    dtype = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}[variant]
    x, y = ((rng.random(70) * 8 - 4).astype(dtype) for _ in range(2))
    return 2, 64, (dtype(1.5), x, y, np.zeros(70, dtype))
