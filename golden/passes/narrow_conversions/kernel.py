"""A float that becomes an int32 by way of an int64 is converted at once where it fits."""

from __future__ import annotations

import math

from pycu2c import cuda, int32, kernel, uint8

TARGET = "cpu"
SIGNATURE = "float32[::1], int32[::1], uint8[::1]"


@kernel
def cells(x, out, low):
    i = cuda.grid(1)
    out[i] = int32(math.floor(x[i]))
    low[i] = uint8(int(x[i]))
