"""Look up keys in a hash table with linear probing; the value of a missing key is -1."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel

EMPTY = -1


@kernel
def hash_lookup(queries, table, values, found):
    i = cuda.grid(1)
    if i >= queries.size:
        return
    key = queries[i]
    slot = ((key ^ (key >> 15)) * 0x2C1B3C6D) & (table.size - 1)
    found[i] = -1
    while table[slot] != EMPTY:
        if table[slot] == key:
            found[i] = values[slot]
            break
        slot = (slot + 1) & (table.size - 1)


def problem(scale: int) -> Problem:
    rng, count = np.random.default_rng(10), 2**18 * scale
    size = 1 << (count - 1).bit_length()
    keys = np.unique(rng.integers(0, 2**30, size // 2, np.int32))
    table = filled_table(rng.permutation(keys), size)
    hits, misses = rng.choice(keys, count), rng.integers(0, 2**30, count, np.int32)
    queries = np.where(rng.random(count) < 0.75, hits, misses)
    values = np.arange(size, dtype=np.int32)
    arguments = queries, table, values, np.zeros(count, np.int32)
    return Problem(arguments, (blocks(count),), (256,), results=(3,))


def filled_table(keys: np.ndarray, size: int) -> np.ndarray:
    """Return a table in which each of the distinct keys is found by linear probing."""
    table = np.full(size, EMPTY, np.int32)
    slots = ((keys ^ (keys >> 15)).astype(np.int64) * 0x2C1B3C6D) & (size - 1)
    while keys.size:
        empty = table[slots] == EMPTY
        table[slots[empty]] = keys[empty]  # the last of several keys remains
        missing = table[slots] != keys
        keys, slots = keys[missing], (slots[missing] + 1) & (size - 1)
    return table
