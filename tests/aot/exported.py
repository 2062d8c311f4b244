"""The kernels of the tests of built libraries: a stencil, a reduction, and option prices."""

from __future__ import annotations

import math

from pycu2c import cuda, device, float32, float64, int32, kernel

WIDTH = 128


@kernel(block=(16, 8))
def stencil(a: float32[:, ::1], out: float32[:, ::1], weight: float32):
    """Average each element with its four neighbours; the border is copied."""
    x, y = cuda.grid(2)
    height, width = a.shape
    if x >= width or y >= height:
        return
    result = a[y, x]
    if 0 < x < width - 1 and 0 < y < height - 1:
        neighbours = a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x]
        result += weight * (neighbours - 4 * a[y, x])
    out[y, x] = result


@kernel(block=WIDTH)
def block_sums(a: float64[:], sums: float64[::1], first: int32):
    """Sum the elements of each block of 128, from the index ``first`` on."""
    tile = cuda.shared.array(WIDTH, float64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = a[i] if first <= i < len(a) else 0
    cuda.syncthreads()
    step = WIDTH // 2
    while step > 0:
        if t < step:
            tile[t] += tile[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = tile[0]


@device
def normal(x):
    """Return the standard normal distribution function."""
    return 0.5 * math.erfc(-x * 0.7071067811865476)


@kernel(
    [
        "float32[::1], float32[::1], float32[::1], float32, float32, float32[::1], bool",
        "float64[::1], float64[::1], float64[::1], float64, float64, float64[::1], bool",
    ]
)
def black_scholes(price, strike, years, rate, volatility, result, is_put):
    """Compute the prices of European options."""
    i = cuda.grid(1)
    if i < len(price):
        deviation = volatility * math.sqrt(years[i])
        d1 = (
            math.log(price[i] / strike[i]) + (rate + volatility * volatility / 2) * years[i]
        ) / deviation
        discounted = strike[i] * math.exp(-rate * years[i])
        call = price[i] * normal(d1) - discounted * normal(d1 - deviation)
        result[i] = call - price[i] + discounted if is_put else call
