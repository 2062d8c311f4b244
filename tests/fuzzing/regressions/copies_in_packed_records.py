"""Complex numbers, vectors, halves and records in records without gaps: CUDA aligns them."""

import numpy as np
from pycu2c import cuda, kernel
In = np.dtype([('n', np.int16), ('d', np.float64), ('h', np.float16), ('z', np.complex64)], align=True)
V = np.dtype([('x','f4'),('y','f4'),('z','f4'),('w','f4')])
Row = np.dtype([('x', np.int8), ('h', np.float16), ('z', np.complex128), ('i', In), ('v', V)])
@kernel
def fuzzed(r, q, a):
    i = cuda.grid(1)
    v = r[i].i
    q[i] = v
    r[i].i.h = v.h * 2
    r[i].i.z = r[i].z + v.h
    r[i].i.d += 1.5
    r[i].z = r[i].i.z
    r[i].i = q[i]
    w = r[i].v
    a[i] = r[i].h + w.x
    r[i].v = w
    r[i].v.y = 3.0

GRID, BLOCK = (1, 1, 1), (3, 1, 1)
APPROXIMATE = []


def arguments():
    r = np.zeros(3, Row)
    r["h"] = [1, 2, 3]
    r["z"] = [1, 2j, 3]
    r["i"]["d"] = [0.25, -1, 7]
    r["v"]["w"] = [1, 2, 3]
    return r, np.zeros(3, In), np.zeros(3, np.float16)
