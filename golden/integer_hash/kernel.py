"""A device function on uint32, whose products wrap."""

import numpy as np

from pycu2c import cuda, device, kernel, uint32

SIGNATURES = {"u32": (uint32[::1], uint32[::1], uint32)}


@device
def mixed(h):
    h ^= h >> 16
    h *= 0x85EBCA6B
    h ^= h >> 13
    h *= 0xC2B2AE35
    h ^= h >> 16
    return h


@kernel
def integer_hash(keys, out, seed):
    i = cuda.grid(1)
    if i < len(keys):
        out[i] = mixed(keys[i] ^ mixed(seed + i))


def case(rng, variant):
    keys = rng.integers(0, 1 << 32, 90).astype(np.uint32)
    return 3, 32, (keys, np.zeros_like(keys), np.uint32(0xFFFFFFF0))
