"""Device functions in C: one with inline PTX, whose Python body is what a CPU runs, one with a
helper that both compilers know, which walks along an array."""

import numpy as np

from pycu2c import cuda, kernel, uint32

SIGNATURES = {"u32": (uint32[:, ::1], uint32[::1])}


@cuda.c_function(
    cuda="""
    unsigned result;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    return result;
    """,
    pure=True,
)
def xor3(a: uint32, b: uint32, c: uint32) -> uint32:
    return a ^ b ^ c


@cuda.c_function(
    """
    unsigned hash = seed;
    for (int i = 0; i < data_len; ++i)
        hash = mixed(hash ^ data[i * data_stride0]);
    return hash;
    """,
    cpu="""
    unsigned hash = seed;
    for (int i = 0; i < data_len; ++i)
        hash = mixed(hash ^ data[i * data_stride0]);
    return hash;
    """,
    preamble="static unsigned mixed(unsigned x) { return (x ^ x >> 15) * 0x2c1b3c6du; }",
    pure=True,
)
def hash_of(data: uint32[:], seed: uint32) -> uint32:
    result = seed
    for x in data:
        x ^= result
        result = (x ^ x >> 15) * np.uint32(0x2C1B3C6D)
    return result


@kernel
def own_c(rows, out):
    i = cuda.grid(1)
    if i < len(out):
        first = hash_of(rows[i], 1)
        out[i] = xor3(first, hash_of(rows[:, i % 4], 2), i)


def case(rng, variant):
    rows = rng.integers(0, 2**32, (60, 4), np.uint32)
    return 2, 32, (rows, np.zeros(60, np.uint32))
