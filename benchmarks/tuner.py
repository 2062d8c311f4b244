"""Compare the tuner with an exhaustive search on six kernels: the ratio of the best times.

``python benchmarks/tuner.py [--seconds 60] [--scale 4] [KERNEL …]``. Both winners are measured
again in alternating runs, so a ratio of 1 means that the tuner has found the fastest candidate.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from typing import Any

import numpy as np

import results
from pycu2c import cuda, float32, kernel
from pycu2c.tuning.tuned_kernel import TunedKernel

FOLDER = tempfile.mkdtemp()
RECORDS = os.path.join(FOLDER, "tuner.json")
TILE, ROWS, ITEMS, UNROLL, BINS, PAD = 16, 1, 4, 4, 256, 1


def tuned(grid: Any, **options: Any) -> Any:
    return kernel(grid=grid, tune_file=RECORDS, fastmath=True, **options)


def blocks(n: int, *sizes: int) -> int:
    return -(-n // int(np.prod(sizes)))


@tuned(
    lambda c: (blocks(c.n, c.TILE), blocks(c.n, c.TILE, c.ROWS)),
    block=lambda c: (c.TILE, c.TILE),
    tune={"TILE": [8, 16, 32], "ROWS": [1, 2, 4, 8], "UNROLL": [1, 2, 4]},
)
def matmul(a, b, c, n):
    left = cuda.shared.array((TILE * ROWS, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.blockIdx.x * TILE + x, cuda.blockIdx.y * TILE * ROWS + y
    sums = cuda.local.array(ROWS, float32)
    for r in range(ROWS):
        sums[r] = 0.0
    for tile in range(0, n, TILE):
        for r in range(ROWS):
            left[y + r * TILE, x] = a[row + r * TILE, tile + x]
        right[y, x] = b[tile + y, column]
        cuda.syncthreads()
        for k in range(0, TILE, UNROLL):
            for u in range(UNROLL):
                for r in range(ROWS):
                    sums[r] += left[y + r * TILE, k + u] * right[k + u, x]
        cuda.syncthreads()
    for r in range(ROWS):
        c[row + r * TILE, column] = sums[r]


@tuned(
    lambda c: (blocks(c.n, c.block[0]), blocks(c.n, c.block[1], c.ROWS)),
    tune={
        "block": [(16, 4), (32, 1), (32, 4), (32, 8), (64, 2), (64, 4), (128, 1), (256, 1)],
        "ROWS": [1, 2, 4, 8, 16],
    },
)
def stencil(source, target, n):
    x = cuda.grid(2)[0]
    first = (cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y) * ROWS
    for r in range(ROWS):
        y = first + r
        if 0 < x < n - 1 and 0 < y < n - 1:
            around = source[y - 1, x] + source[y + 1, x] + source[y, x - 1] + source[y, x + 1]
            target[y, x] = 0.5 * source[y, x] + 0.125 * around


@tuned(
    lambda c: blocks(c.x.size, c.block, c.ITEMS),
    tune={"block": [32, 64, 128, 256, 512, 1024], "ITEMS": [1, 2, 4, 8, 16, 32, 64]},
)
def histogram(x, counts):
    local = cuda.shared.array(BINS, np.int32)
    for i in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        local[i] = 0
    cuda.syncthreads()
    start = cuda.blockIdx.x * cuda.blockDim.x * ITEMS + cuda.threadIdx.x
    for k in range(ITEMS):
        i = start + k * cuda.blockDim.x
        if i < len(x):
            cuda.atomic.add(local, x[i], 1)
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        cuda.atomic.add(counts, i, local[i])


@tuned(
    lambda c: blocks(c.x.size, c.block, c.ITEMS),
    tune={"block": [32, 64, 128, 256, 512, 1024], "ITEMS": [1, 2, 4, 8, 16, 32, 64]},
)
def reduction(x, total):
    start = cuda.blockIdx.x * cuda.blockDim.x * ITEMS + cuda.threadIdx.x
    partial = float32(0.0)
    for k in range(ITEMS):
        i = start + k * cuda.blockDim.x
        if i < len(x):
            partial += x[i]
    partial = cuda.block.reduce(partial)
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(total, 0, partial)


@tuned(
    lambda c: (blocks(c.n, c.TILE), blocks(c.n, c.TILE)),
    block=lambda c: (c.TILE, c.TILE // c.ROWS),
    tune={"TILE": [8, 16, 32, 64], "ROWS": [1, 2, 4, 8], "PAD": [0, 1, 2]},
    restrictions=lambda c: c.TILE * c.TILE // c.ROWS <= 1024,
)
def transpose(source, target, n):
    tile = cuda.shared.array((TILE, TILE + PAD), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    for r in range(ROWS):
        row = y + r * (TILE // ROWS)
        tile[row, x] = source[top + row, left + x]
    cuda.syncthreads()
    for r in range(ROWS):
        row = y + r * (TILE // ROWS)
        target[left + row, top + x] = tile[x, row]


@tuned(
    lambda c: blocks(c.n, c.block, c.ITEMS),
    tune={"block": [32, 64, 128, 256, 512], "ITEMS": [1, 2, 4], "UNROLL": [1, 2, 4, 8]},
)
def nbody(positions, forces, n):
    for k in range(ITEMS):
        i = (cuda.blockIdx.x * ITEMS + k) * cuda.blockDim.x + cuda.threadIdx.x
        if i < n:
            x, y, z = positions[0, i], positions[1, i], positions[2, i]
            fx, fy, fz = float32(0.0), float32(0.0), float32(0.0)
            for first in range(0, n, UNROLL):
                for u in range(UNROLL):
                    j = first + u
                    dx, dy, dz = positions[0, j] - x, positions[1, j] - y, positions[2, j] - z
                    d = dx * dx + dy * dy + dz * dz + float32(1e-6)
                    w = float32(1.0) / (d * cuda.libdevice.sqrtf(d))
                    fx += dx * w
                    fy += dy * w
                    fz += dz * w
            forces[0, i], forces[1, i], forces[2, i] = fx, fy, fz


def problems(scale: int) -> dict[str, tuple[TunedKernel[...], tuple[Any, ...]]]:
    """Return the kernels with arguments; ``scale`` multiplies the sizes."""
    rng = np.random.default_rng(1)

    def random(*shape: int) -> Any:
        return rng.random(shape, dtype=np.float32)

    n, large, bodies = 512 * scale, 1024 * scale, 4096 * scale
    count = scale**2 << 22
    bins = rng.integers(0, BINS, count, dtype=np.int32)
    return {
        "matmul": (matmul, (random(n, n), random(n, n), random(n, n), n)),
        "stencil": (stencil, (random(large, large), random(large, large), large)),
        "histogram": (histogram, (bins, np.zeros(BINS, np.int32))),
        "reduction": (reduction, (random(count), np.zeros(1, np.float32))),
        "transpose": (transpose, (random(large, large), random(large, large), large)),
        "nbody": (nbody, (random(3, bodies), random(3, bodies), bodies)),
    }


def ratio(k: TunedKernel[...], arguments: tuple[Any, ...], seconds: float) -> dict[str, float]:
    """Return the time of the exhaustive best divided by that of the tuner's choice."""
    tuned = k.tune(arguments, seconds=seconds, resume=False)
    every = k.tune(arguments, strategy="exhaustive", seconds=3600, resume=False)
    chosen, best = tuned.best, every.best
    compared = {"seconds": every.seconds, "ratio": 1.0}
    if chosen != best:
        both = (chosen, best)
        final = k.tune(
            arguments,
            {name: list(dict.fromkeys(c[name] for c in both)) for name in chosen},
            lambda c: any(all(getattr(c, n) == v for n, v in one.items()) for one in both),
            resume=False,
            seconds=30,
        )
        times = {str(r.configuration): r.seconds or np.inf for r in final.results}
        compared["ratio"] = min(1.0, times[str(best)] / times[str(chosen)])
    faster = (every.default_seconds or np.nan) / every.seconds
    candidates = len(tuned.results), every.candidates
    return compared | dict(zip(("measured", "candidates"), candidates)) | {"speed-up": faster}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--scale", type=int, default=1, help="4 for a GPU")
    options = parser.parse_args()
    found = {}
    for name, (k, arguments) in problems(options.scale).items():
        if not options.kernels or name in options.kernels:
            found[name] = ratio(k, arguments, options.seconds)
            shown = "  ".join(f"{n} {value:.4g}" for n, value in found[name].items())
            print(f"{name:10} {shown}", flush=True)
    results.save("tuner", found)


if __name__ == "__main__":
    main()
