r"""
Mandelbrot set
==============

*Complex numbers in a kernel, and threads of a warp that take different paths.*

The point :math:`c` of the complex plane belongs to the Mandelbrot set if the sequence
:math:`z_{n+1} = z_n^2 + c`, :math:`z_0 = 0`, stays bounded. The sequence diverges as soon as
:math:`|z| > 2`.
"""

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, kernel

# %%
# The kernel
# ----------
#
# The array ``counts`` has one element for each pixel. Kernels may use Python's complex numbers and
# ``while`` loops.
#
# A GPU executes threads in groups of 32, called warps. The threads of a warp share instructions,
# so a warp continues until its last thread leaves the loop. If threads leave at different times,
# they *diverge*.


@kernel(block=(32, 8))
def escape_times(counts, left, top, step, limit):
    x, y = cuda.grid(2)
    height, width = counts.shape
    if x >= width or y >= height:
        return
    c = complex(left + x * step, top - y * step)
    z = 0j
    n = 0
    while n < limit and z.real * z.real + z.imag * z.imag <= 4:
        z = z * z + c
        n += 1
    counts[y, x] = n


LIMIT = 200
WIDTH, HEIGHT = 640, 480
STEP = 3.2 / WIDTH
LEFT, TOP = -2.3, 1.2

counts = np.zeros((HEIGHT, WIDTH), np.int32)
escape_times(counts, LEFT, TOP, STEP, LIMIT)

# %%
# Check
# -----
#
# Two parts of the set have simple formulas: a cardioid, and a disk of radius 1/4 around -1. No
# point in them diverges. Outside of the disk of radius 2 around 0, each point diverges at once. A
# second check iterates a part of the picture with numpy.

c = (LEFT + np.arange(WIDTH) * STEP) + 1j * (TOP - np.arange(HEIGHT)[:, None] * STEP)
in_cardioid = np.abs(1 - np.sqrt(1 - 4 * c)) < 0.999
in_disk = np.abs(c + 1) < 0.249
assert (counts[in_cardioid | in_disk] == LIMIT).all()
assert (counts[np.abs(c) > 2] == 1).all()


def escape_times_numpy(c):
    counts = np.zeros(c.shape, np.int32)
    z = np.zeros_like(c)
    for _ in range(LIMIT):
        bounded = np.abs(z) <= 2
        counts += bounded
        z = np.where(bounded, z * z + c, 3)
    return counts


part = np.s_[::7, ::7]
equal = counts[part] == escape_times_numpy(c[part])
print(f"{equal.mean():.2%} of the checked pixels have numpy's count")
assert equal.mean() > 0.999  # rounding differs for a few points at the boundary

# %%
# The set
# -------

extent = (LEFT, LEFT + WIDTH * STEP, TOP - HEIGHT * STEP, TOP)
fig, ax = plt.subplots(layout="constrained")
inside = np.ma.masked_equal(counts, LIMIT)
image = ax.imshow(inside, cmap="viridis", norm="log", extent=extent)
ax.set_facecolor("black")
ax.set(title="The Mandelbrot set", xlabel="Re c", ylabel="Im c")
fig.colorbar(image, label="iterations until |z| > 2", shrink=0.8)

# %%
# The cost of divergence
# ----------------------
#
# A warp computes 32 neighbouring pixels of a row. It takes as long as its slowest pixel, so the
# share of useful work is the sum of its counts over 32 times their maximum.

warps = counts.reshape(HEIGHT, WIDTH // 32, 32)
useful = warps.sum(axis=2) / (32 * warps.max(axis=2))
print(f"useful iterations: {warps.sum() / (32 * warps.max(axis=2).sum()):.0%}")

fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
image = ax.imshow(
    100 * useful,
    cmap="cividis",
    vmin=0,
    vmax=100,
    extent=extent,
    aspect="auto",
    interpolation="nearest",
)
ax.set(title="Useful iterations of each warp", xlabel="Re c", ylabel="Im c")
fig.colorbar(image, label="share of useful iterations (%)")

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

escape_times
