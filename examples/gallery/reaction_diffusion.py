r"""
Reaction and diffusion (Gray–Scott)
===================================

*A dataclass as an argument, and functions that return tuples.*

Two substances diffuse and react: :math:`U + 2 V \to 3 V`. :math:`U` is fed at a rate :math:`f`,
and :math:`V` is removed at a rate :math:`f + k`:

.. math:: \frac{\partial u}{\partial t} = D_u \nabla^2 u - u v^2 + f (1 - u), \qquad
          \frac{\partial v}{\partial t} = D_v \nabla^2 v + u v^2 - (f + k) v.

Depending on :math:`f` and :math:`k`, the concentrations form spots, stripes or labyrinths.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, device, kernel

# %%
# The kernel
# ----------
#
# A frozen dataclass groups parameters. In the kernel, its fields are scalars, each an argument of
# the CUDA function. ``weak_float="float32"`` makes arithmetic of the parameters float32. Device
# functions may return tuples.
#
# Nine points estimate the Laplacian: -1 for the centre, 0.2 for neighbours along the axes and 0.05
# for those along the diagonals. The grid is periodic: the index -1 is the last element, as in
# Python. At the other end, ``xn`` and ``yn`` start again at 0.


@dataclass(frozen=True)
class Model:
    feed: float
    kill: float
    diffusion_u: float = 1.0
    diffusion_v: float = 0.5


@device
def laplacian(a, x, y):
    height, width = a.shape
    xn, yn = (x + 1) % width, (y + 1) % height
    along = a[y, x - 1] + a[y, xn] + a[y - 1, x] + a[yn, x]
    diagonal = a[y - 1, x - 1] + a[y - 1, xn] + a[yn, x - 1] + a[yn, xn]
    return 0.2 * along + 0.05 * diagonal - a[y, x]


@device
def reaction(u, v, model):
    """The rates of change of both concentrations."""
    uvv = u * v * v
    return model.feed * (1 - u) - uvv, uvv - (model.feed + model.kill) * v


@kernel(block=(32, 8), weak_float="float32")
def step(u, v, new_u, new_v, model):
    x, y = cuda.grid(2)
    height, width = u.shape
    if x < width and y < height:
        rate_u, rate_v = reaction(u[y, x], v[y, x], model)
        new_u[y, x] = u[y, x] + model.diffusion_u * laplacian(u, x, y) + rate_u
        new_v[y, x] = v[y, x] + model.diffusion_v * laplacian(v, x, y) + rate_v


# %%
# Three models
# ------------


def start(size, rng):
    """Much U everywhere, and squares with V at random places."""
    u, v = np.ones((size, size), np.float32), np.zeros((size, size), np.float32)
    for x, y in rng.integers(0, size - 8, (20, 2)):
        u[y : y + 8, x : x + 8], v[y : y + 8, x : x + 8] = 0.5, 0.25
    return u, v


def simulate(u, v, model, steps):
    now = cuda.to_device(u), cuda.to_device(v)
    new = cuda.device_array_like(u), cuda.device_array_like(v)
    for _ in range(steps):
        step(*now, *new, model)
        now, new = new, now
    return now[0].copy_to_host(), now[1].copy_to_host()


models = {
    "spots": Model(feed=0.035, kill=0.065),
    "labyrinth": Model(feed=0.037, kill=0.060),
    "holes": Model(feed=0.039, kill=0.058),
}
initial = start(100, np.random.default_rng(18))
patterns = {name: simulate(*initial, model, 2000)[1] for name, model in models.items()}

# %%
# Check
# -----
#
# ``np.roll`` shifts a periodic array. The first 100 steps are compared with numpy's in float64.


def laplacian_numpy(a):
    along = sum(np.roll(a, shift, axis) for shift in (-1, 1) for axis in (0, 1))
    diagonal = sum(np.roll(a, (p, q), (0, 1)) for p in (-1, 1) for q in (-1, 1))
    return 0.2 * along + 0.05 * diagonal - a


def simulate_numpy(u, v, model, steps):
    for _ in range(steps):
        rate_u, rate_v = reaction(u, v, model)  # a device function is also a Python function
        u, v = (
            u + model.diffusion_u * laplacian_numpy(u) + rate_u,
            v + model.diffusion_v * laplacian_numpy(v) + rate_v,
        )
    return u, v


for name, model in models.items():
    result = simulate(*initial, model, 100)
    expected = simulate_numpy(*(a.astype(float) for a in initial), model, 100)
    error = max(np.abs(a - b).max() for a, b in zip(result, expected))
    print(f"{name}: largest difference from numpy {error:.1e}")
    assert error < 1e-5

# %%
# The patterns
# ------------

fig, axes = plt.subplots(1, 3, figsize=(6.4, 2.6), layout="constrained", sharey=True)
for ax, (name, v) in zip(axes, patterns.items()):
    image = ax.imshow(v, cmap="viridis", vmin=0, vmax=0.4)
    model = models[name]
    ax.set(title=f"{name}\nf = {model.feed:.3f}, k = {model.kill:.3f}", xlabel="x")
    ax.title.set_fontsize("medium")
axes[0].set_ylabel("y")
fig.colorbar(image, ax=axes, label="concentration of V", shrink=0.8)

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

step
