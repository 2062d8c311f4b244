"""Mistakes in memory that several arrays share: dynamic shared memory, arguments, and views."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, float32, float64, int8, int32
from support.defects import noise, ramp, seeded, zeros


@seeded("race", 2, 32, lambda: (ramp(64, dtype=np.float64), zeros(64)), shared=32 * 13)
def three_types_in_dynamic_memory(a, out):
    """Numbers of eight, four and one bytes; those of a thread overlap no others."""
    t, i = cuda.threadIdx.x, cuda.grid(1)
    wide = cuda.shared.array(0, float64)[:32]
    counts = cuda.shared.array(0, int32)[64:96]
    flags = cuda.shared.array(0, int8)[384:]  # defect: flags = cuda.shared.array(0, int8)[380:]
    wide[t] = a[i]
    counts[t] = t  # other
    flags[t] = 1  # finding
    out[i] = wide[t]


@seeded("out-of-bounds", 1, 32, lambda: (ramp(32), zeros(32)), shared=32 * 4)
def end_of_dynamic_memory(a, out):
    """The launch has memory for one number of each thread."""
    t = cuda.threadIdx.x
    tile = cuda.shared.array(0, float32)
    tile[t] = a[t]  # finding, defect: tile[t + 1] = a[t]
    cuda.syncthreads()
    out[t] = tile[31 - t]


@device
def reverse(tile, t, n):
    x = tile[n - 1 - t]  # finding
    cuda.syncthreads()
    return x


@seeded("race", 1, 32, lambda: (ramp(32), zeros(32)), shared=64 * 4)
def dynamic_memory_of_a_function(a, out):
    """A device function gets the second half of dynamic memory."""
    t = cuda.threadIdx.x
    tile = cuda.shared.array(0, float32)
    half = tile[32:]
    half[t] = a[t]  # other
    cuda.syncthreads()  # defect: removed
    out[t] = reverse(half, t, 32)


@device
def sum_of_the_first(count):
    tile = cuda.shared.array(0, float32)
    total = tile[0]
    for k in range(1, count):
        total += tile[k]  # finding
    return total


@seeded("uninitialized", 1, 32, lambda: (ramp(32), zeros(32)), shared=64 * 4)
def dynamic_memory_by_two_names(a, out):
    """A device function and the kernel name the dynamic memory, which is the same."""
    t = cuda.threadIdx.x
    mine = cuda.shared.array(0, float32)
    mine[t] = a[t]
    cuda.syncthreads()
    out[t] = sum_of_the_first(32)  # defect: out[t] = sum_of_the_first(33)


def the_same_twice():
    a = ramp(64)
    return a, a


@seeded("race", 2, 32, the_same_twice)
def one_array_twice(a, out):
    """An array is both arguments."""
    i = cuda.grid(1)
    out[i] = a[i] + 1  # finding, other, defect: out[i] = a[63 - i] + 1


def even_and_odd():
    a = ramp(128)
    return a[::2], a[1::2]


@seeded("race", 2, 32, even_and_odd)
def interleaved_arguments(even, odd):
    """The elements of two strided arguments are interleaved, and are not the same."""
    i = cuda.grid(1)
    odd[i] = even[(i + 1) % 64]  # finding, other, defect: odd[i] = odd[(i + 1) % 64]


def forward_and_backward():
    a = ramp(64)
    return a, a[::-1]


@seeded("race", 2, 32, forward_and_backward)
def reversed_argument(a, backward):
    """An argument has a negative stride."""
    i = cuda.grid(1)
    backward[i] = a[63 - i] * 2  # finding, other, defect: backward[i] = a[i] * 2


def matrix_and_transpose():
    a = ramp(8, 8)
    return a, a.T


@seeded("race", 1, (8, 8), matrix_and_transpose)
def transposed_argument(a, t):
    """A matrix and its transpose are arguments."""
    x, y = cuda.grid(2)
    t[x, y] = a[y, x] + 1  # finding, other, defect: t[x, y] = a[x, y] + 1


def fields():
    points = np.zeros(64, [("x", np.float32), ("y", np.float32)])
    return points["x"], points["y"]


@seeded("race", 2, 32, fields)
def arrays_of_fields(x, y):
    """The fields of records are two arguments."""
    i = cuda.grid(1)
    x[i] = 1  # other
    y[i] = y[i] + 1  # finding, defect: y[i] = x[i - 1] + 1


def numbers_and_bytes():
    a = ramp(64)
    return a, a.view(np.uint8)


@seeded("race", 2, 32, numbers_and_bytes)
def bytes_of_an_argument(a, data):
    """An argument has the bytes of another one."""
    i = cuda.grid(1)
    a[i] = i  # other
    data[4 * i + 1] = 0  # finding, defect: data[4 * i + 5 & 255] = 0


def rows_of_a_matrix():
    a = ramp(2, 64)
    return a[0], a[1], zeros(64)


@seeded("out-of-bounds", 2, 32, rows_of_a_matrix)
def rows_as_arguments(first, second, out):
    """An index beyond a row is that of another argument."""
    i = cuda.grid(1)
    second[i] = 2
    out[i] = first[i]  # finding, defect: out[i] = first[i + 1]


@seeded("race", 1, 32, lambda: (noise(32), zeros(32, dtype=np.int32)))
def bytes_in_shared_memory(a, out):
    """Each thread writes one byte of the numbers that a view has."""
    data = cuda.shared.array(32, int8)
    t = cuda.threadIdx.x
    data[t] = a[t]  # other
    cuda.syncthreads()  # defect: removed
    out[t] = data.view(int32)[7 - t // 4]  # finding


@seeded("race", 1, 32, lambda: (np.zeros(()), zeros(32)))
def array_without_axes(total, out):
    """An array of one number has no axes."""
    t = cuda.threadIdx.x
    if t == 0:  # defect: if t < 2:
        total[()] = t + 1  # finding, other
    out[t] = t
