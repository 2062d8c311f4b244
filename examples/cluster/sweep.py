"""A sweep over 10,000 pairs of parameters: for which of them is the Lorenz system chaotic?

A thread integrates the system for one pair, and a task a batch of pairs. Chaos amplifies a
difference in the last bit, so equal results mean that all steps have equal bits, too.

    python examples/cluster/sweep.py --workers 2
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client

from pycu2c import cuda, device, kernel
from pycu2c.dask import local_cluster, map_blocks

SIGMA = 10.0
DT = 0.005
DISTANCE = 1e-7  # between a trajectory and its neighbour


@device
def slope(p, rho, beta):
    """Return the derivative of a position."""
    x, y, z = p
    return SIGMA * (y - x), x * (rho - z) - y, x * y - beta * z


@device
def moved(p, v, dt):
    """Return a position after a time at constant speed."""
    return p[0] + dt * v[0], p[1] + dt * v[1], p[2] + dt * v[2]


@device
def after_step(p, rho, beta):
    """Return a position after a step of the classical Runge-Kutta method."""
    a = slope(p, rho, beta)
    b = slope(moved(p, a, DT / 2), rho, beta)
    c = slope(moved(p, b, DT / 2), rho, beta)
    d = slope(moved(p, c, DT), rho, beta)
    return moved(moved(moved(moved(p, a, DT / 6), b, DT / 3), c, DT / 3), d, DT / 6)


@kernel(block=64, fmad=False)  # the same trajectories on all processors
def growth(rho, beta, steps, rates):
    """Store the rate at which a trajectory and its neighbour diverge: the Lyapunov exponent."""
    i = cuda.grid(1)
    if i < len(rates):
        p, total = (1.0, 1.0, 1.0), 0.0
        q = moved(p, (1.0, 0.0, 0.0), DISTANCE)
        for _ in range(steps):
            p, q = after_step(p, rho[i], beta[i]), after_step(q, rho[i], beta[i])
            x, y, z = q[0] - p[0], q[1] - p[1], q[2] - p[2]
            stretch = np.sqrt(x * x + y * y + z * z) / DISTANCE
            total += np.log(stretch)
            q = moved(p, (x, y, z), 1 / stretch)
        rates[i] = total / (steps * DT)


def parameters(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rho and beta of each run."""
    rho, beta = np.meshgrid(np.linspace(1, 200, size), np.linspace(0.5, 4, size))
    return rho.ravel(), beta.ravel()


def main(arguments: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(description="A sweep over parameters of the Lorenz system.")
    options.add_argument("--workers", type=int, help="processes; default: that of local_cluster")
    options.add_argument("--scheduler", help="the address of a cluster, in place of --workers")
    options.add_argument(
        "--size", type=int, default=100, help="values of a parameter; default: 100"
    )
    options.add_argument("--batch", type=int, default=500, help="runs of a task; default: 500")
    options.add_argument("--steps", type=int, default=4000, help="of time; default: 4000")
    options.add_argument("--check", action=argparse.BooleanOptionalAction, default=True)
    given = options.parse_args(arguments)

    rho, beta = parameters(given.size)
    with Client(given.scheduler or local_cluster(given.workers)):
        start = time.perf_counter()
        batches: list[Any] = [da.from_array(values, chunks=given.batch) for values in (rho, beta)]
        rates = map_blocks(growth, *batches, given.steps).compute()
        print(f"{(rates > 0.1).sum()} of {len(rates)} runs are chaotic")
        print(f"{len(rates)} runs: {time.perf_counter() - start:.2f} s")
    if given.check:
        expected = np.zeros_like(rates)
        growth(rho, beta, given.steps, expected)
        if not np.array_equal(rates, expected, equal_nan=True):
            raise SystemExit("FAILED: the rates are not those of one process")
        print("checked: the rates are those of one process, bit by bit")


if __name__ == "__main__":
    main()
