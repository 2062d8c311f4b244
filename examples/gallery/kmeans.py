r"""
k-means clustering
==================

*Atomic additions, first within a block in shared memory, then for all blocks.*

The k-means algorithm divides points into :math:`k` clusters. It repeats two steps: each point
joins the cluster with the nearest centre, then each centre moves to the mean of its points.
"""

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, float32, int32, kernel

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

K = 6
BLOCK = 256


@kernel(block=BLOCK)
def assign(points, centres, labels, sums, counts):
    block_sums = cuda.shared.array((K, 2), float32)
    block_counts = cuda.shared.array(K, int32)
    t = cuda.threadIdx.x
    if t < K:
        block_sums[t, 0] = block_sums[t, 1] = 0
        block_counts[t] = 0
    cuda.syncthreads()

    i = cuda.grid(1)
    if i < len(points):
        x, y = points[i, 0], points[i, 1]
        distances = [(x - centres[c, 0]) ** 2 + (y - centres[c, 1]) ** 2 for c in range(K)]
        nearest = 0
        for c in range(1, K):
            if distances[c] < distances[nearest]:
                nearest = c
        labels[i] = nearest
        cuda.atomic.add(block_sums, (nearest, 0), x)
        cuda.atomic.add(block_sums, (nearest, 1), y)
        cuda.atomic.add(block_counts, nearest, 1)
    cuda.syncthreads()

    if t < K:
        cuda.atomic.add(sums, (t, 0), block_sums[t, 0])
        cuda.atomic.add(sums, (t, 1), block_sums[t, 1])
        cuda.atomic.add(counts, t, block_counts[t])


@kernel(grid=1, block=K)
def move_centres(centres, sums, counts):
    """Move each centre to the mean of its points, and reset the sums."""
    c = cuda.threadIdx.x
    for axis in range(2):
        if counts[c] > 0:
            centres[c, axis] = sums[c, axis] / counts[c]
        sums[c, axis] = 0
    counts[c] = 0


# %%
# The algorithm
# -------------
#
# All arrays stay on the device. Only the centres are copied to the host after each iteration, for
# the picture.


def cluster(points, centres, iterations):
    """The labels of the points, and the centres before each iteration and at the end."""
    blocks = -(-len(points) // BLOCK)
    on_device, centres = cuda.to_device(points), cuda.to_device(centres)
    labels = cuda.to_device(np.zeros(len(points), np.int32))
    sums = cuda.to_device(np.zeros((K, 2), np.float32))
    counts = cuda.to_device(np.zeros(K, np.int32))
    path = [centres.copy_to_host()]
    for _ in range(iterations):
        assign[blocks](on_device, centres, labels, sums, counts)
        move_centres(centres, sums, counts)
        path.append(centres.copy_to_host())
    return labels.copy_to_host(), np.array(path)


rng = np.random.default_rng(12)
angle = 2 * np.pi * np.arange(K) / K
true_centres = 3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
members = np.repeat(np.arange(K), 5000)
noise = rng.normal(0, 0.75, (len(members), 2))
points = (true_centres[members] + noise).astype(np.float32)
first_centres = rng.normal(0, 1, (K, 2)).astype(np.float32)

labels, path = cluster(points, first_centres, 15)

# %%
# Check
# -----
#
# The same algorithm in numpy, in float64.


def cluster_numpy(points, centres, iterations):
    for _ in range(iterations):
        labels = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.array([points[labels == c].mean(axis=0) for c in range(K)])
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
shown = rng.choice(len(points), 6000, replace=False)
ax.scatter(*points[shown].T, c=labels[shown], s=2, cmap="viridis", alpha=0.6)
for c in range(K):
    ax.plot(*path[:, c].T, "-", color="black", lw=2.5)
    ax.plot(*path[:, c].T, ".-", color="white", lw=1, ms=3)
ax.plot(*path[-1].T, "X", color="white", mec="black", ms=11, label="final centre")
ax.plot(*path[0].T, "o", color="white", mec="black", ms=7, label="first centre")
ax.set(title="k-means with six clusters", xlabel="x", ylabel="y", aspect="equal")
ax.legend()
