"""All that the subset has: nothing here is refused."""

# ruff: noqa
import math

import numpy as np


def everything(out, a, n):
    """A docstring."""
    x = y = 0
    x, y = y, x
    out[0], (x, [y, out[1]]) = a[0], (x, (y, 1))
    z: np.float32 = 1.5
    w: np.int32
    w = 0x7FFF_FFFF_FFFF_FFFF
    w = 18446744073709551615
    w = -9223372036854775808
    x += 1
    out[x, y] -= a[x][y] * 2 ** -y // (3 % x) << 1 & ~x | y ^ 1
    if not x and y or n > 0 < z <= 3:
        pass
    elif True:
        x = +1 if y else -1.0
    else:
        x = 1e30
    while x < 10:
        x += 1
        if x == 5:
            break
        continue
    for i in range(1, len(a.shape), 2):
        out[i] = math.sqrt(a[i]) + np.float32(1) + max(x, y, 2)
    out.fill(a.shape[0], key=(1, 2))
    local = cuda.local.array((3, 4), np.float32)
    shared = cuda.shared.array(shape=4, dtype="float32")
    local[0, 0] = shared[-1]
    return


def one_number(x):
    return x * 2


def nothing(x):
    return None
