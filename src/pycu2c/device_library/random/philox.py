"""Implement the counter-based generator Philox4x32-10 (Salmon et al., 2011) as device functions.

As in cuRAND, the key is the seed, the lower half of the counter the number of the block of four
uint32, and the upper half the subsequence.
"""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library.random.elementary import (
    log_float32,
    log_float64,
    sin_pi_float32,
    sin_pi_float64,
)
from pycu2c.kernels.kernel import device

ROUNDS = 10


@device
def philox4x32(key: Any, counter: Any) -> Any:
    """Return four uint32 from a key of two and a counter of four: Philox4x32-10."""
    k0, k1 = np.uint32(key[0]), np.uint32(key[1])
    c0, c1 = np.uint32(counter[0]), np.uint32(counter[1])
    c2, c3 = np.uint32(counter[2]), np.uint32(counter[3])
    for _ in range(ROUNDS):
        even = np.uint64(c0) * np.uint64(0xD2511F53)
        odd = np.uint64(c2) * np.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = (
            np.uint32(odd >> 32) ^ c1 ^ k0,
            np.uint32(odd),
            np.uint32(even >> 32) ^ c3 ^ k1,
            np.uint32(even),
        )
        k0 += 0x9E3779B9
        k1 += 0xBB67AE85
    return c0, c1, c2, c3


@device
def philox_uint32x4(seed: Any, subsequence: Any, offset: Any) -> Any:
    """Return four uint32, starting at position ``4 * offset``."""
    s, q, n = np.uint64(index(seed)), np.uint64(index(subsequence)), np.uint64(index(offset))
    key = np.uint32(s), np.uint32(s >> 32)
    counter = np.uint32(n), np.uint32(n >> 32), np.uint32(q), np.uint32(q >> 32)
    return philox4x32(key, counter)


@device
def philox_uint32(seed: Any, subsequence: Any, offset: Any) -> Any:
    """Return the uint32 at ``offset`` in a subsequence of a seed."""
    n = np.uint64(index(offset))
    a, b, c, d = philox_uint32x4(seed, subsequence, n >> 2)
    if n & 2:
        return d if n & 1 else c
    return b if n & 1 else a


@device
def _unit_float32(x: Any) -> Any:
    """Return the upper 24 bits as a float32 in [0, 1)."""
    return np.float32(np.int32(x >> 8)) * np.float32(2.0**-24)


@device
def _unit_float64(x: Any, y: Any) -> Any:
    """Return 27 bits of ``x`` and 26 of ``y`` as a float64 in [0, 1)."""
    return np.int32(x >> 5) * np.float64(2.0**-27) + np.int32(y >> 6) * np.float64(2.0**-53)


@device
def philox_uniform_float32(seed: Any, subsequence: Any, offset: Any) -> Any:
    """Return the float32 in [0, 1) at ``offset`` in a subsequence of a seed."""
    return _unit_float32(philox_uint32(seed, subsequence, offset))


@device
def philox_uniform_float32x4(seed: Any, subsequence: Any, offset: Any) -> Any:
    """Return four float32 in [0, 1), starting at position ``4 * offset``."""
    a, b, c, d = philox_uint32x4(seed, subsequence, offset)
    return _unit_float32(a), _unit_float32(b), _unit_float32(c), _unit_float32(d)


@device
def philox_uniform_float64(seed: Any, subsequence: Any, offset: Any) -> Any:
    """Return the float64 in [0, 1) at ``offset`` in a subsequence of a seed."""
    n = np.uint64(index(offset))
    a, b, c, d = philox_uint32x4(seed, subsequence, n >> 1)
    return _unit_float64(c, d) if n & 1 else _unit_float64(a, b)


@device
def philox_uniform_float64x2(seed: Any, subsequence: Any, offset: Any) -> Any:
    """Return two float64 in [0, 1), at ``2 * offset`` and ``2 * offset + 1``."""
    a, b, c, d = philox_uint32x4(seed, subsequence, offset)
    return _unit_float64(a, b), _unit_float64(c, d)


# ---- normal distribution: Box-Muller -------------------------------------------------------------


# a word is a fraction of a turn: sin(turn) = sin(1/4 - |turn - 1/4|)


@device
def _normals_float32(x: Any, y: Any) -> Any:
    """Return two normals: the first word determines the radius, the second the angle."""
    u = np.float32(x) * np.float32(2.0**-32) + np.float32(2.0**-33)
    radius = math.sqrt(np.float32(-2.0) * log_float32(u))
    turn, quarter = np.int32(y), np.int32(1 << 30)
    sine = sin_pi_float32(np.float32(quarter - abs(turn - quarter)) * np.float32(2.0**-31))
    cosine = sin_pi_float32(np.float32(quarter - abs(turn)) * np.float32(2.0**-31))
    return radius * sine, radius * cosine


@device
def _normals_float64(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return two normals: two words determine the radius, two the angle."""
    u = _unit_float64(a, b) + np.float64(2.0**-54)
    radius = math.sqrt(np.float64(-2.0) * log_float64(u))
    turn, quarter = np.int64(np.uint64(c) << 32 | d), np.int64(1 << 62)
    sine = sin_pi_float64(np.float64(quarter - abs(turn - quarter)) * np.float64(2.0**-63))
    cosine = sin_pi_float64(np.float64(quarter - abs(turn)) * np.float64(2.0**-63))
    return radius * sine, radius * cosine


@device
def philox_normal_float32(seed: Any, subsequence: Any, offset: Any) -> Any:
    """Return the normally distributed float32 at ``offset`` in a subsequence of a seed."""
    n = np.uint64(index(offset))
    a, b, c, d = philox_uint32x4(seed, subsequence, n >> 2)
    x = c if n & 2 else a
    y = d if n & 2 else b
    sine, cosine = _normals_float32(x, y)
    return cosine if n & 1 else sine


@device
def philox_normal_float32x4(seed: Any, subsequence: Any, offset: Any) -> Any:
    """Return four normally distributed float32, starting at position ``4 * offset``."""
    a, b, c, d = philox_uint32x4(seed, subsequence, offset)
    return *_normals_float32(a, b), *_normals_float32(c, d)


@device
def philox_normal_float64(seed: Any, subsequence: Any, offset: Any) -> Any:
    """Return the normally distributed float64 at ``offset`` in a subsequence of a seed."""
    n = np.uint64(index(offset))
    sine, cosine = philox_normal_float64x2(seed, subsequence, n >> 1)
    return cosine if n & 1 else sine


@device
def philox_normal_float64x2(seed: Any, subsequence: Any, offset: Any) -> Any:
    """Return two normally distributed float64, at ``2 * offset`` and ``2 * offset + 1``."""
    a, b, c, d = philox_uint32x4(seed, subsequence, offset)
    return _normals_float64(a, b, c, d)


document_parameters(
    globals(),
    """
key, counter : tuple of uint32 | Two numbers, and four numbers.
seed, subsequence, offset : int | The seed, the number of a sequence of the seed, and a position in
  it.
""",
)
