r"""
Ray marching
============

*Small device functions, and vectors as tuples.*

A *signed distance function* (SDF) gives the distance from a point to the nearest surface. It is
negative inside of an object. To find where a ray hits a scene, the ray may always advance by the
distance at its current position: no surface is nearer. This method is called sphere tracing.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, device, kernel

# %%
# The scene
# ---------
#
# ``@device`` marks functions that kernels call. Tuples are vectors of fixed length; they are kept
# in registers. The smooth minimum of two distances joins two objects.


@device
def length(v):
    x, y, z = v
    return math.sqrt(x * x + y * y + z * z)


@device
def along(origin, direction, t):
    """The point at distance t from the origin."""
    return tuple(o + t * d for o, d in zip(origin, direction))


@device
def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


@device
def normalized(v):
    norm = length(v)
    return tuple(c / norm for c in v)


@device
def sphere(p, centre, radius):
    return length(tuple(a - b for a, b in zip(p, centre))) - radius


@device
def torus(p, radius, thickness):
    x, y, z = p
    ring = math.sqrt(x * x + z * z) - radius
    return math.sqrt(ring * ring + y * y) - thickness


@device
def smooth_min(a, b, k):
    h = max(k - abs(a - b), 0.0) / k
    return min(a, b) - h * h * k / 4


@device
def objects(p):
    ball = sphere(p, (0.0, 0.4, 0.0), 0.8)
    blob = smooth_min(ball, torus(p, 1.1, 0.25), 0.35)
    ground = p[1] + 0.4
    return min(blob, ground)


# %%
# The kernel
# ----------
#
# ``march`` and ``normal`` take ``objects`` as an argument: pycu2c compiles a version of them for
# each function that is passed. The normal of a surface is the gradient of the distance. A second
# ray towards the light finds shadows.
#
# ``weak_float="float32"`` gives Python's floats the type float32. Without it, they are float64, as
# in Python, and most GPUs compute float64 many times slower than float32.

FAR = 20.0
HIT = 1e-3
LIGHT = (0.49, 0.77, -0.41)  # the direction to the light, of length 1


@device
def march(distance, origin, direction):
    """The distance along the ray to the first surface, or FAR."""
    t = 0.0
    for _ in range(160):
        d = distance(along(origin, direction, t))
        if d < HIT:
            return t
        t += d
        if t > FAR:
            break
    return FAR


@device
def normal(distance, p):
    x, y, z = p
    h = 2e-3
    dx = distance((x + h, y, z)) - distance((x - h, y, z))
    dy = distance((x, y + h, z)) - distance((x, y - h, z))
    dz = distance((x, y, z + h)) - distance((x, y, z - h))
    return normalized((dx, dy, dz))


@device
def camera_ray(i, j, width, height):
    """The direction through a pixel, for a camera that looks along z and slightly down."""
    u = (i + 0.5 - width / 2) / height
    v = (height / 2 - j - 0.5) / height
    return normalized((u, v - 0.4, 1.3))


@kernel(block=(32, 8), weak_float="float32")
def render(brightness, depth, distance, eye):
    i, j = cuda.grid(2)
    height, width = depth.shape
    if i >= width or j >= height:
        return
    direction = camera_ray(i, j, width, height)
    t = march(distance, eye, direction)
    depth[j, i] = t
    brightness[j, i] = 0.0
    if t < FAR:
        p = along(eye, direction, t)
        n = normal(distance, p)
        lit = max(dot(n, LIGHT), 0.0)
        if lit > 0 and march(distance, along(p, n, 0.02), LIGHT) < FAR:
            lit = 0.0  # something is between this point and the light
        brightness[j, i] = 0.15 + 0.85 * lit


def picture(distance, eye=(0.0, 1.5, -4.0)):
    brightness, depth = np.zeros((2, 360, 640), np.float32)
    render(brightness, depth, distance, eye)
    return brightness, depth


brightness, depth = picture(objects)

# %%
# Check
# -----
#
# A ray and a single sphere meet where a quadratic equation has its smaller root.


@device
def one_sphere(p):
    return sphere(p, (0.0, 0.0, 0.0), 1.0)


def sphere_depth(height, width, eye):
    i, j = np.arange(width), np.arange(height)[:, None]
    u, v = (i + 0.5 - width / 2) / height, (height / 2 - j - 0.5) / height
    direction = np.stack(np.broadcast_arrays(u, v - 0.4, 1.3), axis=2)
    direction /= np.linalg.norm(direction, axis=2, keepdims=True)
    b = direction @ eye
    discriminant = b * b - (np.dot(eye, eye) - 1)
    return np.where(discriminant > 0, -b - np.sqrt(np.maximum(discriminant, 0)), FAR), discriminant


_, measured = picture(one_sphere)
exact, discriminant = sphere_depth(360, 640, np.array([0, 1.5, -4.0]))
clear = np.abs(discriminant) > 0.02  # rays that do not graze the sphere
difference = np.abs(measured - exact)[clear].max()
print(f"{(exact < FAR).sum()} rays hit the sphere; largest difference in depth {difference:.1e}")
assert difference < 0.02

# %%
# The picture
# -----------

fig, (top, bottom) = plt.subplots(2, 1, figsize=(6.4, 6.6), layout="constrained")
image = top.imshow(brightness, cmap="gray", vmin=0, vmax=1)
top.set(title="Brightness", xlabel="column (pixel)", ylabel="row (pixel)")
fig.colorbar(image, ax=top, label="brightness")
image = bottom.imshow(np.ma.masked_greater_equal(depth, FAR), cmap="viridis_r", vmax=10)
bottom.set(title="Depth", xlabel="column (pixel)", ylabel="row (pixel)")
fig.colorbar(image, ax=bottom, label="distance from the camera", extend="max")

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

render
