"""The kernels in Taichi.

Its CPU backend has no blocks of threads, so kernels of blocks are loops over the blocks.
"""

# no "from __future__ import annotations": Taichi reads the types of parameters as objects
from collections.abc import Callable
from functools import partial
from typing import Any

import taichi as ti

from implementations import Prepared, Task
from problems import THREADS

ti.init(arch=ti.cpu, log_level=ti.WARN, offline_cache=False)

f32 = ti.f32
Line = ti.types.ndarray(dtype=ti.f32, ndim=1)
Plane = ti.types.ndarray(dtype=ti.f32, ndim=2)
Counts = ti.types.ndarray(dtype=ti.i32, ndim=1)
Image = ti.types.ndarray(dtype=ti.i32, ndim=2)
Bytes = ti.types.ndarray(dtype=ti.u8, ndim=1)


def prepare(task: Task, _: str) -> Prepared | None:
    function = KERNELS.get(task.case.kernel)
    if function is None or task.case.fastmath:  # Taichi's own default is fast
        return None
    return Prepared(partial(function, *task.problem.arrays, *task.problem.numbers))


@ti.kernel
def saxpy(out: Line, x: Line, y: Line, a: f32):
    for i in range(out.shape[0]):
        out[i] = a * x[i] + y[i]


@ti.kernel
def stencil(out: Plane, a: Plane):
    for i, j in ti.ndrange((1, a.shape[0] - 1), (1, a.shape[1] - 1)):
        around = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]
        out[i, j] = a[i, j] + 0.1 * (around - 4 * a[i, j])


@ti.kernel
def mandelbrot(out: Image, left: f32, top: f32, step: f32, limit: ti.i32):
    for i, j in ti.ndrange(out.shape[0], out.shape[1]):
        cr = left + step * j
        ci = top + step * i
        zr = 0.0
        zi = 0.0
        count = 0
        while count < limit and zr * zr + zi * zi < 4:
            zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
            count += 1
        out[i, j] = count


@ti.kernel
def nbody(out: Plane, x: Line, y: Line, z: Line, mass: Line, softening: f32):
    for i in range(x.shape[0]):
        ax = 0.0
        ay = 0.0
        az = 0.0
        for j in range(x.shape[0]):
            dx = x[j] - x[i]
            dy = y[j] - y[i]
            dz = z[j] - z[i]
            inverse = 1 / ti.sqrt(dx * dx + dy * dy + dz * dz + softening)
            pull = mass[j] * inverse * inverse * inverse
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        out[i, 0] = ax
        out[i, 1] = ay
        out[i, 2] = az


@ti.kernel
def matmul(c: Plane, a: Plane, b: Plane):
    for i, j in ti.ndrange(a.shape[0], b.shape[1]):
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@ti.kernel
def block_sum(out: Line, x: Line):
    for block in range(out.shape[0]):
        total = 0.0
        for i in range(block * THREADS, (block + 1) * THREADS):
            total += x[i]
        out[block] = total


@ti.kernel
def block_scan(out: Line, x: Line):
    for block in range(out.shape[0] // THREADS):
        total = 0.0
        for i in range(block * THREADS, (block + 1) * THREADS):
            total += x[i]
            out[i] = total


@ti.kernel
def histogram(counts: Counts, x: Bytes):
    for i in range(x.shape[0]):
        ti.atomic_add(counts[ti.cast(x[i], ti.i32)], 1)


@ti.func
def normal_cdf(d):
    k = 1 / (1 + 0.2316419 * ti.abs(d))
    tail = -0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))
    tail = k * (0.31938153 + k * tail)
    tail *= 0.3989422804014327 * ti.exp(-0.5 * d * d)
    return ti.select(d > 0, 1 - tail, tail)


@ti.kernel
def black_scholes(
    call: Line, put: Line, price: Line, strike: Line, years: Line, rate: f32, volatility: f32
):
    for i in range(call.shape[0]):
        p, s, t = price[i], strike[i], years[i]
        spread = volatility * ti.sqrt(t)
        d = (ti.log(p / s) + (rate + 0.5 * volatility * volatility) * t) / spread
        n1 = normal_cdf(d)
        n2 = normal_cdf(d - spread)
        discounted = s * ti.exp(-rate * t)
        call[i] = p * n1 - discounted * n2
        put[i] = discounted * (1 - n2) - p * (1 - n1)


@ti.kernel
def tiny(out: Line, x: Line, a: f32):
    for i in range(out.shape[0]):
        out[i] = a * x[i]


KERNELS: dict[str, Callable[..., Any]] = {
    "saxpy": saxpy,
    "stencil": stencil,
    "mandelbrot": mandelbrot,
    "nbody": nbody,
    "matmul": matmul,
    "block_sum": block_sum,
    "block_scan": block_scan,
    "histogram": histogram,
    "black_scholes": black_scholes,
    "tiny": tiny,
}
