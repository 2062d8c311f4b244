"""Complex numbers and vectors in divergent loops are split into components in SIMD batches."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import cuda, device, float2, kernel
from support.launching import run

WIDTH, HEIGHT = 37, 21
LAUNCH = ((4, 3), (11, 7))  # some threads have no point


def points(dtype):
    x = np.linspace(-2.1, 0.9, WIDTH)
    y = np.linspace(-1.3, 1.2, HEIGHT)
    return (x[None, :] + 1j * y[:, None]).astype(dtype)


@kernel
def by_parts(out, c, limit):
    j, i = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        start = c[i, j]
        z = start
        count = 0
        while count < limit and z.real * z.real + z.imag * z.imag < 4:
            z = z * z + start
            count += 1
        out[i, j] = z * count


@kernel
def by_size(out, c, limit):
    j, i = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        z = 0 * c[i, j]
        start = c[i, j]
        count = 0
        while abs(z) <= 2 and count < limit:
            z = z**2 + start
            count += 1
        out[i, j] = count


@kernel
def newton(out, c, limit):
    """By quotients, a conjugate, a negated number, and what a condition chooses."""
    j, i = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        z = c[i, j]
        last = -z
        turned = z.conjugate()
        count = 0
        while count < limit:
            last, z = z, z - (z * z * z - 1) / (3 * z * z)
            turned = z if count % 2 == 0 else turned.conjugate()
            count += 1
            if abs(z - last) < 1e-3:
                break
        out[i, j] = turned + count


@device
def step(z, c):
    return z * z + c


@device
def size(z):
    x = z.real
    if x < 0:
        x = -x
    y = abs(z.imag)
    return x if x > y else y


@kernel
def by_functions(out, c, limit):
    j, i = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        start = c[i, j]
        z = start
        count = 0
        while count < limit and size(z) < 2:
            z = step(step(z, start), start)
            count += 1
        out[i, j] = count


@device
def rounds(start, limit):
    z = start
    for count in range(limit):
        if z.real * z.real + z.imag * z.imag > 4:
            return count
        z = step(z, start)
    return limit


@kernel
def of_a_parameter(out, c, limit):
    j, i = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        out[i, j] = rounds(c[i, j], limit)


@kernel
def swapping(out, c, limit):
    """What one part becomes is what the other one was."""
    j, i = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        z = c[i, j]
        count = 0
        while count < limit and z.real < 1:
            z = (z - z.conjugate()) * -0.5j + 0.5 + (z + z.conjugate()) * 0.5j
            count += 1
        out[i, j] = z + count


KERNELS = [by_parts, by_size, newton, by_functions, of_a_parameter, swapping]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("k", KERNELS, ids=lambda k: k.name)
def test_complex_numbers(k, dtype, target):
    c = points(dtype)
    arguments = np.zeros_like(c), c, 12
    with np.errstate(all="ignore"):
        expected, _, _ = run(k, LAUNCH, arguments, "python")
    out, _, _ = run(k, LAUNCH, arguments, target)
    np.testing.assert_allclose(out, expected, rtol=2e-3 if dtype is np.complex64 else 1e-9)


@kernel
def walking(out, x, limit):
    i = cuda.grid(1)
    if i < x.size:
        place, stride = float2(x[i], 0), float2(1, x[i])
        count = 0
        while count < limit and place.x * place.x + place.y * place.y < 50:
            place = float2(place.x + stride.x, place.y + stride.y)
            stride = float2(stride.y, -stride.x)
            stride.x *= 1.5
            count += 1
        out[i] = place.x - place.y + count


def test_vectors(target):
    x = np.linspace(-3, 3, 100).astype(np.float32)
    arguments = np.zeros_like(x), x, 40
    expected, _, _ = run(walking, (2, 64), arguments, "python")
    out, _, _ = run(walking, (2, 64), arguments, target)
    np.testing.assert_allclose(out, expected, rtol=1e-5)


def in_c(k):
    if k is walking:
        return k.inspect("c", "float32[::1], float32[::1], int")
    return k.inspect("c", "complex64[:, ::1], complex64[:, ::1], int")


@pytest.mark.parametrize("k", [*KERNELS, walking], ids=lambda k: k.name)
def test_divergent_loops_are_strip_mined(k):
    lanes = in_c(k).split("int64_t strip = 0")[1].split("if (any_active == 0)")[0]
    assert "_c64" not in lanes
    assert "float2" not in lanes


@kernel
def once(out, c, limit):
    j, i = cuda.grid(2)
    z = c[i, j]
    for _ in range(limit):
        z = step(z, z)
    out[i, j] = z


def test_other_code_reads_as_it_was_written():
    text = in_c(once)
    assert " = step(z_1, z_1);" in text
    assert "_real" not in text
