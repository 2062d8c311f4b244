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
    for i, (x, y) in enumerate(zip(a, [1, *x])):
        print(f"{x:{n}} {y!r}", x, sep="")
    else:
        x = 2j if "x" in "xy" else None
    while (x := y) is not None and x not in (1, 2, *a):
        ...
    else:
        del x, (y, z)
    match x, *y:
        case [1, -1.5, "a" | np.pi | True, *rest] if rest:
            assert rest, f"{rest}"
        case (None, [a, _]) as b:
            raise ValueError(f"{b}") from b
        case _:
            raise ValueError

    def inner(a, /, b: int = 2, *c, d, e=1) -> int:
        """Another docstring."""
        return [a for a, b in c if a for d in e], (lambda x, *y: x)

    first, *others = a[1:n, ::2, ..., :-1, "x"].y
    a[0].x, a[1:]["x"] = sum(x * 2 for x in others), inner(*a, d=[1, 2])
    x, = (inner if n else None)(x)(y), *a[0](n)
    [inner(x) for x in a]
    (x := 1)
    return


def one_number(x):
    return x * 2


def nothing(x):
    return None
