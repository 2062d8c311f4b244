"""The kernels of benchmarks/hand_written in Python, as NumPy users write them."""

import math

import numpy as np

from pycu2c import cuda, device, kernel

TILE = 16
THREADS = 256
BINS = 256
WARP = 32
ALL = 0xFFFFFFFF  # every lane of a warp


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


@kernel
def shuffle_sum(out, x):
    part = cuda.shared.array(THREADS // WARP, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    total = x[i] if i < x.size else 0.0
    delta = WARP // 2
    while delta > 0:
        total += cuda.shfl_down_sync(ALL, total, delta)
        delta //= 2
    if t % WARP == 0:
        part[t // WARP] = total
    cuda.syncthreads()
    if t < WARP:
        total = part[t] if t < THREADS // WARP else 0.0
        delta = THREADS // WARP // 2
        while delta > 0:
            total += cuda.shfl_down_sync(ALL, total, delta)
            delta //= 2
        if t == 0:
            out[cuda.blockIdx.x] = total


@kernel
def block_scan(out, x):
    part = cuda.shared.array(THREADS, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    step = 1
    while step < THREADS:
        before = part[t - step] if t >= step else 0.0
        cuda.syncthreads()
        part[t] += before
        cuda.syncthreads()
        step *= 2
    if i < out.size:
        out[i] = part[t]


@kernel
def histogram(counts, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(counts, x[i], 1)


@kernel
def shared_histogram(counts, x):
    mine = cuda.shared.array(BINS, np.int32)
    t = cuda.threadIdx.x
    mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, t, mine[t])


@device
def normal_cdf(d):
    """Return the cumulative normal distribution, by the polynomial of Abramowitz and Stegun."""
    k = 1 / (1 + 0.2316419 * abs(d))
    tail = k * (
        0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    tail *= 0.3989422804014327 * math.exp(-0.5 * d * d)
    return 1 - tail if d > 0 else tail


@kernel
def black_scholes(call, put, price, strike, years, rate, volatility):
    i = cuda.grid(1)
    if i < call.size:
        p, s, t = price[i], strike[i], years[i]
        spread = volatility * math.sqrt(t)
        d = (math.log(p / s) + (rate + 0.5 * volatility * volatility) * t) / spread
        n1 = normal_cdf(d)
        n2 = normal_cdf(d - spread)
        discounted = s * math.exp(-rate * t)
        call[i] = p * n1 - discounted * n2
        put[i] = discounted * (1 - n2) - p * (1 - n1)


@kernel
def tiny(out, x, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i]
