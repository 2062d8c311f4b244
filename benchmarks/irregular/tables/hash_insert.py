"""Insert keys into a hash table with linear probing; equal keys are stored once."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel

EMPTY = -1


@kernel
def hash_insert(keys, table, n):
    i = cuda.grid(1)
    if i < n:
        key = keys[i]
        mask = table.size - 1
        slot = ((key ^ (key >> 15)) * 0x2C1B3C6D) & mask
        while True:
            old = cuda.atomic.cas(table, slot, EMPTY, key)
            if old in (EMPTY, key):
                break
            slot = (slot + 1) & mask


def problem(scale: int) -> Problem:
    count = 2**17 * scale
    size = 1 << (2 * count - 1).bit_length()
    keys = np.random.default_rng(9).integers(0, 2**30, count, np.int32)
    keys[::4] = keys[0]  # one key is frequent
    arguments = keys, np.full(size, EMPTY, np.int32), np.int32(count)
    return Problem(
        arguments, (blocks(count),), (256,), results=(1,), canonical=lambda a: [np.sort(a[0])]
    )
