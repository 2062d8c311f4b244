"""The positive numbers of each warp without gaps, and how many there are."""

import numpy as np

from pycu2c import cuda, kernel


@kernel
def ballot_compact(a, out, count):
    i = cuda.grid(1)
    kept = cuda.ballot_sync(0xFFFFFFFF, i < len(a) and a[i] > 0)
    first = i - cuda.laneid
    if kept >> cuda.laneid & 1:
        out[first + cuda.popc(kept & cuda.lanemask_lt())] = a[i]
    if cuda.laneid == 0:
        count[first // 32] = cuda.popc(kept)


SIGNATURES = {"i32": "void(int32[::1], int32[::1], int32[::1])"}


def case(rng, variant):
    data = rng.integers(-9, 9, 150).astype(np.int32)
    return 3, 64, [data, np.zeros(192, np.int32), np.zeros(6, np.int32)]
