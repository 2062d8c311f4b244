"""Sum and histogram of millions of readings: threads of a block work together in shared memory.

Both kernels use a grid-stride loop: a fixed number of threads walks over any number of
elements, and neighbouring threads read neighbouring elements.
"""

from __future__ import annotations

import numpy as np
import png
from report import blocks, checked, parser, show

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


def drawn(counts: np.ndarray, height: int = 200) -> np.ndarray:
    """Bars, dark on white, three pixels wide."""
    levels = np.repeat(counts / max(1, counts.max()) * height, 3)
    from_below = np.arange(height)[::-1, None]
    return np.where(from_below < levels, 60, 255).astype(np.uint8)


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

    given.out.parent.mkdir(parents=True, exist_ok=True)
    png.write(given.out, drawn(counts))
    print(f"wrote {given.out}")
    total, expected = sums.sum(dtype=np.float64), data.sum(dtype=np.float64)
    print(f"{given.size} readings, mean {total / given.size:.4f} degrees")
    checked("sum (relative)", abs(total - expected) / expected, 1e-5)
    checked("histogram (counts)", np.abs(counts - histogram_numpy(data)).max(), 0)


if __name__ == "__main__":
    main()
