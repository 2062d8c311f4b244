"""Kernels of a built library with arrays of records and of vectors."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, float4, float32, from_dtype, kernel

point = np.dtype([("x", "f4"), ("y", "f4")])
particle = np.dtype(
    [("at", point), ("hits", "i8"), ("way", "f8", (2, 3)), ("spin", "c8")], align=True
)
message = np.dtype([("kind", "i1"), ("time", "f8"), ("from", particle), ("level", "f2")])
color = np.dtype([("r", "u1"), ("g", "u1"), ("b", "u1")])


@kernel
def move(ps: from_dtype(particle)[:], messages: from_dtype(message)[::1], dt: float32):
    """Move particles, and copy each into a message."""
    i = cuda.grid(1)
    if i < len(ps):
        ps[i].at.x += dt
        ps[i].hits += 1
        ps[i].way[1, 2] = i
        messages[i].time = ps[i].hits
        messages[i]["from"] = ps[i]
        messages[i].level = 0.5


@kernel
def gray(pixels: from_dtype(color)[:, ::1], out: float4[:, ::1]):
    """Store the mean of a colour, and the colour."""
    x, y = cuda.grid(2)
    if x < pixels.shape[1] and y < pixels.shape[0]:
        p = pixels[y, x]
        out[y, x] = cuda.float4((float32(p.r) + p.g + p.b) / 3, p.r, p.g, p.b)


@kernel
def store(p: from_dtype(point), out: float32[::1]):
    """Store the fields of a record."""
    out[0], out[1] = p.x, p.y


@kernel(["float4[:], float4[::1]", "float2[:], float2[::1]"])
def shift(v, out):
    """Copy vectors, and add 1 to the first components."""
    i = cuda.grid(1)
    if i < len(out):
        out[i] = v[i]
        out[i].x += 1
