r"""
k-means clustering
==================

*Atomic additions, first within a block in shared memory, then for all blocks.*

The k-means algorithm divides points into :math:`k` clusters. It repeats two steps: each point
joins the cluster with the nearest centre, then each centre moves to the mean of its points.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, float32, kernel

# %%
# The kernels
# -----------
#
# Many threads add to the same few sums. With ``sums[c] += x``, one thread would overwrite the
# result of another. ``cuda.atomic.add`` reads, adds and writes in one step.
#
# Atomic additions to one address happen one after the other. Each block therefore adds up its own
# points in shared memory, which is fast, and then adds one number for each cluster to the global
# sums.
#
# The rows of ``points`` and ``centres`` are x and y, so neighbouring threads read neighbouring
# elements. The rows of ``sums`` are the sums of x and y, and the number of points.

K = 6
BLOCK = 256


@kernel(block=BLOCK)
def assign(points, centres, labels, sums):
    block_sums = cuda.shared.array((3, K), float32)
    t = cuda.threadIdx.x
    if t < K:
        for row in range(3):
            block_sums[row, t] = 0
    cuda.syncthreads()

    i = cuda.grid(1)
    if i < len(labels):
        x, y = points[0, i], points[1, i]
        distances = [(x - centres[0, c]) ** 2 + (y - centres[1, c]) ** 2 for c in range(K)]
        nearest = 0
        for c in range(1, K):
            if distances[c] < distances[nearest]:
                nearest = c
        labels[i] = nearest
        for row, value in enumerate((x, y, 1)):
            cuda.atomic.add(block_sums, (row, nearest), value)
    cuda.syncthreads()

    if t < K:
        for row in range(3):
            cuda.atomic.add(sums, (row, t), block_sums[row, t])


@kernel(grid=1, block=K)
def move_centres(centres, sums):
    """Move each centre to the mean of its points, and reset the sums."""
    c = cuda.threadIdx.x
    if sums[2, c] > 0:
        centres[0, c] = sums[0, c] / sums[2, c]
        centres[1, c] = sums[1, c] / sums[2, c]
    for row in range(3):
        sums[row, c] = 0


# %%
# The algorithm
# -------------
#
# All arrays stay on the device. Only the centres are copied to the host after each iteration, for
# the picture.


def cluster(points, centres, iterations):
    """The labels of the points, and the centres before each iteration and at the end."""
    n = points.shape[1]
    points, centres = cuda.to_device(points), cuda.to_device(centres)
    labels = cuda.device_array(n, np.int32)
    sums = cuda.to_device(np.zeros((3, K), np.float32))
    path = [centres.copy_to_host()]
    for _ in range(iterations):
        assign[math.ceil(n / BLOCK)](points, centres, labels, sums)
        move_centres(centres, sums)
        path.append(centres.copy_to_host())
    return labels.copy_to_host(), np.array(path)


rng = np.random.default_rng(4)
angle = 2 * np.pi * np.arange(K) / K
true_centres = 3 * np.array([np.cos(angle), np.sin(angle)])
members = np.repeat(np.arange(K), 5000)
noise = rng.normal(0, 0.75, (2, len(members)))
points = (true_centres[:, members] + noise).astype(np.float32)
first_centres = rng.normal(0, 1, (2, K)).astype(np.float32)

labels, path = cluster(points, first_centres, 15)

# %%
# Check
# -----
#
# The same algorithm in numpy, in float64.


def cluster_numpy(points, centres, iterations):
    for _ in range(iterations):
        squares = ((points[:, :, None] - centres[:, None, :]) ** 2).sum(axis=0)
        labels = squares.argmin(axis=1)
        centres = np.array([points[:, labels == c].mean(axis=1) for c in range(K)]).T
    return labels, centres


expected_labels, expected_centres = cluster_numpy(points.astype(float), first_centres, 15)
same = (labels == expected_labels).mean()
distance = np.abs(path[-1] - expected_centres).max()
print(f"{same:.3%} of the labels are numpy's; largest difference of a centre: {distance:.1e}")
assert same > 0.999
assert distance < 1e-3

# %%
# The clusters
# ------------

fig, ax = plt.subplots(figsize=(6.4, 5.4), layout="constrained")
shown = rng.choice(len(labels), 6000, replace=False)
ax.scatter(*points[:, shown], c=labels[shown], s=2, cmap="viridis", alpha=0.6)
for c in range(K):
    ax.plot(*path[:, :, c].T, "-", color="black", lw=2.5)
    ax.plot(*path[:, :, c].T, ".-", color="white", lw=1, ms=3)
ax.plot(*path[-1], "X", color="white", mec="black", ms=11, label="final centre")
ax.plot(*path[0], "o", color="white", mec="black", ms=7, label="first centre")
ax.set(title="k-means with six clusters", xlabel="x", ylabel="y", aspect="equal")
ax.legend()

# %%
# Costs on a GPU
# --------------
#
# ``explain()`` reports what is slow on a GPU. If each point was a row of ``points``, it would
# report that neighbouring threads access elements that are not adjacent.

print(assign.explain())

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

assign
