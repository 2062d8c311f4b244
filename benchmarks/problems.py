"""The problems of the benchmarks: inputs of any size, and the expected results.

All implementations receive the same arrays. Their results are compared with results that numpy
computes in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

THREADS = 256  # block size of the kernels with shared memory
BINS = 256
RATE, VOLATILITY = np.float32(0.02), np.float32(0.30)
SOFTENING = np.float32(1e-3)
LIMIT = 200  # iterations of mandelbrot
_EMPTY = np.float32(np.nan)  # the initial value of results, which no kernel computes

Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Problem:
    """Arguments of a kernel. The first ``written`` arrays are results.

    ``sizes`` are parameters of hand-written C; kernels in Python read them from the arrays.
    ``expected`` returns NaN for elements that it does not compute.
    ``agreement`` is the share of elements that must be close.
    """

    arrays: Arrays
    numbers: tuple[Any, ...]
    sizes: tuple[int, ...]
    expected: Callable[[], Sequence[np.ndarray]]
    written: int = 1
    relative: float = 1e-5
    absolute: float = 1e-6
    agreement: float = 1.0

    @property
    def results(self) -> Arrays:
        return self.arrays[: self.written]

    def disagreement(self) -> str:
        """Describe how results differ from the expected ones; empty if they agree."""
        for got, expected in zip(self.results, self.expected(), strict=True):
            known = ~np.isnan(expected)
            share = self.share_of_close(got[known], expected[known])
            if not share >= self.agreement:
                return f"only {share:.2%} of the results agree"
        return ""

    def share_of_close(self, got: np.ndarray, expected: np.ndarray) -> float:
        return float(np.mean(np.isclose(got, expected, self.relative, self.absolute)))


def uniform(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).random(shape, dtype=np.float32)


def between(low: float, high: float, count: int, seed: int) -> np.ndarray:
    return np.float32(low) + np.float32(high - low) * uniform(count, seed=seed)


def empty(*shape: int) -> np.ndarray:
    return np.full(shape, _EMPTY, np.float32)


def saxpy(n: int) -> Problem:
    x, y, a = uniform(n), uniform(n, seed=2), np.float32(2.5)
    return Problem((empty(n), x, y), (a,), (n,), lambda: [a * x.astype(np.float64) + y])


def heat(n: int) -> Problem:
    a = uniform(n, n)

    def expected() -> list[np.ndarray]:
        out, b = np.zeros((n, n)), a.astype(np.float64)
        around = b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:]
        out[1:-1, 1:-1] = b[1:-1, 1:-1] + 0.1 * (around - 4 * b[1:-1, 1:-1])
        return [out]

    return Problem((np.zeros((n, n), np.float32), a), (), (n, n), expected)


def mandelbrot(n: int) -> Problem:
    left, top, step = np.float32(-2.0), np.float32(-1.25), np.float32(2.5 / n)
    out = np.full((n, n), -1, np.int32)
    sample = np.arange(0, n, max(1, n // 64))  # rows; numpy would take seconds for all

    def expected() -> list[np.ndarray]:
        c = (left + step * np.arange(n) + 1j * (top + step * sample)[:, None]).reshape(-1)
        z, counts, inside = np.zeros_like(c), np.zeros(c.size, np.int32), np.arange(c.size)
        for _ in range(LIMIT):
            inside = inside[np.abs(z[inside]) < 2]
            counts[inside] += 1
            z[inside] = z[inside] ** 2 + c[inside]
        every = np.full((n, n), np.nan)
        every[sample] = counts.reshape(-1, n)
        return [every]

    # the last bit decides about points at the edge of the set
    return Problem((out,), (left, top, step, LIMIT), (n, n), expected, agreement=0.98)


def nbody(n: int) -> Problem:
    places = tuple(uniform(n, seed=s) for s in (1, 2, 3, 4))
    sample = range(0, n, max(1, n // 256))  # numpy would take seconds for all

    def expected() -> list[np.ndarray]:
        x, y, z, mass = (p.astype(np.float64) for p in places)
        pulls = np.full((n, 3), np.nan)
        for i in sample:
            dx, dy, dz = x - x[i], y - y[i], z - z[i]
            pull = mass * (dx * dx + dy * dy + dz * dz + SOFTENING) ** -1.5
            pulls[i] = pull @ dx, pull @ dy, pull @ dz
        return [pulls]

    arrays = (empty(n, 3), *places)
    # forces near zero are sums of large forces that cancel
    absolute = 1e-3 * n**0.5
    return Problem(arrays, (SOFTENING,), (n,), expected, relative=1e-3, absolute=absolute)


def matmul(n: int) -> Problem:
    a, b = uniform(n, n), uniform(n, n, seed=2)
    arrays = (empty(n, n), a, b)
    return Problem(
        arrays, (), (n,), lambda: [a.astype(np.float64) @ b.astype(np.float64)], relative=1e-4
    )


def block_sum(n: int) -> Problem:
    x = uniform(n)

    def expected() -> list[np.ndarray]:
        return [x.reshape(-1, THREADS).sum(axis=1, dtype=np.float64)]

    return Problem((empty(n // THREADS), x), (), (n,), expected)


def block_scan(n: int) -> Problem:
    x = uniform(n)

    def expected() -> list[np.ndarray]:
        return [np.cumsum(x.reshape(-1, THREADS), axis=1, dtype=np.float64).reshape(-1)]

    return Problem((empty(n), x), (), (n,), expected)


def histogram(n: int) -> Problem:
    """Return a problem whose launches add to the existing counts."""
    x = np.random.default_rng(1).integers(0, BINS, n, dtype=np.uint8)
    counts = np.zeros(BINS, np.int32)
    return Problem((counts, x), (), (n,), lambda: [np.bincount(x, minlength=BINS)])


def black_scholes(n: int) -> Problem:
    price, strike, years = between(5, 30, n, 1), between(1, 100, n, 2), between(0.25, 10, n, 3)

    def expected() -> list[np.ndarray]:
        p, s, t = (a.astype(np.float64) for a in (price, strike, years))
        spread = VOLATILITY * np.sqrt(t)
        d1 = (np.log(p / s) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * t) / spread
        n1, n2, discounted = normal_cdf(d1), normal_cdf(d1 - spread), s * np.exp(-RATE * t)
        return [p * n1 - discounted * n2, discounted * (1 - n2) - p * (1 - n1)]

    arrays = (empty(n), empty(n), price, strike, years)
    numbers = (RATE, VOLATILITY)
    return Problem(arrays, numbers, (n,), expected, 2, relative=1e-3, absolute=1e-4)


def normal_cdf(d: np.ndarray) -> np.ndarray:
    """Return the cumulative normal distribution, by the polynomial of Abramowitz and Stegun."""
    k = 1 / (1 + 0.2316419 * np.abs(d))
    terms = (0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429)
    tail = np.polynomial.polynomial.polyval(k, (0, *terms))
    tail *= 0.3989422804014327 * np.exp(-0.5 * d * d)
    return np.where(d > 0, 1 - tail, tail)


def tiny(n: int) -> Problem:
    x, a = uniform(n), np.float32(2.5)
    return Problem((empty(n), x), (a,), (), lambda: [a * x.astype(np.float64)])
