r"""
Monte Carlo option price
========================

*Random numbers that are a function of the thread's index, and the error of the estimate.*

An Asian call option pays :math:`\max(A - K, 0)`, where :math:`A` is the mean price of a share
over the term and :math:`K` the strike price. In the Black–Scholes model, the price follows a
geometric Brownian motion. The value of the option is the mean payoff over many random paths,
discounted by the interest rate.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, kernel
from pycu2c.cuda.random import philox_normal_float32x4

# %%
# The kernel
# ----------
#
# Each thread computes one path. ``philox_normal_float32x4(seed, i, k)`` returns four numbers with
# a normal distribution. They are a function of the three arguments, so there is no state to store,
# and every run gives the same numbers on the CPU and on a GPU.
#
# ``asian`` gets the mean of the prices. ``european`` gets the last price: for it, a formula
# exists.

PRICE, STRIKE, RATE, VOLATILITY, YEARS = 100.0, 105.0, 0.03, 0.25, 1.0
PERIODS = 52  # weeks; a multiple of 4


@kernel(block=256, weak_float="float32")
def simulate_paths(seed, asian, european):
    i = cuda.grid(1)
    if i >= len(asian):
        return
    dt = YEARS / PERIODS
    drift = (RATE - VOLATILITY * VOLATILITY / 2) * dt
    scale = VOLATILITY * math.sqrt(dt)
    log_price = math.log(PRICE)
    total = price = 0.0
    for k in range(PERIODS // 4):
        for normal in philox_normal_float32x4(seed, i, k):
            log_price += drift + scale * normal
            price = math.exp(log_price)
            total += price
    asian[i] = total / PERIODS
    european[i] = price


PATHS = 2**17
asian, european = np.zeros((2, PATHS), np.float32)
simulate_paths(2024, asian, european)
discount = math.exp(-RATE * YEARS)
payoffs = {
    "European": discount * np.maximum(european - STRIKE, 0).astype(float),
    "Asian": discount * np.maximum(asian - STRIKE, 0).astype(float),
}

# %%
# Estimates
# ---------
#
# The standard error of a mean is :math:`s / \sqrt n`, with the standard deviation :math:`s` of the
# payoffs.


def estimate(values):
    return values.mean(), values.std(ddof=1) / math.sqrt(len(values))


for name, values in payoffs.items():
    mean, error = estimate(values)
    print(f"{name:8} option: {mean:.3f} ± {error:.3f}")

# %%
# Check
# -----
#
# The Black–Scholes formula gives the value of the European option. The Asian option has no such
# formula, but the mean price does: it is a mean of exponentials.


def normal_distribution(x):
    return (1 + math.erf(x / math.sqrt(2))) / 2


d1 = math.log(PRICE / STRIKE) + (RATE + VOLATILITY**2 / 2) * YEARS
d1 /= VOLATILITY * math.sqrt(YEARS)
d2 = d1 - VOLATILITY * math.sqrt(YEARS)
exact = PRICE * normal_distribution(d1) - discount * STRIKE * normal_distribution(d2)
mean, error = estimate(payoffs["European"])
print(f"Black–Scholes: {exact:.3f}")
assert abs(mean - exact) < 4 * error

weeks = np.arange(1, PERIODS + 1) * YEARS / PERIODS
mean, error = estimate(asian.astype(float))
assert abs(mean - (PRICE * np.exp(RATE * weeks)).mean()) < 4 * error

# %%
# Convergence
# -----------
#
# The bars are two standard errors. Four times as many paths halve the error.

counts = 2 ** np.arange(8, 18)
estimates = [estimate(payoffs["European"][:n]) for n in counts]
means, errors = np.array(estimates).T

fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.errorbar(counts, means, 2 * errors, fmt="o", capsize=4, label="Monte Carlo, ± 2 standard errors")
ax.axhline(exact, color="black", ls="--", label="Black–Scholes formula")
ax.set(title="Value of a European call option", xlabel="number of paths", ylabel="value")
ax.set_xscale("log", base=2)
ax.legend()

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

simulate_paths
