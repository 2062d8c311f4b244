r"""
Bilateral filter
================

*A tile of the image with its margin in shared memory.*

The bilateral filter removes noise and keeps edges. A pixel becomes a weighted mean of its
neighbours; the weight falls with the distance and with the difference in brightness:

.. math:: w = \exp\left(-\frac{|\mathbf r - \mathbf r'|^2}{2 \sigma_r^2}
              - \frac{(I - I')^2}{2 \sigma_I^2}\right).
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, float32, kernel

# %%
# The kernel
# ----------
#
# The windows of neighbouring pixels overlap: with a radius of 4, a window has 81 pixels. The
# threads of a block first load all pixels that they need to shared memory: their 16 × 16 pixels
# and a margin of 4 on each side (the *halo*), 24 × 24 in all. As the block has fewer threads than
# the tile has pixels, the loops go in steps of 16. After the barrier, all windows are read from
# the tile.

TILE = 16
RADIUS = 4
EXTENT = TILE + 2 * RADIUS


@kernel(block=(TILE, TILE), weak_float="float32")
def bilateral(image, out, sigma_distance, sigma_brightness):
    tile = cuda.shared.array((EXTENT, EXTENT), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    height, width = image.shape
    left, top = x - tx - RADIUS, y - ty - RADIUS
    for j in range(ty, EXTENT, TILE):
        for i in range(tx, EXTENT, TILE):
            row, column = min(max(top + j, 0), height - 1), min(max(left + i, 0), width - 1)
            tile[j, i] = image[row, column]
    cuda.syncthreads()

    centre = tile[ty + RADIUS, tx + RADIUS]
    total = weights = 0.0
    by_distance = 1 / (2 * sigma_distance**2)
    by_brightness = 1 / (2 * sigma_brightness**2)
    for j in range(2 * RADIUS + 1):
        for i in range(2 * RADIUS + 1):
            value = tile[ty + j, tx + i]
            square = (i - RADIUS) ** 2 + (j - RADIUS) ** 2
            weight = math.exp(-square * by_distance - (value - centre) ** 2 * by_brightness)
            total += weight * value
            weights += weight
    if x < width and y < height:
        out[y, x] = total / weights


# %%
# A noisy image
# -------------


def stripes_and_discs(height, width):
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    image = 0.3 + 0.2 * np.sin(x / 25) * np.sin(y / 35)
    image[np.hypot(x - 70, y - 90) < 45] = 0.8
    image[(np.abs(x - 160) < 30) & (np.abs(y - 120) < 60)] += 0.3
    image[(y < 30) & (x // 12 % 2 == 0)] = 0.9
    return image.astype(np.float32)


clean = stripes_and_discs(200, 220)
rng = np.random.default_rng(9)
noisy = clean + rng.normal(0, 0.07, clean.shape).astype(np.float32)
SIGMA_DISTANCE, SIGMA_BRIGHTNESS = 2.5, 0.2

smooth = np.zeros_like(noisy)
bilateral(noisy, smooth, SIGMA_DISTANCE, SIGMA_BRIGHTNESS)

# %%
# Check
# -----
#
# numpy adds up one shifted copy of the image for each of the 81 neighbours.


def bilateral_numpy(image):
    height, width = image.shape
    padded = np.pad(image.astype(float), RADIUS, mode="edge")
    total = weights = 0
    for j in range(2 * RADIUS + 1):
        for i in range(2 * RADIUS + 1):
            value = padded[j : j + height, i : i + width]
            square = (i - RADIUS) ** 2 + (j - RADIUS) ** 2
            change = (value - image) / SIGMA_BRIGHTNESS
            weight = np.exp(-square / (2 * SIGMA_DISTANCE**2) - change**2 / 2)
            total, weights = total + weight * value, weights + weight
    return total / weights


def rms(difference):
    return np.sqrt((difference**2).mean())


error = np.abs(smooth - bilateral_numpy(noisy)).max()
print(f"largest difference from numpy: {error:.1e}")
print(f"noise before: {rms(noisy - clean):.3f}, after: {rms(smooth - clean):.3f}")
assert error < 1e-5
assert rms(smooth - clean) < rms(noisy - clean) / 2

# %%
# The result
# ----------

fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.1), layout="constrained", sharey=True)
for ax, picture, title in zip(axes, (noisy, smooth), ("Noisy", "Filtered")):
    image = ax.imshow(picture, cmap="gray", vmin=0, vmax=1)
    ax.set(title=title, xlabel="column (pixel)")
axes[0].set_ylabel("row (pixel)")
fig.colorbar(image, ax=axes, label="brightness", shrink=0.8)

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

bilateral
