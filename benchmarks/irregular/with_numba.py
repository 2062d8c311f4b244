"""Some of the irregular kernels as parallel loops of numba for the CPU.

A function has the name of its case and the parameters of the kernel.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

parallel = njit(parallel=True)


@parallel
def convolution_3(image, weights, out):
    rows, columns = image.shape
    for i in prange(rows):
        for j in range(columns):
            total = np.float32(0)
            for di in range(3):
                row = min(max(i + di - 1, 0), rows - 1)
                for dj in range(3):
                    column = min(max(j + dj - 1, 0), columns - 1)
                    total += weights[di, dj] * image[row, column]
            out[i, j] = total


@parallel
def convolution_5(image, weights, out):
    rows, columns = image.shape
    i_offset, j_offset = weights.shape[0] // 2, weights.shape[1] // 2
    for i in prange(rows):
        for j in range(columns):
            total = np.float32(0)
            for k in range(weights.shape[0]):
                for m in range(weights.shape[1]):
                    row, column = i + k - i_offset, j + m - j_offset
                    if 0 <= row < rows and 0 <= column < columns:
                        total += weights[k, m] * image[row, column]
            out[i, j] = total


@parallel
def ray_box(origins, inverse_directions, low, high, distances, hits):
    for ray in prange(origins.shape[0]):
        nearest = np.float32(10)
        hit = -1
        for box in range(low.shape[0]):
            enter = np.float32(0)
            leave = nearest
            for axis in range(3):
                t0 = (low[box, axis] - origins[ray, axis]) * inverse_directions[ray, axis]
                t1 = (high[box, axis] - origins[ray, axis]) * inverse_directions[ray, axis]
                enter = max(enter, min(t0, t1))
                leave = min(leave, max(t0, t1))
            if enter < leave:
                nearest = enter
                hit = box
        distances[ray] = nearest
        hits[ray] = hit


@parallel
def bfs(starts, neighbors, levels, changed, level):
    for vertex in prange(levels.size):
        if levels[vertex] == level:
            for k in range(starts[vertex], starts[vertex + 1]):
                neighbor = neighbors[k]
                if levels[neighbor] < 0:
                    levels[neighbor] = level + 1
                    changed[0] = 1


@parallel
def pagerank(starts, sources, degrees, ranks, updated, damping, n):
    base = (np.float32(1) - damping) / np.float32(n)
    for v in prange(n):
        total = np.float32(0)
        for k in range(starts[v], starts[v + 1]):
            u = sources[k]
            total += ranks[u] / np.float32(degrees[u])
        updated[v] = base + damping * total


@parallel
def bilinear_resize(image, out, y_ratio, x_ratio):
    rows, columns = image.shape
    height, width = out.shape
    one = np.float32(1)
    for i in prange(height):
        y = np.float32(i) * y_ratio
        top = int(y)
        bottom = min(top + 1, rows - 1)
        dy = y - np.float32(top)
        for j in range(width):
            x = np.float32(j) * x_ratio
            left = int(x)
            right = min(left + 1, columns - 1)
            dx = x - np.float32(left)
            upper = image[top, left] * (one - dx) + image[top, right] * dx
            lower = image[bottom, left] * (one - dx) + image[bottom, right] * dx
            out[i, j] = upper * (one - dy) + lower * dy


@parallel
def gray(rgb, out):
    height, width = out.shape
    r, g, b = np.float32(0.299), np.float32(0.587), np.float32(0.114)
    for i in prange(height):
        for j in range(width):
            out[i, j] = np.uint8(r * rgb[i, j, 0] + g * rgb[i, j, 1] + b * rgb[i, j, 2])


@parallel
def lu_step(a, step):
    n = a.shape[0]
    for i in prange(step + 1, n):
        factor = a[i, step]
        for j in range(step + 1, n):
            a[i, j] -= factor * a[step, j]


@parallel
def thomas(lower, middle, upper, right):
    n, systems = right.shape
    upper[0] /= middle[0]
    right[0] /= middle[0]
    for i in range(1, n):
        for s in prange(systems):
            scale = np.float32(1) / (middle[i, s] - lower[i, s] * upper[i - 1, s])
            upper[i, s] *= scale
            right[i, s] = (right[i, s] - lower[i, s] * right[i - 1, s]) * scale
    for i in range(n - 2, -1, -1):
        for s in prange(systems):
            right[i, s] -= upper[i, s] * right[i + 1, s]


@parallel
def kmeans(points, centers, labels):
    for i in prange(points.shape[0]):
        label = 0
        least = np.float32(math.inf)
        for c in range(centers.shape[0]):
            distance = np.float32(0)
            for k in range(points.shape[1]):
                difference = points[i, k] - centers[c, k]
                distance += difference * difference
            if distance < least:
                least = distance
                label = c
        labels[i] = label


@parallel
def edit_distance(first, first_lengths, second, second_lengths, out):
    for pair in prange(out.size):
        columns = second_lengths[pair]
        row = np.arange(columns + 1, dtype=np.int32)
        for i in range(first_lengths[pair]):
            diagonal = row[0]
            row[0] = i + 1
            for j in range(columns):
                replaced = diagonal + (first[pair, i] != second[pair, j])
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, diagonal + 1, row[j] + 1)
        out[pair] = row[columns]


@parallel
def string_search(text, pattern, found):
    for i in prange(text.size - pattern.size + 1):
        found[i] = 1
        for k in range(pattern.size):
            if text[i + k] != pattern[k]:
                found[i] = 0
                break


@parallel
def heat_3d(u, out, alpha):
    nz, ny, nx = u.shape
    six = np.float32(6)
    for i in prange(nz):
        if i == 0 or i == nz - 1:
            out[i] = u[i]
            continue
        out[i, 0] = u[i, 0]
        out[i, ny - 1] = u[i, ny - 1]
        for j in range(1, ny - 1):
            out[i, j, 0] = u[i, j, 0]
            out[i, j, nx - 1] = u[i, j, nx - 1]
            for k in range(1, nx - 1):
                around = u[i - 1, j, k] + u[i + 1, j, k] + u[i, j - 1, k] + u[i, j + 1, k]
                around += u[i, j, k - 1] + u[i, j, k + 1]
                out[i, j, k] = u[i, j, k] + alpha * (around - six * u[i, j, k])


@parallel
def particles_soa(x, y, z, vx, vy, vz, mass, dt, n):
    for i in prange(n):
        square = x[i] ** 2 + y[i] ** 2 + z[i] ** 2 + np.float32(0.01)
        pull = mass * dt / (square * math.sqrt(square))
        vx[i] -= pull * x[i]
        vy[i] -= pull * y[i]
        vz[i] -= pull * z[i]
        x[i] += vx[i] * dt
        y[i] += vy[i] * dt
        z[i] += vz[i] * dt


@parallel
def quantile(samples, rank, out):
    for row in prange(out.size):
        values = samples[row].copy()
        left = 0
        right = values.size - 1
        while left < right:
            pivot = values[rank]
            i = left
            j = right
            while i <= j:
                while values[i] < pivot:
                    i += 1
                while pivot < values[j]:
                    j -= 1
                if i <= j:
                    values[i], values[j] = values[j], values[i]
                    i += 1
                    j -= 1
            if j < rank:
                left = i
            if rank < i:
                right = j
        out[row] = values[rank]


@parallel
def segmented_sum(values, offsets, sums):
    for segment in prange(sums.size):
        total = 0.0
        for k in range(offsets[segment], offsets[segment + 1]):
            total += values[k]
        sums[segment] = total


@parallel
def spmv_csr(starts, columns, values, x, y):
    for row in prange(y.size):
        total = np.float32(0)
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


@parallel
def hash_lookup(queries, table, values, found):
    mask = table.size - 1
    for i in prange(queries.size):
        key = queries[i]
        slot = ((key ^ (key >> 15)) * 0x2C1B3C6D) & mask
        value = -1
        while table[slot] != -1:
            if table[slot] == key:
                value = values[slot]
                break
            slot = (slot + 1) & mask
        found[i] = value


@parallel
def gather(source, indices, out, n):
    for i in prange(n):
        out[i] = source[indices[i]]
