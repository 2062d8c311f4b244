"""Heat on a plate that is too large for one worker: chunks that exchange halos.

A task receives a chunk and HALO more elements of its neighbours at each side, and makes HALO steps.
Each step makes one more element wrong along the cuts, so that the chunk itself is right at the end.

    python examples/cluster/heat.py --workers 2
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, wait

from pycu2c import cuda, kernel
from pycu2c.dask import copy_to_host, local_cluster, to_device

HALO = 16  # fewer exchanges, more elements that are computed twice
RATE = np.float32(0.24)  # how much flows in a step; above 0.25 the method is unstable


@kernel(block=(32, 8), fmad=False)  # the same bits on all processors
def step(now, following):
    """An element moves towards the mean of its four neighbours; the edges are held."""
    x, y = cuda.grid(2)
    height, width = now.shape
    if x < width and y < height:
        following[y, x] = now[y, x]
        if 0 < x < width - 1 and 0 < y < height - 1:
            around = now[y - 1, x] + now[y + 1, x] + now[y, x - 1] + now[y, x + 1]
            following[y, x] += RATE * (around - 4.0 * now[y, x])


def advanced(plate: Any, steps: int) -> Any:
    """Return the temperatures after some steps, as an array of the same package."""
    now, following = plate.copy(), np.empty_like(plate)  # CuPy arrays for CuPy chunks
    for _ in range(steps):
        step(now, following)
        now, following = following, now
    return now


def simulated(plate: Any, steps: int) -> Any:
    """Return the temperatures after some steps of a plate in chunks."""
    for done in range(0, steps, HALO):
        count = min(HALO, steps - done)
        plate = da.map_overlap(
            advanced, plate, steps=count, depth=count, boundary="none", meta=plate._meta
        )
    return plate


def initial(size: int, chunk: int) -> Any:
    """Return a cold plate with a hot ring and a hot edge, in chunks."""

    def temperature(y, x):
        squares = (2 * x - size) ** 2 + (2 * y - size) ** 2
        is_hot = (abs(squares / size**2 - 0.25) < 0.05) | (y == 0)
        return is_hot.astype(np.float32)

    return da.fromfunction(temperature, shape=(size, size), chunks=chunk, dtype=np.float32)


def main(arguments: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(description="Heat on a plate in chunks.")
    options.add_argument("--workers", type=int, help="processes; default: that of local_cluster")
    options.add_argument("--scheduler", help="the address of a cluster, in place of --workers")
    options.add_argument("--size", type=int, default=2048, help="elements a side; default: 2048")
    options.add_argument("--chunk", type=int, default=1024, help="of a chunk; default: 1024")
    options.add_argument("--steps", type=int, default=200, help="default: 200")
    options.add_argument("--check", action=argparse.BooleanOptionalAction, default=True)
    given = options.parse_args(arguments)

    with Client(given.scheduler or local_cluster(given.workers)):
        first = to_device(initial(given.size, given.chunk))
        plate = first.persist()
        wait(plate)
        start = time.perf_counter()
        plate = simulated(plate, given.steps).persist()
        wait(plate)
        print(f"{given.steps} steps: {time.perf_counter() - start:.2f} s")
        result = copy_to_host(plate)
        print(f"mean temperature: {result.mean().compute():.9f}")
        if given.check:
            whole = first.rechunk(-1).map_blocks(advanced, steps=given.steps, meta=first._meta)
            expected = copy_to_host(whole).compute(scheduler="threads")
            if not np.array_equal(result.compute(), expected):
                raise SystemExit("FAILED: the temperatures are not those of one process")
            print("checked: the temperatures are those of one process, bit by bit")


if __name__ == "__main__":
    main()
