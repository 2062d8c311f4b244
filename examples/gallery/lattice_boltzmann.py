r"""
Flow past a cylinder (lattice Boltzmann)
========================================

*Loops over constant tuples that are unrolled at compile time, and an array layout for the GPU.*

The lattice Boltzmann method simulates a fluid as particle populations on a grid. In two
dimensions, each point has nine populations, one for each of the velocities to its neighbours and
one at rest (D2Q9). A time step has two parts:

- *streaming*: each population moves to the neighbour in its direction,
- *collision*: the populations of a point relax towards the equilibrium of its density and velocity.

Behind a cylinder, the flow sheds vortices at a regular frequency, the Kármán vortex street.
"""

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, device, kernel

# %%
# The model
# ---------
#
# Global tuples are constants for the compiler. A loop over a tuple is unrolled, so weights and
# velocities become numbers in the generated code.

VELOCITIES = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))
WEIGHTS = (4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36)
OPPOSITE = (0, 3, 4, 1, 2, 7, 8, 5, 6)
SPEED = 0.1  # of the inflow, in grid points per step


@device
def equilibrium(weight, velocity, density, u, v):
    cx, cy = velocity
    along = 3 * (cx * u + cy * v)
    return weight * density * (1 + along + along * along / 2 - 1.5 * (u * u + v * v))


# %%
# The kernel
# ----------
#
# The array ``f`` has the shape (9, height, width). Neighbouring threads read neighbouring elements
# of the last axis, so the GPU combines the accesses of a warp (*coalesced* access). With the shape
# (height, width, 9), it could not.
#
# A population that would come out of the cylinder is the one that went in, reversed
# (*bounce-back*). The grid is periodic in y. The inflow on the left has a fixed velocity.


@kernel(block=(64, 4), weak_float="float32")
def fluid_step(f, new, solid, omega):
    x, y = cuda.grid(2)
    height, width = solid.shape
    if x >= width or y >= height:
        return
    if x == 0:
        for k, (weight, velocity) in enumerate(zip(WEIGHTS, VELOCITIES)):
            new[k, y, x] = equilibrium(weight, velocity, 1.0, SPEED, 0.0)
        return

    source_x = min(x, width - 2)  # the outflow repeats the column before it
    arriving = [
        f[OPPOSITE[k], y, source_x]
        if solid[(y - cy) % height, source_x - cx]
        else f[k, (y - cy) % height, source_x - cx]
        for k, (cx, cy) in enumerate(VELOCITIES)
    ]
    density = sum(arriving)
    u = sum([cx * p for (cx, _), p in zip(VELOCITIES, arriving)]) / density
    v = sum([cy * p for (_, cy), p in zip(VELOCITIES, arriving)]) / density
    for k, (weight, velocity, p) in enumerate(zip(WEIGHTS, VELOCITIES, arriving)):
        new[k, y, x] = p + omega * (equilibrium(weight, velocity, density, u, v) - p)


# %%
# The simulation
# --------------
#
# The Reynolds number is the ratio of inertia to viscosity. The vortex street appears above 50. The
# cylinder is slightly off the centre, which breaks the symmetry.

WIDTH, HEIGHT, DIAMETER = 200, 64, 12
REYNOLDS = 100
VISCOSITY = SPEED * DIAMETER / REYNOLDS
OMEGA = 1 / (3 * VISCOSITY + 0.5)

x, y = np.arange(WIDTH), np.arange(HEIGHT)[:, None]
solid = np.hypot(x - 40, y - HEIGHT / 2 - 1.3) < DIAMETER / 2


def velocity(f):
    density = f.sum(axis=0)
    moment = np.tensordot(np.array(VELOCITIES, np.float32), f, axes=(0, 0))
    return moment / density


def uniform_flow(shape):
    """The populations of a fluid that moves with the speed of the inflow."""
    along = 3 * SPEED * np.array(VELOCITIES)[:, 0]
    populations = np.array(WEIGHTS) * (1 + along + along**2 / 2 - 1.5 * SPEED**2)
    f = np.empty((9, *shape), np.float32)
    f[:] = populations[:, None, None]
    return f


def simulate(f, steps, probe_every=20):
    """The populations after the steps, and the velocity across the flow behind the cylinder."""
    now, new, obstacle = cuda.to_device(f), cuda.device_array_like(f), cuda.to_device(solid)
    probe = []
    for step in range(steps):
        fluid_step(now, new, obstacle, OMEGA)
        now, new = new, now
        if step % probe_every == 0:
            point = now[:, HEIGHT // 2, 70].copy_to_host()
            probe.append(velocity(point)[1])
    return now.copy_to_host(), np.array(probe)


start = uniform_flow((HEIGHT, WIDTH))
flow, probe = simulate(start, 5000)

# %%
# Check
# -----
#
# A numpy version with whole arrays computes the first 50 steps. The frequency of the vortices is
# compared with experiments: for cylinders, the Strouhal number is about 0.2.


def simulate_numpy(f, steps):
    cx, cy = np.array(VELOCITIES).T[:, :, None, None]
    weights = np.array(WEIGHTS)[:, None, None]
    inflow = f[:, :, 0].copy()
    for _ in range(steps):
        arriving = np.stack([np.roll(p, (v, u), (0, 1)) for p, (u, v) in zip(f, VELOCITIES)])
        for k, (u, v) in enumerate(VELOCITIES):
            bounced = np.roll(solid, (v, u), (0, 1))
            arriving[k][bounced] = f[OPPOSITE[k]][bounced]
        density = arriving.sum(axis=0)
        u, v = (cx * arriving).sum(axis=0) / density, (cy * arriving).sum(axis=0) / density
        along = 3 * (cx * u + cy * v)
        balance = weights * density * (1 + along + along**2 / 2 - 1.5 * (u * u + v * v))
        f = arriving + OMEGA * (balance - arriving)
        f[:, :, 0] = inflow
        f[:, :, -1] = f[:, :, -2]
    return f


fluid = ~solid
difference = np.abs(simulate(start, 50)[0] - simulate_numpy(start.astype(float), 50))[:, fluid]
print(f"largest difference from numpy after 50 steps: {difference.max():.1e}")
assert difference.max() < 1e-5

regular = probe[len(probe) // 2 :] - probe[len(probe) // 2 :].mean()
crossings = np.flatnonzero(np.diff(np.sign(regular)) > 0)
period = 20 * np.diff(crossings).mean()
strouhal = DIAMETER / (SPEED * period)
print(f"Strouhal number: {strouhal:.2f}")
assert 0.15 < strouhal < 0.25

# %%
# The vortex street
# -----------------
#
# Vorticity is the curl of the velocity. Its sign is the direction of rotation.

u, v = velocity(flow)
vorticity = np.gradient(v, axis=1) - np.gradient(u, axis=0)
vorticity[solid] = np.nan

fig, (top, bottom) = plt.subplots(
    2, 1, figsize=(6.4, 4.2), layout="constrained", height_ratios=(2, 1)
)
image = top.imshow(1000 * vorticity, cmap="PuOr", vmin=-20, vmax=20, origin="lower")
top.set_facecolor("black")
top.set(title=f"Vorticity at a Reynolds number of {REYNOLDS}", xlabel="x (grid points)")
top.set_ylabel("y (grid points)")
fig.colorbar(image, ax=top, label="vorticity (10⁻³ / step)", extend="both")
bottom.plot(20 * np.arange(len(probe)), probe / SPEED)
bottom.set(title="Behind the cylinder", xlabel="time (steps)", ylabel="cross velocity / inflow")

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

fluid_step
