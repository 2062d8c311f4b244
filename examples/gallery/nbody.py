r"""
N-body simulation
=================

*Tiles in shared memory, so that a block reads each body once for all its threads.*

Every body attracts every other body by gravity. With :math:`n` bodies, a step computes
:math:`n^2` forces:

.. math:: \mathbf a_i = G \sum_j m_j \frac{\mathbf r_j - \mathbf r_i}
          {(|\mathbf r_j - \mathbf r_i|^2 + \varepsilon^2)^{3/2}}.

The softening length :math:`\varepsilon` bounds the force of close encounters. The example
collides two discs of stars, in units with :math:`G = 1`.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, float32, kernel

# %%
# The kernel
# ----------
#
# Each thread computes the acceleration of one body, and needs the positions of all bodies. The
# threads of a block load a tile of positions to shared memory, one each, and wait at a barrier.
# Then all read the tile. The second barrier keeps fast threads from overwriting the tile while
# others still read it.
#
# The rows of ``bodies`` are x, y, z and the mass. Neighbouring threads read neighbouring elements
# of a row, which a GPU combines into few accesses to memory (*coalesced* access).

TILE = 128
SOFTENING = 0.05


@kernel(block=TILE, weak_float="float32")
def accelerate(bodies, acceleration):
    i, t = cuda.grid(1), cuda.threadIdx.x
    n = bodies.shape[1]
    tile = cuda.shared.array((4, TILE), float32)
    me = min(i, n - 1)  # threads without a body help to load tiles
    x, y, z = bodies[0, me], bodies[1, me], bodies[2, me]
    ax = ay = az = 0.0
    for start in range(0, n, TILE):
        if start + t < n:
            for k in range(4):
                tile[k, t] = bodies[k, start + t]
        cuda.syncthreads()
        for j in range(min(TILE, n - start)):
            dx, dy, dz = tile[0, j] - x, tile[1, j] - y, tile[2, j] - z
            square = dx * dx + dy * dy + dz * dz + SOFTENING * SOFTENING
            pull = tile[3, j] / (square * math.sqrt(square))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        cuda.syncthreads()
    if i < n:
        acceleration[0, i] = ax
        acceleration[1, i] = ay
        acceleration[2, i] = az


@kernel(block=TILE)
def add_scaled(a, b, factor):
    """Add a multiple of the first three rows of b to those of a."""
    i = cuda.grid(1)
    if i < a.shape[1]:
        for k in range(3):
            a[k, i] += factor * b[k, i]


# %%
# Two discs
# ---------
#
# Each disc has a heavy centre, and stars on circular orbits around it.


def disc(stars, centre, motion, tilt, rng):
    """The bodies (x, y, z, mass) and velocities of a disc that is tilted around the x axis."""
    radius = np.sqrt(rng.uniform(0.1, 1, stars))
    angle = rng.uniform(0, 2 * np.pi, stars)
    speed = np.sqrt(radius**2 / (radius**2 + SOFTENING**2) ** 1.5)  # around a mass of 1
    radius[0] = speed[0] = 0
    c, s = np.cos(tilt), np.sin(tilt)
    rotation = np.array([[1, 0], [0, c], [0, s]])
    position = rotation @ (radius * np.array([np.cos(angle), np.sin(angle)]))
    velocity = rotation @ (speed * np.array([-np.sin(angle), np.cos(angle)]))
    mass = np.full(stars, 0.05 / stars)
    mass[0] = 1
    position += np.array(centre)[:, None]
    velocity += np.array(motion)[:, None]
    return np.vstack([position, mass]), velocity


rng = np.random.default_rng(4)
first = disc(512, (-1.4, -0.5, 0), (0.5, 0.1, 0), 0.3, rng)
second = disc(512, (1.4, 0.5, 0), (-0.5, -0.1, 0), 1.0, rng)
start, start_velocity = (np.hstack(both).astype(np.float32) for both in zip(first, second))

# %%
# The simulation
# --------------
#
# The leapfrog method conserves energy well: half a step of the velocities, a step of the
# positions, and another half step of the velocities.


def simulate(bodies, velocity, steps, dt):
    bodies, velocity = cuda.to_device(bodies), cuda.to_device(velocity)
    acceleration = cuda.device_array_like(velocity)
    blocks = math.ceil(bodies.shape[1] / TILE)
    accelerate[blocks](bodies, acceleration)
    for _ in range(steps):
        add_scaled(velocity, acceleration, dt / 2)
        add_scaled(bodies, velocity, dt)
        accelerate[blocks](bodies, acceleration)
        add_scaled(velocity, acceleration, dt / 2)
    return bodies.copy_to_host(), velocity.copy_to_host()


DT = 0.005
states = [(start, start_velocity)]
for steps in (350, 200):
    states.append(simulate(*states[-1], steps, DT))

# %%
# Check
# -----
#
# The accelerations are compared with numpy's. The total energy has to stay the same.


def differences(bodies):
    """The vectors between all pairs of bodies, and their softened lengths."""
    p = bodies[:3].astype(float)
    away = p[:, None, :] - p[:, :, None]
    return away, np.sqrt((away**2).sum(axis=0) + SOFTENING**2)


def accelerate_numpy(bodies):
    away, distance = differences(bodies)
    return (bodies[3] * away / distance**3).sum(axis=2)


def energy(bodies, velocity):
    mass = bodies[3].astype(float)
    kinetic = (mass * (velocity.astype(float) ** 2).sum(axis=0)).sum() / 2
    pairs = np.outer(mass, mass) / differences(bodies)[1]
    return kinetic - np.triu(pairs, 1).sum()


acceleration = np.zeros_like(start_velocity)
accelerate[8](start, acceleration)
expected = accelerate_numpy(start)
error = np.abs(acceleration - expected).max() / np.abs(expected).max()
energies = [energy(*state) for state in states]
print(f"largest relative error of an acceleration: {error:.1e}")
print(f"energies: {', '.join(f'{e:.5f}' for e in energies)}")
assert error < 1e-5
assert np.ptp(energies) < 0.01 * abs(energies[0])

# %%
# The collision
# -------------

fig, axes = plt.subplots(1, 3, figsize=(6.4, 2.9), layout="constrained", sharey=True)
for ax, (bodies, _), steps in zip(axes, states, (0, 350, 550)):
    ax.plot(*bodies[:2, :512], ".", ms=1.5, color="tab:blue", label="first disc")
    ax.plot(*bodies[:2, 512:], ".", ms=1.5, color="tab:orange", label="second disc")
    ax.set(title=f"t = {steps * DT:g}", xlabel="x", xlim=(-2.6, 2.6), ylim=(-2.6, 2.6))
    ax.set_box_aspect(1)
axes[0].set_ylabel("y")
axes[1].legend(loc="lower center", markerscale=5, fontsize="small")

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

accelerate
