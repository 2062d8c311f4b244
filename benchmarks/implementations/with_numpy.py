"""The kernels in numpy, without temporary arrays where this is simple."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from implementations import Prepared, Task
from problems import THREADS, normal_cdf


def prepare(task: Task, _: str) -> Prepared | None:
    function = KERNELS.get(task.case.kernel)
    if function is None or task.case.fastmath:
        return None
    return Prepared(partial(function, *task.problem.arrays, *task.problem.numbers))


def saxpy(out: np.ndarray, x: np.ndarray, y: np.ndarray, a: Any) -> None:
    np.multiply(x, a, out=out)
    out += y


def stencil(out: np.ndarray, a: np.ndarray) -> None:
    around = a[:-2, 1:-1] + a[2:, 1:-1]
    around += a[1:-1, :-2]
    around += a[1:-1, 2:]
    here = a[1:-1, 1:-1]
    around -= 4 * here
    around *= np.float32(0.1)
    np.add(around, here, out=out[1:-1, 1:-1])


def mandelbrot(out: np.ndarray, left: Any, top: Any, step: Any, limit: int) -> None:
    rows, columns = out.shape
    real = left + step * np.arange(columns, dtype=np.float32)
    imaginary = top + step * np.arange(rows, dtype=np.float32)
    c = (real + np.complex64(1j) * imaginary[:, None]).reshape(-1)
    z, inside = np.zeros_like(c), np.arange(c.size)
    counts = out.reshape(-1)
    counts[:] = limit
    for count in range(limit):
        gone = z.real * z.real + z.imag * z.imag >= 4
        counts[inside[gone]] = count
        z, c, inside = z[~gone], c[~gone], inside[~gone]
        z *= z
        z += c


def nbody(out: np.ndarray, x: Any, y: Any, z: Any, mass: Any, softening: Any) -> None:
    for first in range(0, x.size, 64):  # an array of all pairs would take gigabytes
        some = slice(first, first + 64)
        dx, dy, dz = (p - p[some, None] for p in (x, y, z))
        inverse = 1 / np.sqrt(dx * dx + dy * dy + dz * dz + softening)
        pull = mass * inverse * inverse * inverse
        for axis, d in enumerate((dx, dy, dz)):
            out[some, axis] = (pull * d).sum(axis=1)


def matmul(c: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    np.matmul(a, b, out=c)  # BLAS


def block_sum(out: np.ndarray, x: np.ndarray) -> None:
    np.sum(x.reshape(-1, THREADS), axis=1, out=out)


def block_scan(out: np.ndarray, x: np.ndarray) -> None:
    np.cumsum(x.reshape(-1, THREADS), axis=1, out=out.reshape(-1, THREADS))


def histogram(counts: np.ndarray, x: np.ndarray) -> None:
    counts += np.bincount(x, minlength=counts.size)


def black_scholes(
    call: np.ndarray, put: np.ndarray, p: Any, s: Any, t: Any, rate: Any, volatility: Any
) -> None:
    spread = volatility * np.sqrt(t)
    d = (np.log(p / s) + (rate + np.float32(0.5) * volatility * volatility) * t) / spread
    n1, n2, discounted = normal_cdf(d), normal_cdf(d - spread), s * np.exp(-rate * t)
    np.subtract(p * n1, discounted * n2, out=call)
    np.subtract(discounted * (1 - n2), p * (1 - n1), out=put)


def tiny(out: np.ndarray, x: np.ndarray, a: Any) -> None:
    np.multiply(x, a, out=out)


KERNELS: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (
        saxpy, stencil, mandelbrot, nbody, matmul, block_sum, block_scan, histogram,
        black_scholes, tiny,
    )
}  # fmt: skip
