"""Accesses out of bounds of views, slices and arguments of device functions."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, float32
from support.defects import ramp, seeded, zeros


@device
def difference(row, j):
    return row[j + 1] - row[j]  # finding


@seeded("out-of-bounds", 1, (8, 8), lambda: (ramp(6, 8), zeros(6, 8)))
def gradient(a, out):
    """The last column has no right neighbour. In memory, the next row follows."""
    j, i = cuda.grid(2)
    if i < 6 and j < 7:  # defect: if i < 6:
        out[i, j] = difference(a[i], j)


@seeded("out-of-bounds", 1, 32, lambda: (ramp(40), zeros(32)))
def interior(a, out):
    """The slice without the edges is shorter than the array."""
    t = cuda.threadIdx.x
    inner = a[4:36]  # defect: inner = a[4:-6]
    out[t] = inner[t]  # finding


@seeded("out-of-bounds", 1, 32, lambda: (ramp(32), zeros(32)))
def reversed_slice(a, out):
    """The element after the last one of a reversed array."""
    t = cuda.threadIdx.x
    backwards = a[::-1]
    if t < 31:  # defect: if t < 32:
        out[t] = backwards[t + 1]  # finding


@seeded("out-of-bounds", 1, 16, lambda: (ramp(64, dtype=np.int32), zeros(16, dtype=np.int32)))
def every_second_of_a_slice(a, out):
    """A view of a view, with half the elements."""
    t = cuda.threadIdx.x
    middle = a[16:48]
    out[t] = middle[::2][t]  # finding, defect: out[t] = middle[::2][t + 1]


@seeded("out-of-bounds", 1, (8, 4), lambda: (ramp(32, dtype=np.float64), zeros(8, 4)))
def reshaped(a, out):
    """The axes of a reshaped array."""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    matrix = a.reshape(4, 8)  # defect: matrix = a.reshape(8, 4)
    out[x, y] = matrix[y, x]  # finding


@seeded("out-of-bounds", 1, (8, 4), lambda: (ramp(4, 8), zeros(4, 8)))
def transposed_view(a, out):
    """The axes of a transposed array."""
    x, y = cuda.grid(2)
    turned = a.T
    out[y, x] = turned[x, y]  # finding, defect: out[y, x] = turned[y, x]


@seeded("out-of-bounds", 1, 8, lambda: (ramp(8, 6), zeros(8)))
def column(a, out):
    """A column has as many elements as the matrix has rows."""
    t = cuda.threadIdx.x
    last = a[:, 5]
    total = np.float32(0)
    for k in range(len(last)):  # defect: for k in range(a.size // 5):
        total += last[k] * (k + t)  # finding
    out[t] = total


@seeded("out-of-bounds", 1, 8, lambda: (ramp(8, 6), zeros(8)))
def row_that_does_not_exist(a, out):
    """A view of a row after the last one."""
    t = cuda.threadIdx.x
    row = a[(t + 1) % 8]  # defect: row = a[t + 1]
    out[t] = row[2]  # finding


@device
def dot(left, right):
    total = np.float32(0)
    for k in range(len(left)):
        total += left[k] * right[k]  # finding
    return total


@device
def element(a, b, i, j):
    return dot(a[i], b[:, j])


@seeded("out-of-bounds", 1, (4, 4), lambda: (ramp(4, 6), ramp(6, 4), zeros(4, 4)))
def product_of_rows_and_columns(a, b, out):
    """Two calls pass views to the function that multiplies them."""
    j, i = cuda.grid(2)
    out[i, j] = element(a, b, i, j)  # defect: out[i, j] = element(a, b[:4], i, j)


@device
def smoothed(line, t):
    return line[t] + line[t + 1] + line[t + 2]  # finding


@seeded("out-of-bounds", 2, (16, 4), lambda: (ramp(8, 18), zeros(8, 16)))
def row_of_a_tile(a, out):
    """A row of a shared array, of which a part is passed."""
    tile = cuda.shared.array((4, 18), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row = 4 * cuda.blockIdx.x + y
    tile[y, x] = a[row, x]
    if x < 2:
        tile[y, x + 16] = a[row, x + 16]
    cuda.syncthreads()
    out[row, x] = smoothed(tile[y], x)  # defect: out[row, x] = smoothed(tile[y, :16], x)


@device
def insert(sorted_, count, x):
    """Insert a number into a sorted array."""
    k = count
    while k > 0 and sorted_[k - 1] > x:
        sorted_[k] = sorted_[k - 1]  # finding
        k -= 1
    sorted_[k] = x  # finding


@seeded("out-of-bounds", 1, 16, lambda: (ramp(48) % 7, zeros(16)))
def insertion_sort(a, out):
    """A local array that a device function fills beyond its end."""
    t = cuda.threadIdx.x
    window = cuda.local.array(9, float32)  # defect: window = cuda.local.array(8, float32)
    for k in range(9):
        insert(window, k, a[3 * t + k % 3])
    out[t] = window[4]


@seeded("out-of-bounds", 1, 32, lambda: (ramp(32, dtype=np.int64), zeros(32, dtype=np.int64)))
def negative_index_of_a_slice(a, out):
    """An index from the end of a slice that is shorter than the array."""
    t = cuda.threadIdx.x
    half = a[16:]
    out[t] = half[-1 - t % 16]  # finding, defect: out[t] = half[-1 - t]


@device
def fill(row, value):
    for j in range(len(row)):
        row[j] = value


@seeded("out-of-bounds", 1, 8, lambda: (np.arange(8), zeros(9, 4)))
def row_for_a_function_without_result(a, out):
    """A device function that returns nothing gets a row that the array does not have."""
    t = cuda.threadIdx.x
    fill(out[a[t] + 1], t)  # finding, defect: fill(out[a[t] + 2], t)
