"""Implement xoroshiro128+ (Blackman and Vigna) as device functions with numba's names and streams.

Each function updates ``states[index]``, a record of two uint64; each thread needs its own state.
``create_xoroshiro128p_states`` of the module ``random.states`` creates such arrays.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library.random.elementary import log_float32, sin_pi_float32, sin_pi_float64
from pycu2c.kernels.kernel import device

TWO_PI_FLOAT32 = np.float32(2 * math.pi)
ONE_OVER_PI = np.float32(1 / math.pi)
ONE_OVER_PI_REST = np.float32(1 / math.pi - float(ONE_OVER_PI))
JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)
UNIT = 2.0**-53


@device
def init_xoroshiro128p_state(states: Any, index: Any, seed: Any) -> None:
    """Initialize a state from a seed, mixed by splitmix64."""
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> 30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> 27)) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> 31)
    states[index]["s0"] = z
    states[index]["s1"] = z


@device
def xoroshiro128p_next(states: Any, index: Any) -> Any:
    """Return the next uint64 of a stream."""
    s0 = states[index]["s0"]
    s1 = states[index]["s1"]
    result = s0 + s1
    s1 ^= s0
    states[index]["s0"] = (s0 << 55 | s0 >> 9) ^ s1 ^ (s1 << 14)
    states[index]["s1"] = s1 << 36 | s1 >> 28
    return result


@device
def xoroshiro128p_jump(states: Any, index: Any) -> None:
    """Advance a stream by 2**64 numbers."""
    s0 = np.uint64(0)
    s1 = np.uint64(0)
    for word in JUMP:
        for bit in range(64):
            if np.uint64(word) >> bit & 1:
                s0 ^= states[index]["s0"]
                s1 ^= states[index]["s1"]
            xoroshiro128p_next(states, index)
    states[index]["s0"] = s0
    states[index]["s1"] = s1


@device
def uint64_to_unit_float64(x: Any) -> Any:
    """Return the upper 53 bits of ``x`` as a float64 in [0, 1)."""
    return np.int64(np.uint64(x) >> 11) * np.float64(UNIT)


@device
def uint64_to_unit_float32(x: Any) -> Any:
    """Return the upper 53 bits of ``x`` as a float32 in [0, 1]; one in 2**25 rounds to 1."""
    return np.float32(np.int64(np.uint64(x) >> 11)) * np.float32(UNIT)


@device
def xoroshiro128p_uniform_float32(states: Any, index: Any) -> Any:
    """Return the next number of a stream as a float32 from 0 to 1."""
    return uint64_to_unit_float32(xoroshiro128p_next(states, index))


@device
def xoroshiro128p_uniform_float64(states: Any, index: Any) -> Any:
    """Return the next number of a stream as a float64 in [0, 1)."""
    return uint64_to_unit_float64(xoroshiro128p_next(states, index))


@device
def xoroshiro128p_normal_float32(states: Any, index: Any) -> Any:
    """Return a normally distributed float32 (mean 0, deviation 1) from the next two numbers."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    # cos(2 pi u) = sin(pi (|h| - 1/2)) with h = 2u - 1, because cos(x) = sin(|x - pi| - pi/2).
    # Numba rounds 2 pi u, so h is computed from the rounded angle.
    angle = TWO_PI_FLOAT32 * u2
    half_turns = cuda.fma(angle, ONE_OVER_PI_REST, cuda.fma(angle, ONE_OVER_PI, np.float32(-1.0)))
    cosine = sin_pi_float32(abs(half_turns) - np.float32(0.5))
    return math.sqrt(np.float32(-2.0) * log_float32(u1)) * cosine


@device
def xoroshiro128p_normal_float64(states: Any, index: Any) -> Any:
    """Return a normally distributed float64 (mean 0, deviation 1) from the next two numbers.

    The uniform numbers are float32, as in numba.
    """
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    # cos(2 pi u) = sin(pi (|h| - 1/2)) with h = 2u - 1
    half_turns = np.float64(u2) * np.float64(2.0) - np.float64(1.0)
    cosine = sin_pi_float64(abs(half_turns) - np.float64(0.5))
    return math.sqrt(np.float64(-2.0) * log_float32(u1)) * cosine


document_parameters(
    globals(),
    """
states : array | An array of ``xoroshiro128p_dtype``.
index : int | The index of the state.
seed : int | The seed.
x : uint64 | A random number.
""",
)
