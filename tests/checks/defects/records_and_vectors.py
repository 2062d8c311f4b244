"""Mistakes in arrays of records and of vectors: bounds, races and uninitialized numbers."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, float32
from support.defects import noise, ramp, seeded, zeros

PAIR = np.dtype([("x", np.float32), ("n", np.int32)])
BODY = np.dtype([("position", np.float32, 3), ("mass", np.float32)])
PACKED = np.dtype([("flag", np.int8), ("value", np.float64), ("n", np.int16)])
PADDED = np.dtype([("flag", np.int8), ("value", np.float64)], align=True)
NESTED = np.dtype([("head", PAIR), ("tail", PAIR, 2)])


@seeded("race", 1, 64, lambda: (ramp(64), zeros(64)))
def fields_of_two_threads(a, out):
    """Two threads write a record, each another field of it."""
    tile = cuda.shared.array(32, PAIR)
    t = cuda.threadIdx.x
    if t % 2 == 0:
        tile[t // 2].x = a[t]  # finding
    else:
        tile[t // 2].n = t  # other, defect: tile[t // 2].x = -a[t]
    cuda.syncthreads()
    out[t] = tile[t // 2].x


@seeded("uninitialized", 1, 64, lambda: (ramp(64), zeros(64)))
def component_of_a_tile(a, out):
    """One of the components of the vectors in a tile is not written."""
    tile = cuda.shared.array(64, cuda.float4)
    t = cuda.threadIdx.x
    tile[t].x = a[t]
    tile[t].y = 2
    tile[t].z = 3
    tile[t].w = 4  # defect: removed
    cuda.syncthreads()
    v = tile[63 - t]  # finding
    out[t] = v.x + v.w


@seeded("race", 2, 32, lambda: (zeros(64, dtype=cuda.float2.numpy), zeros(64)))
def vectors_of_neighbours(points, out):
    """Each thread writes a component of its vector and reads another one of its neighbour."""
    i = cuda.grid(1)
    points[i].x = i  # other
    out[i] = points[(i + 1) % 64].y  # finding, defect: out[i] = points[(i + 1) % 64].x


@seeded("race", 2, 32, lambda: (ramp(256).view(cuda.float4.numpy), zeros(64)))
def vectors_in_place(points, out):
    """A thread reads whole vectors of its neighbour, which writes them."""
    i = cuda.grid(1)
    v = points[i]  # finding, defect: v = points[i - 1]
    out[i] = v.x + v.w
    points[i] = cuda.float4(v.y, v.z, v.w, v.x)  # other


@seeded("out-of-bounds", 1, 16, lambda: (np.zeros(16, BODY), noise(16, limit=3), zeros(16)))
def index_of_an_array_field(bodies, axes, out):
    """The index of an element of a field."""
    i = cuda.grid(1)
    out[i] = bodies[i].position[axes[i]]  # finding, defect: out[i] = bodies[i].position[i % 4]


@seeded("out-of-bounds", 1, 16, lambda: (np.zeros(16, BODY),))
def store_to_an_array_field(bodies):
    """A loop over the elements of a field ends too late."""
    i = cuda.grid(1)
    for k in range(3):  # defect: for k in range(4):
        bodies[i].position[k] = i  # finding
    bodies[i].mass = 1


@device
def length(body, count):
    total = body.mass
    for k in range(count):
        total += body.position[k]  # finding
    return total


@seeded("out-of-bounds", 1, 16, lambda: (np.zeros(16, BODY), zeros(16)))
def record_of_a_device_function(bodies, out):
    """A device function gets a record, and the length of its field."""
    i = cuda.grid(1)
    out[i] = length(bodies[i], 3)  # defect: out[i] = length(bodies[i], 4)


@seeded("uninitialized", 1, 32, lambda: (ramp(32), zeros(32)))
def local_records(a, out):
    """A field of a local array of records is not written."""
    t = cuda.threadIdx.x
    pairs = cuda.local.array(4, PAIR)
    for k in range(4):
        pairs[k].x = a[t] * k
        pairs[k].n = k  # defect: removed
    out[t] = pairs[t % 4].x + pairs[3 - t % 4].n  # finding


@device
def fill(values, count, x):
    for k in range(count):
        values[k] = x * k


@seeded("uninitialized", 1, 32, lambda: (ramp(32), zeros(32)))
def local_array_of_a_function(a, out):
    """A device function fills a local array."""
    t = cuda.threadIdx.x
    values = cuda.local.array(5, float32)
    fill(values, 5, a[t])  # defect: fill(values, 4, a[t])
    out[t] = values[t % 5]  # finding


@seeded("race", 1, 64, lambda: (ramp(64), np.zeros(1, BODY), zeros(64)))
def atomics_on_a_field(a, total, out):
    """Threads add to an element of a field and read another one."""
    t = cuda.threadIdx.x
    cuda.atomic.add(total[0].position, 1, a[t])  # other
    out[t] = total[0].position[2]  # finding, defect: out[t] = total[0].position[1]


@seeded("race", 1, 64, lambda: (ramp(64, dtype=np.float64), zeros(64, dtype=np.float64)))
def padded_records(a, out):
    """Records with padding in a tile are copied as a whole."""
    tile = cuda.shared.array(64, PADDED)
    copy = cuda.shared.array(64, PADDED)
    t = cuda.threadIdx.x
    tile[t].value = a[t]  # other
    tile[t].flag = 1
    cuda.syncthreads()  # defect: removed
    copy[t] = tile[63 - t]  # finding
    out[t] = copy[t].value


@seeded("race", 2, 32, lambda: (np.zeros(64, PACKED), zeros(64, dtype=np.float64)))
def packed_records(records, out):
    """Fields of packed records are not aligned."""
    i = cuda.grid(1)
    records[i].value = i  # other
    records[i].flag = 1
    j = (i + 1) % 64
    out[i] = records[j].n  # finding, defect: out[i] = records[j].value


@seeded("race", 1, 12, lambda: (np.zeros(4, BODY), ramp(12)))
def elements_of_a_field(bodies, a):
    """Three threads write the elements of a field of one record."""
    t = cuda.threadIdx.x
    k = t % 3  # defect: k = 0
    bodies[t // 3].position[k] = a[t]  # finding, other


@seeded("out-of-bounds", 1, 64, lambda: (ramp(256).view(cuda.float4.numpy), zeros(64)))
def tile_of_vectors_is_too_short(a, out):
    """A tile of vectors, and the one after its end."""
    tile = cuda.shared.array(65, cuda.float4)  # defect: tile = cuda.shared.array(64, cuda.float4)
    t = cuda.threadIdx.x
    tile[t + 1] = a[t]  # finding
    if t == 0:
        tile[0] = a[0]
    cuda.syncthreads()
    out[t] = tile[t].y


@seeded("uninitialized", 1, 32, lambda: (ramp(32), zeros(32)))
def nested_records(a, out):
    """A record in a record."""
    tile = cuda.shared.array(32, NESTED)
    t = cuda.threadIdx.x
    tile[t].head.x = a[t]
    tile[t].tail[0].x = 1
    tile[t].tail[1].x = 2  # defect: tile[t].tail[1].n = 2
    cuda.syncthreads()
    out[t] = tile[31 - t].head.x + tile[31 - t].tail[1].x  # finding


@device
def value_of(pair):
    return pair.x + pair.n  # finding


@seeded("uninitialized", 1, 32, lambda: (ramp(32), zeros(32)))
def shared_record_of_a_function(a, out):
    """A device function reads a record of a tile."""
    tile = cuda.shared.array(32, PAIR)
    t = cuda.threadIdx.x
    tile[t].x = a[t]
    tile[t].n = t  # defect: removed
    cuda.syncthreads()
    out[t] = value_of(tile[31 - t])


@seeded("race", 2, 32, lambda: (ramp(256).view(cuda.float4.numpy), zeros(64)))
def hinted_loads_of_vectors(points, out):
    """Loads and stores of vectors with cache hints."""
    i = cuda.grid(1)
    v = cuda.ldcg(points, i)  # finding, defect: v = cuda.ldcg(points, i - 1)
    cuda.stcg(points, i, cuda.float4(v.w, v.x, v.y, v.z))  # other
    out[i] = v.x


@seeded("race", 1, 64, lambda: (ramp(64, dtype=np.complex128), zeros(64, dtype=np.float64)))
def parts_of_complex_numbers(a, out):
    """The real parts of complex numbers in shared memory."""
    tile = cuda.shared.array(64, np.complex128)
    t = cuda.threadIdx.x
    tile[t] = a[t] * 2j  # other
    cuda.syncthreads()  # defect: removed
    out[t] = tile[63 - t].imag  # finding


@seeded("race", 1, 64, lambda: (ramp(64, dtype=np.int32), zeros(2, dtype=np.complex64)))
def equal_numbers_of_many_kinds(a, out):
    """Threads write equal complex numbers, halves and vectors, which is no race."""
    pairs = cuda.shared.array(2, cuda.int2)
    pairs[0] = cuda.int2(1, 2)
    n = 4  # defect: n = a[cuda.threadIdx.x]
    pairs[1] = cuda.int2(3, n)  # finding, other
    out[0] = 1 + 2j
    cuda.syncthreads()
    out[1] = pairs[0].x + 1j
