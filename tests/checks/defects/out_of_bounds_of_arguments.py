"""Accesses out of bounds of global arrays."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device
from support.defects import noise, ramp, seeded, zeros


@seeded("out-of-bounds", 3, 32, lambda: (ramp(70), zeros(70), 70))
def missing_guard(a, out, n):
    """The last block has more threads than elements."""
    i = cuda.grid(1)
    if i < n:  # defect: if n > 0:
        out[i] = 2 * a[i]  # finding


@seeded("out-of-bounds", 2, 32, lambda: (ramp(64), zeros(64)))
def stencil(a, out):
    """The right neighbour of the last element."""
    i = cuda.grid(1)
    if 0 < i < a.size - 1:  # defect: if 0 < i < a.size:
        out[i] = a[i - 1] - 2 * a[i] + a[i + 1]  # finding


@seeded("out-of-bounds", (2, 3), (8, 8), lambda: (ramp(24, 16), zeros(16, 24)))
def transposed_axes(a, out):
    """The axes of a matrix that is not square."""
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        out[x, y] = a[y, x]  # finding, defect: out[y, x] = a[y, x]


@seeded("out-of-bounds", 1, 16, lambda: (ramp(8, dtype=np.float64), zeros(16, dtype=np.float64)))
def negative_beyond_the_start(a, out):
    """An index from the end that passes the start of the array."""
    t = cuda.threadIdx.x
    lag = t % 8 + 1  # defect: lag = t + 1
    out[t] = a[-lag]  # finding


@seeded("out-of-bounds", 2, 16, lambda: (ramp(100, dtype=np.int32), zeros(32, dtype=np.int32)))
def wrong_stride(a, out):
    """One column of a matrix with 3 columns, stored in one axis."""
    i = cuda.grid(1)
    out[i] = a[3 * i + 2]  # finding, defect: out[i] = a[4 * i + 2]


@seeded(
    "out-of-bounds",
    1,
    4,
    lambda: (
        np.array([0, 2, 3, 3, 6]),
        np.array([0, 3, 1, 2, 4, 9]),
        ramp(6),
        ramp(5),
        zeros(4),
    ),
)
def sparse_product(starts, columns, values, x, y):
    """The column 9 of a sparse matrix with 5 columns."""
    row = cuda.grid(1)
    total = np.float32(0)
    for k in range(starts[row], starts[row + 1]):
        column = columns[k]
        if column < x.size:  # defect: if column >= 0:
            total += values[k] * x[column]  # finding
    y[row] = total


@seeded("out-of-bounds", 2, 64, lambda: (noise(128, limit=20), zeros(16, dtype=np.int32)))
def histogram(values, counts):
    """The bin of an outlier."""
    bin_ = min(values[cuda.grid(1)], len(counts) - 1)  # defect: bin_ = values[cuda.grid(1)]
    cuda.atomic.add(counts, bin_, 1)  # finding


@device
def clamped(i, n):
    return min(max(i, 0), n - 1)  # defect: return min(max(i, 0), n)


@seeded("out-of-bounds", (2, 2), (8, 8), lambda: (ramp(16, 16), zeros(16, 16)))
def box_filter(image, out):
    """The halo of an image filter: a helper function clamps to the size, not to the last pixel."""
    x, y = cuda.grid(2)
    height, width = image.shape
    total = np.float32(0)
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            total += image[clamped(y + dy, height), clamped(x + dx, width)]  # finding
    out[y, x] = total / 9


@seeded("out-of-bounds", 2, (4, 2, 4), lambda: (zeros(4, 2, 8), ramp(4, 2, 8)))
def volume(out, a):
    """An axis of a volume that the grid runs over once too far."""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    z = cuda.threadIdx.z + 4 * cuda.blockIdx.x  # defect: z = cuda.threadIdx.z + 5 * cuda.blockIdx.x
    out[x, y, z] = a[x, y, z] + 1  # finding


@seeded("out-of-bounds", 2, 32, lambda: (ramp(200), zeros(200)))
def grid_stride(a, out):
    """Each thread copies four elements, and the rest of the array is no multiple of four."""
    for first in range(4 * cuda.grid(1), a.size, 4 * cuda.gridsize(1)):
        for k in range(4):
            if first + k < a.size - 3:  # defect: if first + k < a.size:
                out[first + k] = a[first + k] + a[first + k + 3]  # finding


@seeded("out-of-bounds", 2, 32, lambda: (ramp(60), noise(60, limit=9), zeros(64)))
def conditions_before_the_access(a, widths, out):
    """Conditional expressions and short circuits that guard an access."""
    i = cuda.grid(1)
    n = len(a)
    x = a[i] if i < n else np.float32(0)  # finding, defect: x = a[i] if i <= n else np.float32(0)
    k = i
    while k < n and a[k] < x + 3:
        k += 1
    if i < n and (widths[i] == 0 or a[i - widths[i]] > 0):
        x += a[-1]
    for j in range(min(i, n) - 1, -1, -1):
        x += a[j] / (j + 1)
    out[i] = x + k


@seeded(
    "out-of-bounds",
    1,
    16,
    lambda: (np.zeros(16, [("position", np.float32, 3), ("mass", np.float32)]), zeros(16)),
)
def particles(points, out):
    """The particle after the last one, in an array of records."""
    i = cuda.grid(1)
    points[i].mass = i
    points[i].position[1] = 2 * i
    j = (i + 1) % 16  # defect: j = i + 1
    out[i] = points[i].position[2] + points[j].position[0]  # finding
