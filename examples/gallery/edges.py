"""
Edge detection
==============

*A pipeline of kernels whose intermediate images stay on the device.*

Edges are places where the brightness of an image changes quickly. Three steps find them:
conversion to grey, a Gaussian blur that removes noise, and the Sobel filter, which estimates the
gradient.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, device, float32, kernel

# %%
# Pixels outside of the image
# ---------------------------
#
# Pixels at the border need neighbours that do not exist. ``at`` returns the nearest pixel inside.
# Device functions like this one take arrays, too. The compiler inlines them on the GPU.


@device
def at(image, y, x):
    height, width = image.shape
    return image[min(max(y, 0), height - 1), min(max(x, 0), width - 1)]


# %%
# Three kernels
# -------------
#
# ``rgb`` has the dtype uint8, and the kernel converts its elements to float32 first: as in NumPy,
# the sum of uint8 numbers would be a uint8, and might overflow. ``WEIGHTS`` is a global array. Its
# values become part of the kernel, in constant memory.

WEIGHTS = np.array([1, 4, 6, 4, 1], np.float32) / np.float32(16)


@kernel(block=(32, 8))
def to_grey(rgb, grey):
    x, y = cuda.grid(2)
    if x < grey.shape[1] and y < grey.shape[0]:
        red, green, blue = [float32(rgb[y, x, channel]) for channel in range(3)]
        grey[y, x] = (0.299 * red + 0.587 * green + 0.114 * blue) / 255


@kernel(block=(32, 8))
def blur(image, out):
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        total = 0.0
        for j in range(5):
            for i in range(5):
                total += WEIGHTS[j] * WEIGHTS[i] * at(image, y + j - 2, x + i - 2)
        out[y, x] = total


@kernel(block=(32, 8))
def sobel(image, out):
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        across = down = 0.0
        for k, weight in ((-1, 1), (0, 2), (1, 1)):
            across += weight * (at(image, y + k, x + 1) - at(image, y + k, x - 1))
            down += weight * (at(image, y + 1, x + k) - at(image, y - 1, x + k))
        out[y, x] = math.hypot(across, down)


def find_edges(photo):
    """The strength of the edge at each pixel."""
    rgb = cuda.to_device(photo)
    grey = cuda.device_array(photo.shape[:2], np.float32)
    smooth, strength = cuda.device_array_like(grey), cuda.device_array_like(grey)
    to_grey(rgb, grey)
    blur(grey, smooth)
    sobel(smooth, strength)
    return strength.copy_to_host()


# %%
# A noisy picture
# ---------------


def still_life(height, width, rng):
    """A ball, a box and a table in soft light, with the noise of a sensor; uint8."""
    y, x = np.mgrid[0:height, 0:width] / height
    picture = np.zeros((height, width, 3))
    picture[:] = (0.55 + 0.3 * x / x.max())[..., None] * np.array([0.75, 0.85, 1.0])
    picture[y > 0.7] = (0.5, 0.35, 0.2)
    box = (np.abs(x - 1.15) < 0.2) & (np.abs(y - 0.58) < 0.22)
    picture[box] = (0.75, 0.2, 0.15)
    radius = np.hypot(x - 0.5, y - 0.55)
    light = np.clip(1.1 - 2.2 * np.hypot(x - 0.42, y - 0.45), 0.15, 1)
    picture[radius < 0.27] = (light[..., None] * np.array([0.95, 0.85, 0.3]))[radius < 0.27]
    picture += rng.normal(0, 0.04, picture.shape)
    return (255 * np.clip(picture, 0, 1)).astype(np.uint8)


photo = still_life(300, 480, np.random.default_rng(3))
strength = find_edges(photo)

# %%
# Check
# -----
#
# Both filters are products of a filter along y and one along x. numpy computes them with slices of
# a padded image.


def filtered(image, along_y, along_x):
    height, width = image.shape
    margin = len(along_y) // 2
    padded = np.pad(image, margin, mode="edge")
    rows = sum(w * padded[k : k + height] for k, w in enumerate(along_y))
    return sum(w * rows[:, k : k + width] for k, w in enumerate(along_x))


grey = photo @ np.array([0.299, 0.587, 0.114]) / 255
smooth = filtered(grey, WEIGHTS, WEIGHTS)
across = filtered(smooth, (1, 2, 1), (-1, 0, 1))
down = filtered(smooth, (-1, 0, 1), (1, 2, 1))
expected = np.hypot(across, down)
error = np.abs(strength - expected).max()
print(f"edge strength: 0 to {strength.max():.2f}, largest error {error:.1e}")
assert error < 1e-5

# %%
# The edges
# ---------

fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 2.6), layout="constrained", sharey=True)
left.imshow(photo)
left.set(title="Input", xlabel="column (pixel)", ylabel="row (pixel)")
image = right.imshow(strength, cmap="viridis", vmin=0, vmax=0.6)
right.set(title="Edges", xlabel="column (pixel)")
fig.colorbar(image, ax=right, label="gradient", extend="max", shrink=0.7)

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

sobel
