"""The kernels of benchmarks/hand in Python: the same algorithms, as a numpy person writes them."""

import math

import numpy as np

from pycu2c import cuda, kernel

TILE = 16
THREADS = 256


@kernel
def saxpy(out, x, y, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


@kernel
def stencil(out, a):
    j, i = cuda.grid(2)
    rows, columns = a.shape
    if i > 0 and i < rows - 1 and j > 0 and j < columns - 1:
        around = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]
        out[i, j] = a[i, j] + 0.1 * (around - 4 * a[i, j])


@kernel
def matmul(c, a, b):
    tile_a = cuda.shared.array((TILE, TILE), np.float32)
    tile_b = cuda.shared.array((TILE, TILE), np.float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    column = cuda.blockIdx.x * TILE + tx
    total = 0.0
    for step in range(a.shape[1] // TILE):
        tile_a[ty, tx] = a[row, step * TILE + tx]
        tile_b[ty, tx] = b[step * TILE + ty, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    c[row, column] = total


@kernel
def nbody(out, x, y, z, mass, softening):
    i = cuda.grid(1)
    if i >= x.size:
        return
    xi, yi, zi = x[i], y[i], z[i]
    ax = 0.0
    ay = 0.0
    az = 0.0
    for j in range(x.size):
        dx = x[j] - xi
        dy = y[j] - yi
        dz = z[j] - zi
        inverse = 1 / math.sqrt(dx * dx + dy * dy + dz * dz + softening)
        pull = mass[j] * inverse * inverse * inverse
        ax += pull * dx
        ay += pull * dy
        az += pull * dz
    out[i, 0] = ax
    out[i, 1] = ay
    out[i, 2] = az


@kernel
def block_sum(out, x):
    part = cuda.shared.array(THREADS, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@kernel
def mandelbrot(out, left, top, step, limit):
    j, i = cuda.grid(2)
    rows, columns = out.shape
    if i >= rows or j >= columns:
        return
    cr = left + step * j
    ci = top + step * i
    zr = 0.0
    zi = 0.0
    count = 0
    while count < limit and zr * zr + zi * zi < 4:
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        count += 1
    out[i, j] = count
