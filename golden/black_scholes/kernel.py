"""The price of European options: logarithm, exponential, error function, root."""

import math

import numpy as np

from pycu2c import cuda, device, float32, float64, kernel

SIGNATURES = {
    "f32": (float32[::1], float32[::1], float32[::1], float32, float32[::1], float32[::1]),
    "f64": (float64[::1], float64[::1], float64[::1], float64, float64[::1], float64[::1]),
}

RATE = 0.02


@device
def normal_below(x):
    """How likely a standard normal number is to be less than x."""
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


@kernel
def black_scholes(price, strike, years, volatility, call, put):
    i = cuda.grid(1)
    if i >= len(price):
        return
    deviation = volatility * math.sqrt(years[i])
    drift = (RATE + 0.5 * volatility * volatility) * years[i]
    d1 = (math.log(price[i] / strike[i]) + drift) / deviation
    d2 = d1 - deviation
    discounted = strike[i] * math.exp(-RATE * years[i])
    call[i] = price[i] * normal_below(d1) - discounted * normal_below(d2)
    put[i] = discounted * normal_below(-d2) - price[i] * normal_below(-d1)


def case(rng, variant):
    dtype = {"f32": np.float32, "f64": np.float64}[variant]
    price, strike = (rng.uniform(20, 60, 100).astype(dtype) for _ in range(2))
    years = rng.uniform(0.25, 5, 100).astype(dtype)
    outputs = np.zeros(100, dtype), np.zeros(100, dtype)
    return 2, 64, (price, strike, years, dtype(0.3), *outputs)
