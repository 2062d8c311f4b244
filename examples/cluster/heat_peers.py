"""Heat on a plate that is divided between the GPUs of a machine; each reads its neighbours' rows.

One process uses all GPUs. Each GPU has a slab of rows, and its kernel reads the edge rows of the
slabs above and below where they are: no halo is copied. A GPU waits for its neighbours' last step
by events; the host does not wait. Without a GPU, the slabs are in host memory.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import time
from typing import Any

import numpy as np

from pycu2c import cuda, kernel

BLOCK = (128, 1)
ROWS = 4  # of a thread, which keeps the rows that it has read
RATE = np.float32(0.24)  # how much flows in a step; above 0.25 the method is unstable


@kernel
def step(above, now, below, following, rate):
    """Move rows towards the mean of the four neighbours; the first and last columns are held.

    ``above`` and ``below`` are the rows next to ``now``.
    """
    x, strip = cuda.grid(2)
    height, width = now.shape[0], now.shape[1]
    first = strip * ROWS
    if x >= width or first >= height:
        return
    up = now[first - 1, x] if first > 0 else above[x]
    here = now[first, x]
    for y in range(first, min(first + ROWS, height)):
        down = now[y + 1, x] if y < height - 1 else below[x]
        if 0 < x < width - 1:
            around = up + down + now[y, x - 1] + now[y, x + 1]
            following[y, x] = here + rate * (around - 4 * here)
        else:
            following[y, x] = here
        up, here = here, down


def launch(above: Any, now: Any, below: Any, following: Any, stream: cuda.Stream) -> None:
    """Launch a step for rows of a slab."""
    height, width = now.shape
    grid = -(-width // BLOCK[0]), -(-height // ROWS)
    step[grid, BLOCK, stream](above, now, below, following, RATE)


class Slab:
    """Rows of the plate on a GPU, before and after a step, and the stream of their steps."""

    def __init__(self, gpu: Any, rows: np.ndarray) -> None:
        self.gpu = gpu
        with gpu:
            self.now, self.following = cuda.to_device(rows), cuda.to_device(rows)
            self.stream, self.step_end = cuda.stream(blocking=False), cuda.event(timing=False)
            self.edge = cuda.to_device(np.zeros(rows.shape[1], np.float32))  # outside of the plate

    def step(self, above: Slab | None, below: Slab | None) -> None:
        """Launch a step after the last step of the neighbours."""
        for neighbour in above, below:
            if neighbour is not None:
                self.stream.wait(neighbour.step_end)
        upper = self.edge if above is None else above.now[-1]
        lower = self.edge if below is None else below.now[0]
        with self.gpu:
            launch(upper, self.now, lower, self.following, self.stream)

    def swap(self) -> None:
        """End a step, after the launches of all slabs."""
        self.now, self.following = self.following, self.now
        with self.gpu:
            self.step_end.record(self.stream)


class Plate:
    """A plate of equal slabs, one for each device."""

    def __init__(self, temperature: np.ndarray, gpus: list[Any]) -> None:
        rows = np.array_split(temperature, len(gpus))
        self.slabs = [Slab(gpu, part) for gpu, part in zip(gpus, rows)]
        for slab in self.slabs:
            with slab.gpu:
                cuda.synchronize()  # the copies

    def run(self, steps: int) -> None:
        """Compute steps, and wait for them."""
        neighbours: list[Slab | None] = [None, *self.slabs, None]
        for _ in range(steps):
            for above, slab, below in zip(neighbours, self.slabs, neighbours[2:]):
                slab.step(above, below)
            for slab in self.slabs:
                slab.swap()
        for slab in self.slabs:
            slab.stream.synchronize()

    def temperature(self) -> np.ndarray:
        """Return the elements of all slabs."""
        return np.concatenate([slab.now.copy_to_host() for slab in self.slabs])


def connected_gpus(count: int) -> list[Any]:
    """Return GPUs that access their neighbours' memory; without a GPU, contexts without effect."""
    gpus = list(cuda.gpus)[:count]
    if not gpus:
        return [contextlib.nullcontext() for _ in range(count)]
    for first, second in itertools.pairwise(gpus):
        first.enable_peer_access(second)
        second.enable_peer_access(first)
    return gpus


def initial(rows: range, columns: int) -> np.ndarray:
    """Return rows of a plate with hot and cold patches."""
    y, x = np.array(rows, np.float32), np.arange(columns, dtype=np.float32)
    return np.outer(np.cos(y / 70), np.sin(x / 50))


def main(arguments: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rows", type=int, default=512, help="of a slab")
    options.add_argument("--columns", type=int, default=512)
    options.add_argument("--steps", type=int, default=50)
    options.add_argument("--no-check", action="store_true", help="measure only")
    options.add_argument("--parts", type=int, help="slabs: the GPUs, without a GPU 2")
    given = options.parse_args(arguments)
    if given.parts and given.parts > len(cuda.gpus) > 0:
        options.error(f"--parts: this machine has {len(cuda.gpus)} GPUs")
    gpus = connected_gpus(given.parts or len(cuda.gpus) or 2)
    temperature = initial(range(len(gpus) * given.rows), given.columns)

    plate = Plate(temperature, gpus)
    plate.run(given.steps)
    if not given.no_check:
        check(plate, Plate(temperature, gpus[:1]), given.steps)
    start = time.perf_counter()
    plate.run(given.steps)
    duration = (time.perf_counter() - start) / given.steps
    print(f"{len(gpus)} x {given.rows} x {given.columns}: {duration * 1e3:.4f} ms per step")


def check(divided: Plate, single: Plate, steps: int) -> None:
    """Compare with a plate in one piece."""
    single.run(steps)
    if not np.array_equal(divided.temperature(), single.temperature()):
        raise SystemExit("FAILED: the slabs differ from the plate in one piece")
    print(f"checked: {len(divided.slabs)} slabs equal the plate in one piece after {steps} steps")


if __name__ == "__main__":
    main()
