"""A stencil in many launches, arrays that stay on the device, a two-dimensional grid."""

import numpy as np
from numba import cuda


@cuda.jit
def step(now, after, k):
    i, j = cuda.grid(2)
    n, m = now.shape
    if 0 < i < n - 1 and 0 < j < m - 1:
        around = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1]
        after[i, j] = now[i, j] + k * (around - 4 * now[i, j])
    elif i < n and j < m:
        after[i, j] = now[i, j]


plate = np.zeros((12, 10))
plate[0] = 100
now, after = cuda.to_device(plate), cuda.device_array_like(plate)
threads = (4, 4)
blocks = tuple((extent + side - 1) // side for extent, side in zip(plate.shape, threads))
for _ in range(20):
    step[blocks, threads](now, after, 0.2)
    now, after = after, now
print(np.round(now.copy_to_host(), 9).tolist())
