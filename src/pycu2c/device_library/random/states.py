"""Create states of xoroshiro128+ on the host, each 2**64 numbers after the previous one.

A jump is linear over the bits of a state, hence a 128 x 128 bit matrix; squaring it doubles the
distance. The number of states is doubled repeatedly: one jump maps the existing states to the new
ones.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pycu2c.base.dtypes import UINT64, aligned_record
from pycu2c.base.types import Scalar
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library.random.xoroshiro import JUMP
from pycu2c.devices.allocation import device_array
from pycu2c.devices.array import DeviceArray, as_device_array
from pycu2c.devices.array_data import stream_or_none

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
xoroshiro128p_type = Scalar(aligned_record([("s0", UINT64), ("s1", UINT64)]))

States: TypeAlias = "NDArray[Any]"  # of xoroshiro128p_dtype
Words: TypeAlias = "NDArray[np.uint64]"  # two words per state
Matrix: TypeAlias = "Words"  # 128 rows: the image of each bit
Tables: TypeAlias = "NDArray[np.complex128]"  # 16 x 256: the image of each byte value

_CHUNK = 1 << 14  # states that fit in the cache


def create_xoroshiro128p_states(
    n: int, seed: int, subsequence_start: int = 0, stream: object = 0
) -> DeviceArray:
    """Create a device array of generator states.

    Returns
    -------
    DeviceArray
        The states, of shape ``(n,)`` and dtype ``xoroshiro128p_dtype``.

    Examples
    --------
    >>> from pycu2c import cuda, kernel
    >>> from pycu2c.cuda.random import (
    ...     create_xoroshiro128p_states,
    ...     xoroshiro128p_uniform_float32,
    ... )
    >>> @kernel
    ... def fill(states, out):
    ...     i = cuda.grid(1)
    ...     out[i] = xoroshiro128p_uniform_float32(states, i)
    >>> out = cuda.device_array(4, "float32")
    >>> fill[1, 4](create_xoroshiro128p_states(4, seed=1), out)
    """
    states = device_array(n, xoroshiro128p_dtype, stream=stream)
    init_xoroshiro128p_states(states, seed, subsequence_start, stream)
    return states


def init_xoroshiro128p_states(
    states: Any, seed: int, subsequence_start: int = 0, stream: object = 0
) -> None:
    """Initialize an array of states, as ``create_xoroshiro128p_states`` does."""
    if isinstance(states, np.ndarray):
        init_xoroshiro128p_states_cpu(states, seed, subsequence_start)
        return
    device_states = as_device_array(states)
    host_states = np.empty(device_states.shape, xoroshiro128p_dtype)
    init_xoroshiro128p_states_cpu(host_states, seed, subsequence_start)
    device_states.copy_to_device(host_states, stream_or_none(stream))


def init_xoroshiro128p_states_cpu(states: States, seed: int, subsequence_start: int = 0) -> None:
    """Initialize a NumPy array of states.

    Raises
    ------
    TypeError
        If the array has another dtype or more than one axis.
    ValueError
        If ``subsequence_start`` is negative.
    """
    if states.ndim != 1 or states.dtype != xoroshiro128p_dtype:
        raise TypeError(
            "states are an array of xoroshiro128p_dtype with one axis, "
            f"not of {states.dtype} with {states.ndim}"
        )
    if not states.size:
        return
    words: Words = np.empty((len(states), 2), np.uint64)
    words[0] = _splitmix64(operator.index(seed))
    jumps = operator.index(subsequence_start)
    if jumps < 0:
        raise ValueError(f"subsequence_start must not be negative: {subsequence_start}")
    for power in range(jumps.bit_length()):
        if jumps >> power & 1:
            words[0] = _multiply(_tables(power), words[:1])[0]
    _fill(words)
    states["s0"], states["s1"] = words.T


def _splitmix64(seed: int) -> int:
    """Return the first output of splitmix64 for a seed."""
    mask = 2**64 - 1
    z = (seed + 0x9E3779B97F4A7C15) & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    return z ^ z >> 31


def _fill(words: Words) -> None:
    """Compute all states from the first by doubling."""
    filled, power = 1, 0
    while filled < len(words):
        added = min(filled, len(words) - filled)
        tables = _tables(power)
        for first in range(0, added, _CHUNK):
            last = min(first + _CHUNK, added)
            words[filled + first : filled + last] = _multiply(tables, words[first:last])
        filled, power = filled + added, power + 1


def _multiply(tables: Tables, words: Words) -> Words:
    """Return the product of a matrix and each state, by a table lookup for each byte."""
    byte_columns = np.ascontiguousarray(words, "<u8").view(np.uint8).T
    total: Words = tables[0].take(byte_columns[0]).view(np.uint64)
    for table, column in zip(tables[1:], byte_columns[1:]):
        total ^= table.take(column).view(np.uint64)
    return total.reshape(-1, 2)


@functools.cache
def _tables(power: int) -> Tables:
    """Return the byte tables of 2**power jumps. A complex number holds two words for ``take``."""
    tables: Words = np.zeros((16, 256, 2), np.uint64)
    columns = _matrix(power).reshape(16, 8, 1, 2)
    for bit in range(8):
        half = 1 << bit
        tables[:, half : 2 * half] = tables[:, :half] ^ columns[:, bit]
    return tables.view(np.complex128)[..., 0]


@functools.cache
def _matrix(power: int) -> Matrix:
    """Return the matrix of 2**power jumps, by squaring."""
    if power:
        return _multiply(_tables(power - 1), _matrix(power - 1))
    bits: Words = np.zeros((128, 2), np.uint64)
    bits[:64, 0] = bits[64:, 1] = 1 << np.arange(64, dtype=np.uint64)
    return _jump(bits)


def _jump(words: Words) -> Words:
    """Return the states after a jump: the XOR of those after selected steps of 0 to 127."""
    s0, s1 = words.T
    total = np.zeros_like(words)
    for step in range(128):
        if JUMP[step // 64] >> step % 64 & 1:
            total ^= np.stack([s0, s1], axis=1)
        s1 = s1 ^ s0
        s0, s1 = (s0 << 55 | s0 >> 9) ^ s1 ^ (s1 << 14), s1 << 36 | s1 >> 28
    return total


document_parameters(
    globals(),
    """
n : int | The number of states, each 2**64 numbers after the previous one.
seed : int | The seed.
subsequence_start : int | The position of the first state, in units of 2**64 numbers.
stream : Stream | The stream of the copy.
states : array_like | An array of ``xoroshiro128p_dtype`` with one axis, on the host or a device.
init_xoroshiro128p_states_cpu.states : ndarray | An array of ``xoroshiro128p_dtype`` with one axis.
""",
)
