"""Classification for marching cubes: the case of each cell and its number of vertices.

One thread for each cell. ``table`` has the number of edges that the surface cuts, by case.
"""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel

CORNERS = ((0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0))


@kernel
def marching_cubes(volume, level, table, cases, counts):
    k, j, i = cuda.grid(3)
    if i < cases.shape[0] and j < cases.shape[1] and k < cases.shape[2]:
        case = 0
        if volume[i, j, k] < level:
            case |= 1
        if volume[i, j, k + 1] < level:
            case |= 2
        if volume[i, j + 1, k + 1] < level:
            case |= 4
        if volume[i, j + 1, k] < level:
            case |= 8
        if volume[i + 1, j, k] < level:
            case |= 16
        if volume[i + 1, j, k + 1] < level:
            case |= 32
        if volume[i + 1, j + 1, k + 1] < level:
            case |= 64
        if volume[i + 1, j + 1, k] < level:
            case |= 128
        cases[i, j, k] = case
        counts[i, j, k] = table[case]


def cut_edges(case: int) -> int:
    pairs = ((a, b) for a in range(8) for b in range(a))
    edges = [(a, b) for a, b in pairs if np.abs(np.subtract(CORNERS[a], CORNERS[b])).sum() == 1]
    return sum((case >> a & 1) != (case >> b & 1) for a, b in edges)


def problem(scale: int) -> Problem:
    nz, ny, nx = 128 * scale, 128, 128
    z, y, x = np.meshgrid(*(np.arange(n + 1) / 9 for n in (nz, ny, nx)), indexing="ij", sparse=True)
    volume = (np.sin(x) * np.cos(y) + np.sin(y) * np.cos(z) + np.sin(z) * np.cos(x)).astype("f4")
    table = np.array([cut_edges(case) for case in range(256)], np.uint8)
    out = [np.zeros((nz, ny, nx), np.uint8) for _ in range(2)]
    arguments = volume, np.float32(0.1), table, *out
    grid = blocks(nx, 32), blocks(ny, 4), blocks(nz, 2)
    return Problem(arguments, grid, (32, 4, 2), results=(3, 4), tolerance=0)
