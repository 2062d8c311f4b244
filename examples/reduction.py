"""Sum and histogram of millions of readings: threads of a block work together in shared memory.

Both kernels use a grid-stride loop: a fixed number of threads reads any number of elements, and
neighbouring threads read neighbouring elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from report import blocks, checked, parser, save_figure, show

from pycu2c import cuda, float32, int32, kernel

BLOCK = 256
BINS = 256
ELEMENTS_PER_THREAD = 64
LOW, HIGH = 0.0, 40.0
BINS_PER_DEGREE = BINS / (HIGH - LOW)


def block_sums(data, sums):
    """Kernel: the sum of what each block has read."""
    partial = cuda.shared.array(BLOCK, float32)
    tid = cuda.threadIdx.x

    total = 0.0
    for i in range(cuda.grid(1), len(data), cuda.gridsize(1)):
        total += data[i]
    partial[tid] = total
    cuda.syncthreads()

    # Halve the number of summands until one is left; a barrier follows each iteration.
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            partial[tid] += partial[tid + half]
        cuda.syncthreads()
        half //= 2

    if tid == 0:
        sums[cuda.blockIdx.x] = partial[0]


def histogram(data, counts):
    """Kernel: count in shared memory, where atomics are quick; add to the total once."""
    mine = cuda.shared.array(BINS, int32)
    tid = cuda.threadIdx.x
    for b in range(tid, BINS, BLOCK):
        mine[b] = 0
    cuda.syncthreads()

    for i in range(cuda.grid(1), len(data), cuda.gridsize(1)):
        b = int((data[i] - LOW) * BINS_PER_DEGREE)
        cuda.atomic.add(mine, min(max(b, 0), BINS - 1), 1)
    cuda.syncthreads()

    for b in range(tid, BINS, BLOCK):
        cuda.atomic.add(counts, b, mine[b])


def readings(size: int) -> np.ndarray:
    """Temperatures: a daily wave and noise, in degrees."""
    noise = np.random.default_rng(3).standard_normal(size, np.float32)
    time = np.linspace(0, 40 * np.pi, size, dtype=np.float32)
    return 18 + 6 * np.sin(time) + 2 * noise


def histogram_numpy(data: np.ndarray) -> np.ndarray:
    position = (data - np.float32(LOW)) * np.float32(BINS_PER_DEGREE)
    return np.bincount(np.clip(position.astype(np.int32), 0, BINS - 1), minlength=BINS)


def draw(figure: Any, counts: np.ndarray) -> None:
    ax = figure.add_subplot()
    ax.stairs(counts, np.linspace(LOW, HIGH, BINS + 1), fill=True)
    ax.set(title=f"Histogram of {counts.sum():,} readings", xlim=(LOW, HIGH))
    ax.set(xlabel="temperature (°C)", ylabel=f"readings in each of {BINS} bins")


def main(arguments: list[str] | None = None) -> None:
    options = parser(__doc__, size=1 << 24, meaning="readings", out="out/histogram.png")
    given = options.parse_args(arguments)
    data = readings(given.size)
    grid = min(1024, blocks(given.size, BLOCK * ELEMENTS_PER_THREAD))

    compiled = kernel(block=(BLOCK,), backend=given.backend)
    sum_kernel, histogram_kernel = compiled(block_sums), compiled(histogram)
    sums, counts = np.zeros(grid, np.float32), np.zeros(BINS, np.int32)
    sum_kernel[grid, BLOCK](data, sums)
    histogram_kernel[grid, BLOCK](data, counts)
    show(sum_kernel, histogram_kernel)

    save_figure(given.out, lambda figure: draw(figure, counts))
    total, expected = sums.sum(dtype=np.float64), data.sum(dtype=np.float64)
    print(f"{given.size} readings, mean {total / given.size:.4f} degrees")
    checked("sum (relative)", abs(total - expected) / expected, 1e-5)
    checked("histogram (counts)", np.abs(counts - histogram_numpy(data)).max(), 0)


if __name__ == "__main__":
    main()
