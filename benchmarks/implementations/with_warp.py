"""The kernels in Warp.

Its CPU backend runs threads one after another, so kernels of blocks have one thread per block.
"""

# no "from __future__ import annotations": Warp reads the types of parameters as objects
from typing import Any

import warp as wp

import problems
from implementations import Prepared, Task

wp.config.quiet = True
wp.config.enable_backward = False
wp.init()

f32 = wp.float32
Line = wp.array(dtype=wp.float32)
Plane = wp.array2d(dtype=wp.float32)
Counts = wp.array(dtype=wp.int32)
Image = wp.array2d(dtype=wp.int32)
Bytes = wp.array(dtype=wp.uint8)
THREADS = wp.constant(problems.THREADS)


def prepare(task: Task, _: str) -> Prepared | None:
    kernel = KERNELS.get(task.case.kernel)
    if kernel is None or task.case.fastmath:
        return None
    problem, name = task.problem, task.case.kernel
    arrays = [wp.array(array, device="cpu", copy=False) for array in problem.arrays]
    inputs = [*arrays, *problem.numbers]
    dim: Any = problem.arrays[0].shape
    if name == "nbody":
        dim = task.size
    elif name == "block_scan":
        dim = task.size // problems.THREADS
    elif name == "histogram":
        dim = task.size
    return Prepared(lambda: wp.launch(kernel, dim=dim, inputs=inputs, device="cpu"))


@wp.kernel
def saxpy(out: Line, x: Line, y: Line, a: f32):
    i = wp.tid()
    out[i] = a * x[i] + y[i]


@wp.kernel
def stencil(out: Plane, a: Plane):
    i, j = wp.tid()
    if i > 0 and i < a.shape[0] - 1 and j > 0 and j < a.shape[1] - 1:
        around = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]
        out[i, j] = a[i, j] + 0.1 * (around - 4.0 * a[i, j])


@wp.kernel
def mandelbrot(out: Image, left: f32, top: f32, step: f32, limit: wp.int32):
    i, j = wp.tid()
    cr = left + step * float(j)
    ci = top + step * float(i)
    zr = f32(0.0)
    zi = f32(0.0)
    count = wp.int32(0)
    while count < limit and zr * zr + zi * zi < 4.0:
        next = zr * zr - zi * zi + cr
        zi = 2.0 * zr * zi + ci
        zr = next
        count += 1
    out[i, j] = count


@wp.kernel
def nbody(out: Plane, x: Line, y: Line, z: Line, mass: Line, softening: f32):
    i = wp.tid()
    ax = f32(0.0)
    ay = f32(0.0)
    az = f32(0.0)
    for j in range(x.shape[0]):
        dx = x[j] - x[i]
        dy = y[j] - y[i]
        dz = z[j] - z[i]
        inverse = 1.0 / wp.sqrt(dx * dx + dy * dy + dz * dz + softening)
        pull = mass[j] * inverse * inverse * inverse
        ax += pull * dx
        ay += pull * dy
        az += pull * dz
    out[i, 0] = ax
    out[i, 1] = ay
    out[i, 2] = az


@wp.kernel
def matmul(c: Plane, a: Plane, b: Plane):
    i, j = wp.tid()
    total = f32(0.0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total


@wp.kernel
def block_sum(out: Line, x: Line):
    block = wp.tid()
    total = f32(0.0)
    for t in range(THREADS):
        total += x[block * THREADS + t]
    out[block] = total


@wp.kernel
def block_scan(out: Line, x: Line):
    block = wp.tid()
    total = f32(0.0)
    for t in range(THREADS):
        total += x[block * THREADS + t]
        out[block * THREADS + t] = total


@wp.kernel
def histogram(counts: Counts, x: Bytes):
    i = wp.tid()
    wp.atomic_add(counts, int(x[i]), 1)


@wp.func
def normal_cdf(d: f32):
    k = 1.0 / (1.0 + 0.2316419 * wp.abs(d))
    tail = -0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))
    tail = k * (0.31938153 + k * tail)
    tail = tail * 0.3989422804014327 * wp.exp(-0.5 * d * d)
    if d > 0.0:
        tail = 1.0 - tail
    return tail


@wp.kernel
def black_scholes(
    call: Line, put: Line, price: Line, strike: Line, years: Line, rate: f32, volatility: f32
):
    i = wp.tid()
    p = price[i]
    s = strike[i]
    t = years[i]
    spread = volatility * wp.sqrt(t)
    d = (wp.log(p / s) + (rate + 0.5 * volatility * volatility) * t) / spread
    n1 = normal_cdf(d)
    n2 = normal_cdf(d - spread)
    discounted = s * wp.exp(-rate * t)
    call[i] = p * n1 - discounted * n2
    put[i] = discounted * (1.0 - n2) - p * (1.0 - n1)


@wp.kernel
def tiny(out: Line, x: Line, a: f32):
    i = wp.tid()
    out[i] = a * x[i]


KERNELS = {
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
