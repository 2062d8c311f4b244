"""Stable radix sort of the items of a block (least significant digit first).

Each pass sorts by a digit of 4 bits. Threads count their digits in columns of a table in shared
memory, two 16-bit counters in a word. A prefix sum of the table is then the first rank of each
digit and thread, as in Merrill and Grimshaw, "High performance and scalable radix sorting" (2011).
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.device_library.block.exchange import scatter_to_blocked
from pycu2c.device_library.block.scan import scan_threads
from pycu2c.device_library.warp import thread_rank
from pycu2c.kernels.kernel import device

DIGIT_BITS = 4
ROWS = 8  # words of a column; a word has the counters of the digits d and d + 8
SEGMENT = ROWS + 1  # words that a thread adds; odd, so that threads use different banks


@device
def _float_bits(key: Any, bits: Any, sign: Any) -> Any:
    """Return the bits of a float in the order of floats."""
    ordered = (sign - 1) - (bits - sign) if bits >= sign else bits + sign
    if key == 0:
        ordered = sign
    return ordered if key == key else sign + (sign - 1)


@device
def radix_bits(key: Any) -> Any:
    """Return an unsigned integer of the key's size in the order of keys; NaN is last."""
    if isinstance(key, np.float64):
        return _float_bits(key, key.view(np.uint64), np.uint64(1 << 63))
    if isinstance(key, np.float32):
        return _float_bits(key, key.view(np.uint32), np.uint32(1 << 31))
    if isinstance(key, np.float16):
        return _float_bits(key, np.uint32(key.view(np.uint16)), np.uint32(1 << 15))
    if isinstance(key, np.int64):
        return key.view(np.uint64) + np.uint64(1 << 63)
    if isinstance(key, np.signedinteger):
        return np.int32(key).view(np.uint32) + np.uint32(1 << (8 * key.dtype.itemsize - 1))
    if isinstance(key, np.uint64):
        return key
    return np.uint32(key)


@device
def _digit(key: Any, bit: Any, end_bit: Any, descending: Any) -> Any:
    """Return the digit of a key from ``bit`` on, in the order of the sort."""
    mask = (1 << min(DIGIT_BITS, end_bit - bit)) - 1
    digit = np.int32(radix_bits(key) >> bit & mask)
    return 2 * ROWS - 1 - digit if descending else digit


@device
def _rank_keys(
    ranks: Any, keys: Any, threads: Any, bit: Any, end_bit: Any, descending: Any
) -> None:
    """Set the rank of each key in a stable sort by a digit."""
    table = cuda.shared.array(threads * SEGMENT, np.uint32)
    rank = thread_rank()
    for row in range(SEGMENT):
        table[row * threads + rank] = 0
    for i in range(len(keys)):
        digit = _digit(keys[i], bit, end_bit, descending) & 15
        counter = digit % ROWS * threads + rank
        shift = np.uint32(digit // ROWS * 16)
        both = table[counter]
        ranks[i] = both >> shift & 0xFFFF
        table[counter] = both + (np.uint32(1) << shift)
    cuda.syncthreads()
    counts = cuda.local.array(SEGMENT, np.uint32)
    count = np.uint32(0)
    for i in range(SEGMENT):
        counts[i] = table[rank * SEGMENT + i]
        count += counts[i]
    before, total = scan_threads(count, operator.add)
    if rank == 0:
        before = np.uint32(0)
    before += total << 16  # the digits from ROWS on follow the lower ones
    for i in range(SEGMENT):
        table[rank * SEGMENT + i] = before
        before += counts[i]
    cuda.syncthreads()
    for i in range(len(keys)):
        digit = _digit(keys[i], bit, end_bit, descending) & 15
        counter = digit % ROWS * threads + rank
        shift = np.uint32(digit // ROWS * 16)
        ranks[i] += table[counter] >> shift & 0xFFFF


@device
def radix_sort(
    keys: Any,
    threads: Any,
    values: Any = None,
    begin_bit: Any = 0,
    end_bit: Any = None,
    descending: Any = False,
) -> None:
    """Sort the keys of a block, stably; NaN is the greatest key.

    Parameters
    ----------
    keys : array
        The local array of the keys of this thread, in the blocked arrangement: integers or floats.
    threads : int
        The number of threads of the block, a constant. The block has at most 65535 keys.
    values : array, optional
        A local array of a value of each key, which moves with it.
    begin_bit, end_bit : int, optional
        The bits to compare, from ``begin_bit`` to ``end_bit - 1``; by default all.
    descending : bool, optional
        True sorts from the greatest to the least key.
    """
    ranks = cuda.local.array(len(keys), np.uint32)
    last_bit = 8 * keys.dtype.itemsize if end_bit is None else end_bit
    for bit in range(begin_bit, last_bit, DIGIT_BITS):
        _rank_keys(ranks, keys, threads, bit, last_bit, descending)
        scatter_to_blocked(keys, ranks, threads)
        if values is not None:
            scatter_to_blocked(values, ranks, threads)


@device
def top_k(greatest: Any, keys: Any, threads: Any) -> None:
    """Store the greatest keys of a block, in descending order.

    Parameters
    ----------
    greatest : array
        The array for the greatest keys, in global or shared memory.
    keys : array
        The local array of the keys of this thread; the keys of the block are sorted afterwards.
    threads : int
        The number of threads of the block, a constant.
    """
    radix_sort(keys, threads, descending=True)
    for i in range(len(keys)):
        rank = thread_rank() * len(keys) + i
        if rank < len(greatest):
            greatest[rank] = keys[i]
    cuda.syncthreads()
