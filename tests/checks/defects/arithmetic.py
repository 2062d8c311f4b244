"""Integer divisions by 0, shifts, powers, and floats that an integer type does not represent."""

from __future__ import annotations

import math

import numpy as np

from pycu2c import cuda, device, int8, int32, uint8
from support.defects import noise, ramp, seeded, zeros


@seeded(
    "arithmetic",
    1,
    32,
    lambda: (noise(32), noise(32, limit=3), zeros(32, dtype=np.int32)),
)
def mean_of_an_empty_group(sums, counts, out):
    """A group without elements."""
    i = cuda.grid(1)
    if counts[i] > 0:  # defect: if counts[i] >= 0:
        out[i] = sums[i] // counts[i]  # finding


@seeded("arithmetic", 1, 32, lambda: (noise(32, dtype=np.uint8), zeros(32, dtype=np.uint8), 0))
def bucket_of_a_hash(keys, out, buckets):
    """The remainder of a hash by the number of buckets, which is 0."""
    i = cuda.grid(1)
    divisor = max(buckets, 1)  # defect: divisor = buckets
    out[i] = keys[i] * 31 % divisor  # finding


@seeded("arithmetic", 1, 40, lambda: (zeros(40, dtype=np.int32),))
def bit_of_a_thread(out):
    """A bit for each thread of a block that has more threads than the type has bits."""
    t = cuda.threadIdx.x
    bits = np.int32(t % 32)  # defect: bits = np.int32(t)
    out[t] = np.int32(1) << bits  # finding


@seeded("arithmetic", 1, 32, lambda: (noise(32, dtype=np.int64), noise(32, limit=8)))
def right_shift_by_a_negative_number(a, widths):
    """The bits that are left of a field are fewer than none."""
    i = cuda.grid(1)
    a[i] = a[i] >> max(widths[i] - 1, 0)  # finding, defect: a[i] = a[i] >> (widths[i] - 1)


@seeded("arithmetic", 1, 32, lambda: (ramp(32), zeros(32, dtype=np.int32)))
def bin_of_a_float(a, out):
    """The bin of an infinite number."""
    i = cuda.grid(1)
    x = a[i] / (a[i] - 5)
    out[i] = int32(min(x, 255.0))  # finding, defect: out[i] = int32(x)


@seeded("arithmetic", 1, 32, lambda: (ramp(32) - 3, zeros(32, dtype=np.int64)))
def root_of_a_negative_number(a, out):
    """A NaN becomes an index."""
    i = cuda.grid(1)
    x = max(a[i], 0.0)  # defect: x = a[i]
    out[i] = int(math.sqrt(x))  # finding


@seeded("arithmetic", 2, (8, 4), lambda: (ramp(8, 8) * 40, zeros(8, 8, dtype=np.uint8)))
def pixel_of_a_float(image, out):
    """A pixel that is brighter than 255."""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y + 4 * cuda.blockIdx.x
    out[y, x] = uint8(min(image[y, x], 255.0))  # finding, defect: out[y, x] = uint8(image[y, x])


@seeded("arithmetic", 1, 8, lambda: (noise(8, limit=9), zeros(8, dtype=np.int32)))
def negative_power(exponents, out):
    """An integer to a negative power."""
    i = cuda.grid(1)
    e = exponents[i]  # defect: e = exponents[i] - 4
    out[i] = np.int32(2) ** e  # finding


@device
def greatest_common_divisor(a, b):
    while a != 0:  # defect: while b >= 0 and a >= 0:
        a, b = b % a, a  # finding
        if b == 0:
            break
    return b


@seeded("arithmetic", 1, 32, lambda: (noise(32), noise(32)[::-1].copy(), zeros(32, dtype=np.int32)))
def fractions(a, b, out):
    """Euclid's algorithm that does not end before the remainder by 0."""
    i = cuda.grid(1)
    out[i] = greatest_common_divisor(a[i] + 1, b[i] + 1)


@seeded("arithmetic", 1, 32, lambda: (ramp(32, dtype=np.float64) * 1e8, zeros(32, dtype=np.int32)))
def time_in_nanoseconds(seconds, out):
    """A time that does not fit 32 bits."""
    i = cuda.grid(1)
    out[i] = int32(seconds[i] / 10)  # finding, defect: out[i] = int32(seconds[i])


@seeded("arithmetic", 1, 32, lambda: (noise(32, limit=20), zeros(32, dtype=np.int8)))
def quantized(a, out):
    """A scale that is too large for 8 bits."""
    i = cuda.grid(1)
    scale = 6.0  # defect: scale = 8.0
    out[i] = int8(a[i] * scale)  # finding


@seeded("arithmetic", 1, (4, 4), lambda: (noise(4, 4), zeros(4, 4, dtype=np.int64)))
def division_in_place(a, out):
    """An augmented division by the index of the row."""
    x, y = cuda.grid(2)
    value = np.int64(a[y, x])
    value //= y + 1  # finding, defect: value //= y
    out[y, x] = value


@seeded(
    "arithmetic",
    1,
    6,
    lambda: (
        np.array([-(2.0**31), 2.0**31 - 1, 2.0**31 - 0.5, -0.9, 255.9, -(2.0**31) - 0.5]),
        zeros(6, dtype=np.int64),
    ),
)
def floats_at_the_limits(a, out):
    """Floats whose integer part is just within 32 bits."""
    i = cuda.grid(1)
    scale = 1.0  # defect: scale = 2.0
    out[i] = int32(a[i] * scale)  # finding


@seeded("arithmetic", 1, 64, lambda: (noise(64, limit=4), zeros(64, dtype=np.uint64)))
def operands_at_the_limits(a, out):
    """Divisions behind conditions, shifts by all but one bit, and powers of 0."""
    i = cuda.grid(1)
    quotient = 12 // a[i] if a[i] else 0
    remainder = a[i] and 7 % a[i]
    bit = np.uint64(1) << np.uint64(i)  # finding, defect: bit = np.uint64(1) << np.uint64(i + 1)
    out[i] = bit + np.uint64(quotient + remainder + a[i] ** a[i] + (np.int32(5) >> 31))
