"""Decoupled look-back: pass a running value from tile to tile within one launch.

Each tile publishes its aggregate, and then its prefix: the combined values of all tiles up to it. A
tile waits for the preceding tiles, and combines their aggregates, back to the nearest prefix. So it
needs no second launch. See Merrill and Garland, "Single-pass parallel prefix scan with decoupled
look-back" (2016).

The state of a tile is a row of 64-bit words. A word has the status, and 32 bits of the value. It is
loaded and stored as a whole, so that a value of one word needs no fence. The words of a larger
value belong together if they have the same status, because each status is published once.

Blocks start in the order of their indices, on GPUs and on the CPU. So a block never waits for one
that has not started.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.algorithms.words import from_words, words_of
from pycu2c.cuda import block
from pycu2c.device_library.warp import ALL_LANES, WARP_SIZE, reduce_lanes, warp_threads
from pycu2c.kernels.kernel import device

AGGREGATE, PREFIX = 1, 2  # the status of a tile; 0 before it has published
_WAIT = 700  # nanoseconds, in which most preceding tiles publish


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
    while True:
        states_of_tile = tuple(cuda.ldcv(states, (tile, i)) for i in range(len(words)))
        words = tuple(np.uint32(word) for word in states_of_tile)
        status = states_of_tile[0] >> 32
        if status != 0 and all(word >> 32 == status for word in states_of_tile):
            break
        cuda.threadfence_block()
    return status, from_words(words, like)


@device
def exclusive_prefix(states: Any, tile: Any, total: Any, op: Any) -> Any:
    """Publish the total of a tile; return the combined totals of all preceding tiles.

    The threads of the first warp call it. Lane 0 has the result, which is undefined for tile 0.
    """
    prefix = total
    if cuda.laneid == 0:
        publish(states, tile, PREFIX if tile == 0 else AGGREGATE, total)
    if tile > 0:
        cuda.nanosleep(_WAIT)
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
        if cuda.laneid == 0:
            publish(states, tile, PREFIX, op(prefix, total))
    return prefix


@device
def prefix_of_tile(states: Any, tile: Any, total: Any, op: Any) -> Any:
    """Publish the total of a tile; return the combined totals of all preceding tiles.

    All threads have the result, which is undefined for tile 0.
    """
    prefix = total
    if cuda.threadIdx.x < WARP_SIZE:
        prefix = exclusive_prefix(states, tile, total, op)
    return block.broadcast(prefix)
