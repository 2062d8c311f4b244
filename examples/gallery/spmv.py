r"""
Sparse matrix times vector
==========================

*One thread or one warp for each row, and sums by warp shuffles.*

The CSR format (compressed sparse row) stores the nonzero elements of a matrix row by row:
``values``, their ``columns``, and ``starts``, the position of the first element of each row. The
product :math:`y = A x` is a sum for each row. This example compares two ways to assign threads to
rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, kernel

# %%
# A thread for each row
# ---------------------
#
# The loop reads the elements of a row in order. The 32 threads of a warp read 32 different rows at
# a time, far apart in memory, and the warp takes as long as its longest row.
#
# A negative index counts from the end, as in Python. The compiler cannot know that no element of
# ``columns`` is negative, so it would generate a test for each. ``wraparound=False`` omits the
# tests.


@kernel(block=128, wraparound=False)
def multiply_by_threads(starts, columns, values, x, y):
    row = cuda.grid(1)
    if row < len(y):
        total = 0.0
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


# %%
# A warp for each row
# -------------------
#
# The lanes of a warp read neighbouring elements of the same row. Each lane has a part of the sum.
# ``cuda.shfl_down_sync`` returns the value of a variable in a higher lane, so five additions give
# lane 0 the sum of all 32 lanes, without shared memory and without barriers.

ALL_LANES = 0xFFFFFFFF


@kernel(block=128, wraparound=False)
def multiply_by_warps(starts, columns, values, x, y):
    row, lane = cuda.grid(1) // 32, cuda.laneid
    if row >= len(y):
        return
    total = 0.0
    for k in range(starts[row] + lane, starts[row + 1], 32):
        total += values[k] * x[columns[k]]
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL_LANES, total, distance)
    if lane == 0:
        y[row] = total


# %%
# Matrices
# --------
#
# The lengths of the rows are random, with an exponential distribution: most rows are short, a few
# are long.

ROWS = 2048


def random_matrix(mean_length, rng):
    lengths = 1 + rng.exponential(mean_length - 1, ROWS).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = rng.integers(0, ROWS, starts[-1], dtype=np.int32)
    values = rng.normal(size=starts[-1]).astype(np.float32)
    return starts, columns, values


def product(multiply, threads, matrix, x):
    y = np.zeros(ROWS, np.float32)
    multiply[-(-threads // 128), 128](*matrix, x, y)
    return y


rng = np.random.default_rng(8)
x = rng.normal(size=ROWS).astype(np.float32)
matrices = {mean: random_matrix(mean, rng) for mean in (2, 4, 8, 16, 32, 64, 128, 256)}

# %%
# Check
# -----
#
# ``np.add.reduceat`` adds up the products of each row in float64.

for matrix in matrices.values():
    starts, columns, values = matrix
    expected = np.add.reduceat(values.astype(float) * x[columns], starts[:-1])
    for multiply, threads in ((multiply_by_threads, ROWS), (multiply_by_warps, 32 * ROWS)):
        np.testing.assert_allclose(product(multiply, threads, matrix, x), expected, atol=1e-3)

# %%
# Busy lanes
# ----------
#
# A warp repeats its loop as often as its busiest lane needs. The picture shows which share of
# these lane iterations computes something. One warp for each row is better for long rows. One
# thread for each row is better for short rows. On a GPU, the warps also access memory more
# efficiently.


def busy_by_threads(lengths):
    warps = lengths.reshape(-1, 32)
    return warps.sum() / (32 * warps.max(axis=1).sum())


def busy_by_warps(lengths):
    return lengths.sum() / (32 * np.ceil(lengths / 32).sum())


means = list(matrices)
lengths = [np.diff(starts) for starts, _, _ in matrices.values()]
by_threads = [100 * busy_by_threads(each) for each in lengths]
by_warps = [100 * busy_by_warps(each) for each in lengths]

fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.semilogx(means, by_threads, "o-", base=2, color="tab:blue", label="a thread for each row")
ax.semilogx(means, by_warps, "s-", base=2, color="tab:orange", label="a warp for each row")
ax.set(title="Lanes that do useful work", xlabel="mean number of elements in a row")
ax.set(ylabel="busy lanes (%)", ylim=(0, 100), xticks=means, xticklabels=means)
ax.grid(alpha=0.3)
ax.legend()

# %%
# The generated CUDA C of the second kernel:

print(multiply_by_warps.inspect("cuda"))

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

multiply_by_warps
