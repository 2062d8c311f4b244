r"""
Heat equation
=============

*A stencil, and two arrays that are swapped after each launch.*

A square plate has a hot initial pattern and edges at 0 °C. Its temperature :math:`u` obeys the
heat equation

.. math:: \frac{\partial u}{\partial t} = \alpha \nabla^2 u.

An explicit finite-difference method moves each point towards the mean of its four neighbours.
"""

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, kernel

# %%
# One thread for each point
# -------------------------
#
# A kernel replaces the body of the two loops over x and y. ``cuda.grid(2)`` is the position of the
# thread; x is the last axis of the array, so neighbouring threads read neighbouring elements.
#
# The kernel reads one array and writes another. With a single array, a thread could read a
# neighbour that another thread has already replaced.


@kernel(block=(32, 8))
def heat_step(now, new, rate):
    x, y = cuda.grid(2)
    height, width = now.shape
    if x >= width or y >= height:
        return
    if 0 < x < width - 1 and 0 < y < height - 1:
        around = now[y - 1, x] + now[y + 1, x] + now[y, x - 1] + now[y, x + 1]
        new[y, x] = now[y, x] + rate * (around - 4 * now[y, x])
    else:
        new[y, x] = 0  # the edges stay cold


# %%
# The program
# -----------
#
# ``cuda.to_device`` copies an array to the GPU once. Without a GPU, the array stays in host memory
# and the same program runs on the CPU. ``heat_step(now, new, rate)`` launches as many blocks as
# the array needs: pycu2c infers the grid from the test of ``x`` and ``y``.


def simulate(plate, steps, rate):
    now, new = cuda.to_device(plate), cuda.device_array_like(plate)
    for _ in range(steps):
        heat_step(now, new, rate)
        now, new = new, now
    return now.copy_to_host()


SIZE = 241  # points along each side of the plate, which is 1 m long
RATE = 0.2  # alpha * dt / dx**2; the method is unstable above 0.25
ALPHA = 1e-4  # thermal diffusivity of copper, in m²/s
DX = 1 / (SIZE - 1)
DT = RATE * DX**2 / ALPHA

y, x = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32) * np.float32(DX)
radius = np.hypot(x - 0.5, y - 0.5)
ring = np.where(np.abs(radius - 0.3) < 0.03, 100, 0).astype(np.float32)

STEPS = (0, 150, 1000)
plates = [simulate(ring, steps, RATE) for steps in STEPS]

# %%
# Check
# -----
#
# For the initial state :math:`\sin(\pi x) \sin(\pi y)`, the exact solution of the differential
# equation is known: the pattern keeps its shape and decays as :math:`e^{-2 \pi^2 \alpha t}`.

wave = np.sin(np.pi * x) * np.sin(np.pi * y)
wave_after = simulate(wave, 3000, RATE)
decay = np.exp(-2 * np.pi**2 * ALPHA * 3000 * DT)
error = np.abs(wave_after - decay * wave).max()
print(f"after {3000 * DT:.0f} s: decay {decay:.4f}, largest error {error:.1e}")
assert error < 1e-3

# %%
# The plate
# ---------

fig, axes = plt.subplots(1, 3, figsize=(6.4, 2.6), layout="constrained", sharey=True)
for ax, plate, steps in zip(axes, plates, STEPS):
    image = ax.imshow(plate, cmap="inferno", vmin=0, vmax=100, extent=(0, 1, 0, 1), origin="lower")
    ax.set(title=f"t = {steps * DT:.0f} s", xlabel="x (m)", xticks=(0, 0.5, 1))
axes[0].set_ylabel("y (m)")
fig.colorbar(image, ax=axes, label="temperature (°C)", shrink=0.8)
fig.suptitle("A hot ring on a cold copper plate")

# %%
# The generated CUDA C
# --------------------
#
# ``inspect("cuda")`` returns the kernel as CUDA C. pycu2c has proved that no index is negative, so
# the code has none of the tests that Python's negative indices would need.

print(heat_step.inspect("cuda"))

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

heat_step
