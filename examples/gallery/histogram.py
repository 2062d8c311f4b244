r"""
Histogram equalization
======================

*A histogram in the shared memory of each block, and a grid-stride loop.*

Equalization stretches the contrast of an image. Each grey level :math:`g` becomes the share of
the pixels that are not brighter, so all levels occur about equally often. The first step is the
histogram of the image.
"""

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, int32, kernel

# %%
# The histogram
# -------------
#
# If all threads added to the same 256 counters in global memory, they would often wait for each
# other. Here, each block has counters of its own in shared memory, and adds them to the result at
# the end.
#
# The number of blocks is small and fixed. A thread handles every ``cuda.gridsize(1)``-th pixel (a
# *grid-stride loop*), so a block counts many pixels before it adds its counters to the result.

LEVELS = 256


@kernel(grid=32, block=256)
def count_levels(image, counts):
    block_counts = cuda.shared.array(LEVELS, int32)
    t = cuda.threadIdx.x
    block_counts[t] = 0
    cuda.syncthreads()
    pixels = image.reshape(-1)
    for i in range(cuda.grid(1), len(pixels), cuda.gridsize(1)):
        cuda.atomic.add(block_counts, pixels[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, t, block_counts[t])


# %%
# The new levels
# --------------
#
# One block computes the prefix sums of the 256 counts in 8 steps. Two barriers are needed in each
# step: all threads have to read before one of them writes, and all have to write before the next
# step reads.


@kernel(grid=1, block=LEVELS)
def new_levels(counts, levels):
    total = cuda.shared.array(LEVELS, int32)
    t = cuda.threadIdx.x
    total[t] = counts[t]
    cuda.syncthreads()
    distance = 1
    while distance < LEVELS:
        below = total[t - distance] if t >= distance else 0
        cuda.syncthreads()
        total[t] += below
        cuda.syncthreads()
        distance *= 2
    levels[t] = (LEVELS - 1) * total[t] // total[LEVELS - 1]


@kernel(block=(32, 8))
def replace_levels(image, levels, out):
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        out[y, x] = levels[image[y, x]]


def equalize(image):
    on_device, out = cuda.to_device(image), cuda.device_array_like(image)
    counts = cuda.to_device(np.zeros(LEVELS, np.int32))
    levels = cuda.device_array(LEVELS, np.uint8)
    count_levels(on_device, counts)
    new_levels(counts, levels)
    replace_levels(on_device, levels, out)
    return out.copy_to_host(), counts.copy_to_host()


# %%
# A dark image
# ------------


def craters(height, width, rng):
    """A surface with craters, lit from the left; uint8, with little contrast."""
    y, x = np.mgrid[0:height, 0:width]
    surface = np.zeros((height, width))
    for _ in range(150):
        cx, cy, radius = rng.uniform(0, width), rng.uniform(0, height), 3 + rng.exponential(8)
        distance = np.hypot(x - cx, y - cy) / radius
        surface += radius * (np.exp(-8 * (distance - 1) ** 2) - np.exp(-((1.3 * distance) ** 4)))
    light = np.gradient(surface, axis=1)
    return np.clip(60 + 9 * light + rng.normal(0, 1, light.shape), 0, 255).astype(np.uint8)


image = craters(240, 360, np.random.default_rng(16))
equalized, counts = equalize(image)

# %%
# Check
# -----

expected_counts = np.bincount(image.ravel(), minlength=LEVELS)
expected_levels = 255 * np.cumsum(expected_counts) // image.size
assert np.array_equal(counts, expected_counts)
assert np.array_equal(equalized, expected_levels[image])

# %%
# Before and after
# ----------------

fig, axes = plt.subplots(2, 2, figsize=(6.4, 4), layout="constrained", height_ratios=(2, 1))
for (top, bottom), picture, title in zip(axes.T, (image, equalized), ("Before", "After")):
    top.imshow(picture, cmap="gray", vmin=0, vmax=255)
    top.set(title=title, xlabel="column (pixel)", ylabel="row (pixel)")
    bottom.hist(picture.ravel(), bins=64, range=(0, 256), color="tab:blue")
    bottom.set(xlabel="grey level", ylabel="pixels", xlim=(0, 256))

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

count_levels
