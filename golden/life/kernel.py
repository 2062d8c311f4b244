"""Conway's game on a torus: % brings an index of -1 back to the far side."""

import numpy as np

from pycu2c import cuda, int32, kernel, uint8

SIGNATURES = {
    "u8": (uint8[:, ::1], uint8[:, ::1]),
    "i32": (int32[:, :], int32[:, :]),
}


@kernel(block=(8, 8))
def life(alive, following):
    x, y = cuda.grid(2)
    height, width = alive.shape[0], alive.shape[1]
    if x >= width or y >= height:
        return
    neighbours = 0
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            if dx == 0 and dy == 0:
                continue
            neighbours += alive[(y + dy) % height, (x + dx) % width]
    survives = neighbours == 3 or (neighbours == 2 and alive[y, x] == 1)
    following[y, x] = 1 if survives else 0


def case(rng, variant):
    dtype = {"u8": np.uint8, "i32": np.int32}[variant]
    alive = rng.integers(0, 2, (23, 18)).astype(dtype)
    return (3, 3), (8, 8), (alive, np.zeros_like(alive))
