"""Time kernels that JAX and TVM-FFI call, on the CPU: needs the extra ``frameworks``.

usage: python benchmarks/frameworks.py

A jitted step with ``pycu2c.jax.ffi`` beside the same step written with ``jax.numpy``, the first
trace, and a call of one thread through each binding of a library.
"""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import tvm_ffi

import pycu2c.jax
from library_calls import build
from pycu2c import cuda, float32, kernel


@kernel
def stencil(a: float32[:, ::1], out: float32[:, ::1], weight: float32):
    x, y = cuda.grid(2)
    height, width = a.shape
    if x >= width or y >= height:
        return
    result = a[y, x]
    if 0 < x < width - 1 and 0 < y < height - 1:
        neighbours = a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x]
        result += weight * (neighbours - 4 * a[y, x])
    out[y, x] = result


def jax_stencil(a: Any, weight: float) -> Any:
    inner = a[1:-1, 1:-1]
    neighbours = a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1]
    return a.at[1:-1, 1:-1].set(inner + weight * (neighbours - 4 * inner))


@kernel
def black_scholes(price, strike, years, rate: float, volatility: float, result):
    i = cuda.grid(1)
    if i < len(price):
        deviation = volatility * math.sqrt(years[i])
        drift = (rate + volatility * volatility / 2) * years[i]
        d1 = (math.log(price[i] / strike[i]) + drift) / deviation
        discounted = strike[i] * math.exp(-rate * years[i])
        second = math.erfc((deviation - d1) * 0.7071067811865476)
        result[i] = (price[i] * math.erfc(-d1 * 0.7071067811865476) - discounted * second) / 2


def jax_black_scholes(price: Any, strike: Any, years: Any, rate: float, volatility: float) -> Any:
    deviation = volatility * jnp.sqrt(years)
    drift = (rate + volatility * volatility / 2) * years
    d1 = (jnp.log(price / strike) + drift) / deviation
    discounted = strike * jnp.exp(-rate * years)
    first, second = (jax.lax.erfc(d * 0.7071067811865476) for d in (-d1, deviation - d1))
    return (price * first - discounted * second) / 2


def microseconds(call: Callable[[], Any]) -> float:
    """Return the median time of a call."""
    number, _ = timeit.Timer(call).autorange()
    return statistics.median(timeit.repeat(call, number=number, repeat=7)) / number * 1e6


def compare(name: str, ours: Callable[..., Any], other: Callable[..., Any], *arrays: Any) -> None:
    start = time.perf_counter()
    first, second = jax.jit(ours), jax.jit(other)
    result = jax.block_until_ready(first(*arrays))
    traced = time.perf_counter() - start
    np.testing.assert_allclose(result, second(*arrays), rtol=2e-4, atol=2e-5)
    times = [microseconds(lambda f=f: jax.block_until_ready(f(*arrays))) for f in (first, second)]
    print(f"{name}: {times[0]:.0f} µs, jax.numpy {times[1]:.0f} µs; first call {traced:.2f} s")


def main() -> None:
    def image_grid(a: Any, weight: float) -> tuple[int, int]:
        return -(-a.shape[1] // 32), -(-a.shape[0] // 8)

    smooth = pycu2c.jax.ffi(stencil, grid=image_grid, block=(32, 8))
    price = pycu2c.jax.ffi(black_scholes, grid=lambda x, *_: -(-x.size // 256), block=256)
    random = np.random.default_rng(1)
    for size in (64, 1024, 4096):
        image = jnp.asarray(random.random((size, size), np.float32))
        name = f"stencil {size}x{size}"
        compare(name, lambda a: smooth(a, 0.2), lambda a: jax_stencil(a, 0.2), image)
    for count in (1000, 1 << 20):
        arrays = [jnp.asarray(random.uniform(0.5, 1.5, count), np.float32) for _ in range(3)]
        compare(
            f"black_scholes {count}",
            lambda *a: price(*a, 0.02, 0.3),
            lambda *a: jax_black_scholes(*a, 0.02, 0.3),
            *arrays,
        )
    call_library()


def call_library() -> None:
    """Time calls of one thread through the bindings of a library."""
    with tempfile.TemporaryDirectory() as temporary:
        build(Path(temporary), "cpu", "--bindings", "python,tvm-ffi")
        sys.path.append(f"{temporary}/python")
        import scaling  # type: ignore[import-not-found]

        functions = tvm_ffi.load_module(f"{temporary}/lib/libscaling_tvm_ffi.so")
        x = np.ones(1, np.float32)
        tensor = tvm_ffi.from_dlpack(x)
        calls = {
            "TVM-FFI, arrays of NumPy": lambda: functions.scale(x, 1.0, 1, 1),
            "TVM-FFI, its tensors": lambda: functions.scale(tensor, 1.0, 1, 1),
            "the Python package, ctypes": lambda: scaling.scale(x, 1.0, grid=1, block=1),
        }
        for name, call in calls.items():
            print(f"call through {name}: {microseconds(call):.2f} µs")


if __name__ == "__main__":
    main()
