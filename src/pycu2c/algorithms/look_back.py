"""Decoupled look-back: pass a running value from tile to tile within one launch.

Each tile publishes its aggregate, and then its prefix: the combined values of all tiles up to it. A
tile waits for the tiles before it, combines their aggregates, back to the nearest prefix, and so
needs no second launch. See Merrill and Garland, "Single-pass parallel prefix scan with decoupled
look-back" (2016).

The state of a tile is a row of 64-bit words. A word has the status, and 32 bits of the value. It is
loaded and stored as a whole, so that a value of one word needs no fence. The words of a larger
value belong together if they have the same status, because each status is published once.

Blocks start in the order of their indices, on GPUs and on the CPU. So a block never waits for one
that has not started.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.cuda import block
from pycu2c.device_library.warp import ALL_LANES, WARP_SIZE, reduce_lanes, warp_threads
from pycu2c.kernels.kernel import device

AGGREGATE, PREFIX = 1, 2  # the status of a tile; 0 before it has published


@device
def words_of(value: Any) -> Any:
    """Return the bits of a number, a vector or a tuple as a tuple of uint32."""
    if isinstance(value, tuple):
        return tuple(word for item in value for word in words_of(item))
    if isinstance(value, np.complexfloating):
        return words_of((value.real, value.imag))
    if isinstance(value, np.float16):
        return (np.uint32(value.view(np.uint16)),)
    if isinstance(value, np.float32):
        return (value.view(np.uint32),)
    if isinstance(value, (np.float64, np.int64, np.uint64)):
        bits = value.view(np.uint64)
        return np.uint32(bits), np.uint32(bits >> 32)
    return (np.uint32(value),)


def words_per_value(arrays: Sequence[Any]) -> int:
    """Return the number of words for an element of each array."""
    return sum(-(-array.dtype.itemsize // 4) for array in arrays)


@device
def from_words(words: Any, like: Any) -> Any:
    """Return the value whose bits are ``words``, of the type of ``like``."""
    if isinstance(like, tuple):
        if len(like) == 0:
            return ()
        first = from_words(words[: len(words_of(like[0]))], like[0])
        return (first, *from_words(words[len(words_of(like[0])) :], like[1:]))
    if isinstance(like, np.complexfloating):
        return like.dtype.type(complex(*from_words(words, (like.real, like.imag))))
    if isinstance(like, np.float16):
        return np.uint16(words[0]).view(np.float16)
    if isinstance(like, np.float32):
        return words[0].view(np.float32)
    if isinstance(like, (np.float64, np.int64, np.uint64)):
        return (np.uint64(words[1]) << 32 | words[0]).view(like.dtype.type)
    return like.dtype.type(words[0])


@device
def publish(states: Any, tile: Any, status: Any, value: Any) -> None:
    """Publish a value of a tile."""
    for i, word in enumerate(words_of(value)):
        cuda.stcg(states, (tile, i), np.uint64(status) << 32 | word)


@device
def wait_for(states: Any, tile: Any, like: Any) -> Any:
    """Wait until a tile has published; return its status and its value."""
    status = np.uint64(0)
    words = words_of(like)
    while status == 0:
        cuda.threadfence_block()
        states_of_tile = tuple(cuda.ldcv(states, (tile, i)) for i in range(len(words)))
        words = tuple(np.uint32(word) for word in states_of_tile)
        status = states_of_tile[0] >> 32
        if not all(word >> 32 == status for word in states_of_tile):
            status = np.uint64(0)
    return status, from_words(words, like)


@device
def exclusive_prefix(states: Any, tile: Any, total: Any, op: Any, is_prefix: Any = False) -> Any:
    """Publish the total of a tile; return the combined totals of all tiles before.

    The threads of the first warp call it. Lane 0 has the result, which is undefined for tile 0.
    is_prefix: whether the total of this tile already is its prefix.
    """
    prefix = total
    if cuda.laneid == 0:
        publish(states, tile, PREFIX if tile == 0 or is_prefix else AGGREGATE, total)
    if tile > 0:
        lanes = warp_threads()
        first = tile - lanes
        prefixes = 0
        while prefixes == 0:
            status, value = np.uint64(AGGREGATE), total
            if first + cuda.laneid >= 0:
                status, value = wait_for(states, first + cuda.laneid, total)
            prefixes = cuda.ballot_sync(ALL_LANES, status == PREFIX)
            nearest = max(63 - cuda.clz(prefixes), 0)
            value = cuda.shfl_down_sync(ALL_LANES, value, nearest)
            value = reduce_lanes(value, op, lanes - nearest)
            prefix = op(value, prefix) if first + lanes < tile else value
            first -= lanes
        if cuda.laneid == 0 and not is_prefix:
            publish(states, tile, PREFIX, op(prefix, total))
    return prefix


@device
def prefix_of_tile(states: Any, tile: Any, total: Any, op: Any, is_prefix: Any = False) -> Any:
    """Publish the total of a tile; return the combined totals of all tiles before to all threads.

    The result is undefined for tile 0.
    """
    prefix = total
    if cuda.threadIdx.x < WARP_SIZE:
        prefix = exclusive_prefix(states, tile, total, op, is_prefix)
    return block.broadcast(prefix)
