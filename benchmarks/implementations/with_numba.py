"""The kernels as parallel loops of numba.

numba's CPU compiler has no blocks of threads, so kernels of blocks are loops over the blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
from numba import njit, prange

from implementations import Prepared, Task
from problems import BINS, THREADS


def prepare(task: Task, option: str) -> Prepared | None:
    function = KERNELS.get(task.case.kernel)
    fastmath = option == "fastmath"
    if function is None or (task.case.fastmath and not fastmath):
        return None
    if task.case.name == "tiny":
        compiled = njit(fastmath=fastmath)(function)  # a parallel loop would be slower
    else:
        compiled = njit(parallel=True, fastmath=fastmath)(function)
    return Prepared(partial(compiled, *task.problem.arrays, *task.problem.numbers))


def saxpy(out, x, y, a):
    for i in prange(out.size):
        out[i] = a * x[i] + y[i]


def stencil(out, a):
    rows, columns = a.shape
    for i in prange(1, rows - 1):
        for j in range(1, columns - 1):
            around = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]
            out[i, j] = a[i, j] + np.float32(0.1) * (around - np.float32(4) * a[i, j])


def mandelbrot(out, left, top, step, limit):
    rows, columns = out.shape
    for i in prange(rows):
        ci = top + step * np.float32(i)
        for j in range(columns):
            cr = left + step * np.float32(j)
            zr = np.float32(0)
            zi = np.float32(0)
            count = 0
            while count < limit and zr * zr + zi * zi < np.float32(4):
                zr, zi = zr * zr - zi * zi + cr, np.float32(2) * zr * zi + ci
                count += 1
            out[i, j] = count


def nbody(out, x, y, z, mass, softening):
    for i in prange(x.size):
        ax = np.float32(0)
        ay = np.float32(0)
        az = np.float32(0)
        for j in range(x.size):
            dx = x[j] - x[i]
            dy = y[j] - y[i]
            dz = z[j] - z[i]
            inverse = np.float32(1) / math.sqrt(dx * dx + dy * dy + dz * dz + softening)
            pull = mass[j] * inverse * inverse * inverse
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        out[i, 0] = ax
        out[i, 1] = ay
        out[i, 2] = az


def matmul(c, a, b):
    for i in prange(a.shape[0]):
        c[i, :] = np.float32(0)
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def block_sum(out, x):
    for block in prange(out.size):
        total = np.float32(0)
        for i in range(block * THREADS, (block + 1) * THREADS):
            total += x[i]
        out[block] = total


def block_scan(out, x):
    for block in prange(out.size // THREADS):
        total = np.float32(0)
        for i in range(block * THREADS, (block + 1) * THREADS):
            total += x[i]
            out[i] = total


def histogram(counts, x):
    threads = numba.get_num_threads()
    mine = np.zeros((threads, BINS), np.int32)
    for thread in prange(threads):
        for i in range(x.size * thread // threads, x.size * (thread + 1) // threads):
            mine[thread, x[i]] += 1
    counts += mine.sum(axis=0).astype(np.int32)


@njit(inline="always")
def normal_cdf(d):
    one = np.float32(1)
    k = one / (one + np.float32(0.2316419) * abs(d))
    tail = np.float32(-1.821255978) + k * np.float32(1.330274429)
    tail = np.float32(-0.356563782) + k * (np.float32(1.781477937) + k * tail)
    tail = k * (np.float32(0.31938153) + k * tail)
    tail *= np.float32(0.3989422804014327) * math.exp(np.float32(-0.5) * d * d)
    return one - tail if d > np.float32(0) else tail


def black_scholes(call, put, price, strike, years, rate, volatility):
    one = np.float32(1)
    for i in prange(call.size):
        p, s, t = price[i], strike[i], years[i]
        spread = volatility * math.sqrt(t)
        drift = rate + np.float32(0.5) * volatility * volatility
        d = (math.log(p / s) + drift * t) / spread
        n1 = normal_cdf(d)
        n2 = normal_cdf(d - spread)
        discounted = s * math.exp(-rate * t)
        call[i] = p * n1 - discounted * n2
        put[i] = discounted * (one - n2) - p * (one - n1)


def tiny(out, x, a):
    for i in range(out.size):
        out[i] = a * x[i]


KERNELS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        saxpy, stencil, mandelbrot, nbody, matmul, block_sum, block_scan, histogram,
        black_scholes, tiny,
    )
}  # fmt: skip
