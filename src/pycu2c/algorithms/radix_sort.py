"""Stable radix sort of an array: one pass over the data for each digit of 8 bits (onesweep).

One launch counts all digits of all keys. Then a launch for each digit moves tiles: a block ranks
its keys, receives the counts of each digit in the preceding tiles by look-back, and stores the keys
in runs of equal digits. See Adinets and Merrill, "Onesweep: a faster least significant digit radix
sort for GPUs" (2022).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.algorithms.checks import ELEMENTS, INDICES, REALS, check_vector
from pycu2c.algorithms.look_back import AGGREGATE, PREFIX
from pycu2c.algorithms.placement import place
from pycu2c.algorithms.words import load_words, store_words
from pycu2c.cuda import block
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library.block.radix_sort import radix_bits
from pycu2c.device_library.warp import ALL_LANES, WARP_SIZE
from pycu2c.kernels.kernel import Kernel, device, kernel

_ON_GPU = 384, 21  # threads of a block, and items of 4 bytes of a thread
_DIGIT_BITS, _DIGITS = 8, 256
_COUNT_ON_GPU, _COUNT_ON_CPU = (256, 8), (1, 1024)  # threads, and keys that each loads at a time
_MAX_COUNT_BLOCKS = 660  # five on each multiprocessor of an H200, which run at the same time
_MAX_COUNT = 2**30 - 1  # of a state of 32 bits, whose lowest two bits are the status


@device
def digit_of(key: Any, bit: Any, mask: Any, descending: Any) -> Any:
    """Return a digit of a key, in the order of the sort."""
    shift = np.uint32(bit) & (8 * key.dtype.itemsize - 1)  # a shift of 32 bits, if the key has 32
    digit = np.int32(radix_bits(key) >> shift) & mask
    return mask - digit if descending else digit


@device
def clipped(index: Any, size: Any) -> Any:
    """Return an index, or the last one of a tile."""
    return min(index, size - 1)


@functools.cache
def count_kernel(
    backend: Any, passes: int, threads: int, unroll: int, *, descending: bool
) -> Kernel[Any]:
    """Return the kernel that counts all digits of keys, of which it loads ``unroll`` at a time."""

    @kernel(backend=backend, launch_bounds=threads, wraparound=False)
    def count_digits(counts: Any, keys: Any, first_bit: Any, end_bit: Any) -> None:
        """Add the counts of each digit to those of its pass."""
        rank, tile_size = cuda.threadIdx.x, threads * unroll
        of_block = cuda.shared.array(passes * _DIGITS, np.uint32)
        for i in range(rank, passes * _DIGITS, threads):
            of_block[i] = 0
        cuda.syncthreads()
        last_mask = np.int32(_DIGITS - 1) >> (passes * _DIGIT_BITS - (end_bit - first_bit))
        items = cuda.local.array(unroll, keys.dtype)
        tiles = (len(keys) + tile_size - 1) // tile_size
        for tile in range(cuda.blockIdx.x, tiles, cuda.gridDim.x):
            start = tile * tile_size
            size = np.int32(min(len(keys) - start, tile_size))
            for i in range(unroll):  # loads without a condition overlap
                items[i] = keys[start + clipped(rank + i * threads, size)]
            for i in range(unroll):
                if rank + i * threads < size:
                    for k in range(passes):
                        mask = last_mask if k == passes - 1 else np.int32(_DIGITS - 1)
                        digit = digit_of(items[i], first_bit + k * _DIGIT_BITS, mask, descending)
                        cuda.atomic.add(of_block, k * _DIGITS + digit, 1)
        cuda.syncthreads()
        for i in range(rank, passes * _DIGITS, threads):
            cuda.atomic.add(counts, i, of_block[i])

    return count_digits


@functools.cache
def scan_counts_kernel(backend: Any) -> Kernel[Any]:
    """Return the kernel that replaces the counts of a pass by the first index of each digit."""

    @kernel(backend=backend, launch_bounds=_DIGITS, wraparound=False)
    def scan_counts(counts: Any) -> None:
        i = cuda.grid(1)
        counts[i] = block.exclusive_scan(counts[i])

    return scan_counts


@device
def look_back(states: Any, tile: Any, digit: Any, count: Any) -> Any:
    """Return the count of a digit in all preceding tiles; publish that up to this tile."""
    before = states.dtype.type(0)
    previous = tile - 1
    while previous >= 0:
        state = cuda.ldcv(states, (previous, digit))
        while state == 0:
            cuda.threadfence_block()
            state = cuda.ldcv(states, (previous, digit))
        before += state >> 2
        previous = -1 if state & 3 == PREFIX else previous - 1
    cuda.stcg(states, (tile, digit), states.dtype.type(before + count << 2 | PREFIX))
    return before


@functools.cache
def sort_kernel(
    backend: Any, threads: int, items_per_thread: int, item_size: int, *, descending: bool
) -> Kernel[Any]:
    """Return the kernel of a pass for a back end and a shape of tiles.

    item_size: bytes for a key, or for a value if it is larger; at least 4.
    """
    tile_size = threads * items_per_thread
    lanes = min(threads, WARP_SIZE)
    warps = -(-threads // WARP_SIZE)
    buffer_size = max(tile_size * item_size // 4, warps * _DIGITS)

    @kernel(backend=backend, launch_bounds=(threads, 2), wraparound=False)
    def sort_by_digit(
        out: Any, values_out: Any, keys: Any, values: Any, starts: Any, states: Any, bit: Any,
        mask: Any,
    ) -> None:  # fmt: skip
        """Move the keys of a tile, and their values, behind those with a lower digit."""
        rank, tile, n = cuda.threadIdx.x, cuda.blockIdx.x, len(keys)
        start = tile * tile_size
        size = np.int32(min(n - start, tile_size))
        warp = rank // WARP_SIZE
        of_warp = warp * lanes * items_per_thread + cuda.laneid  # the index of the first item
        left = size - of_warp
        counters = cuda.shared.array((warps, _DIGITS), np.uint32)
        first_rank = cuda.shared.array(_DIGITS, np.uint32)
        first_index = cuda.shared.array(_DIGITS, states.dtype)  # of a digit, less its first rank
        buffer = cuda.shared.array(buffer_size, np.uint32)
        items = cuda.local.array(items_per_thread, keys.dtype)
        ranks = cuda.local.array(items_per_thread, np.uint32)
        for d in range(rank, warps * _DIGITS, threads):
            counters[d // _DIGITS, d % _DIGITS] = 0
        cuda.syncthreads()
        for i in range(items_per_thread):  # loads without a condition overlap
            items[i] = keys[start + clipped(of_warp + i * lanes, size)]
        for i in range(items_per_thread):
            digit = digit_of(items[i], bit, mask, descending)
            ranks[i] = digit if i * lanes < left else mask  # items beyond the end are last
            cuda.atomic.add(counters, (warp, ranks[i]), 1)
        cuda.syncthreads()
        for d in range(rank, _DIGITS, threads):
            total = np.uint32(0)
            for w in range(warps):
                count = counters[w, d]
                counters[w, d] = total
                total += count
            first_rank[d] = total
            state = states.dtype.type(total) << 2 | AGGREGATE
            cuda.stcg(states, (tile, d), states.dtype.type(state))
        cuda.syncthreads()
        scan_digits(first_rank, first_index, threads)
        if threads == 1:
            for d in range(_DIGITS):
                counters[0, d] = first_rank[d]
            for i in range(items_per_thread):
                digit = np.int32(ranks[i])
                ranks[i] = counters[0, digit]
                counters[0, digit] += 1
        else:
            rank_in_warps(ranks, counters, first_rank, buffer, threads)
        for d in range(rank, _DIGITS, threads):
            count = states.dtype.type(first_index[d])
            before = look_back(states, tile, d, count)
            first_index[d] = starts[d] + before - first_rank[d]
        for i in range(items_per_thread):
            if i * lanes < left:
                store_words(buffer, ranks[i], items[i])
        if values is not None:
            moved = cuda.local.array(items_per_thread, values.dtype)
            for i in range(items_per_thread):
                moved[i] = values[start + clipped(of_warp + i * lanes, size)]
        cuda.syncthreads()
        for i in range(items_per_thread):
            position = rank + i * threads
            if position < size:
                key = load_words(buffer, position, items[0])
                digit = digit_of(key, bit, mask, descending)
                out[first_index[digit] + position] = key
                if values is not None:  # which follows; a rank has 16 bits
                    ranks[i] |= digit << 16
        if values is not None:
            cuda.syncthreads()
            for i in range(items_per_thread):
                if i * lanes < left:
                    store_words(buffer, ranks[i] & 0xFFFF, moved[i])
            cuda.syncthreads()
            for i in range(items_per_thread):
                position = rank + i * threads
                if position < size:
                    value = load_words(buffer, position, moved[0])
                    values_out[first_index[ranks[i] >> 16] + position] = value

    return sort_by_digit


@device
def rank_in_warps(ranks: Any, counters: Any, first_rank: Any, lanes_of: Any, threads: Any) -> None:
    """Replace the digits of items by their ranks in the block.

    counters: the number of items of each digit in the preceding warps. lanes_of: shared memory.
    """
    rank, warp = cuda.threadIdx.x, cuda.threadIdx.x // WARP_SIZE
    for d in range(rank, _DIGITS, threads):
        for w in range(len(counters)):
            counters[w, d] += first_rank[d]
            lanes_of[w * _DIGITS + d] = 0
    cuda.syncthreads()
    for i in range(len(ranks)):
        slot = warp * _DIGITS + np.int32(ranks[i])
        cuda.atomic.or_(lanes_of, slot, np.uint32(1) << cuda.laneid)
        cuda.syncwarp()
        same = lanes_of[slot]
        leader = 31 - cuda.clz(same)
        base = np.uint32(0)
        if cuda.laneid == leader:
            base = cuda.atomic.add(counters, (warp, ranks[i]), cuda.popc(same))
        base = cuda.shfl_sync(ALL_LANES, base, leader)
        if cuda.laneid == leader:
            lanes_of[slot] = 0
        ranks[i] = base + cuda.popc(same & cuda.lanemask_lt())
        cuda.syncwarp()
    cuda.syncthreads()


@device
def scan_digits(first_rank: Any, counts: Any, threads: Any) -> None:
    """Copy the counts of the digits, then replace them by the first rank of each digit."""
    rank = cuda.threadIdx.x
    for d in range(rank, _DIGITS, threads):
        counts[d] = first_rank[d]
    if threads == 1:
        before = np.uint32(0)
        for d in range(_DIGITS):
            count = first_rank[d]
            first_rank[d] = before
            before += count
    else:
        count = first_rank[rank] if rank < _DIGITS else np.uint32(0)
        before = block.exclusive_scan(count)
        if rank < _DIGITS:
            first_rank[rank] = before
    cuda.syncthreads()


def sort(
    keys: Any,
    descending: bool = False,
    begin_bit: int = 0,
    end_bit: int | None = None,
    out: Any = None,
    stream: object = None,
) -> Any:
    """Return the sorted elements of an array; NaN is the greatest.

    Returns
    -------
    array
        The sorted elements.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import algorithms
    >>> algorithms.sort(np.array([3, 1, 4]))
    array([1, 3, 4])
    """
    return _sort({"keys": keys}, {"out": out}, descending, begin_bit, end_bit, stream)[0]


def sort_by_key(
    keys: Any,
    values: Any,
    descending: bool = False,
    begin_bit: int = 0,
    end_bit: int | None = None,
    out: Any = (None, None),
    stream: object = None,
) -> tuple[Any, Any]:
    """Return keys and their values, sorted by the keys, stably.

    Returns
    -------
    array, array
        The sorted keys, and their values.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import algorithms
    >>> algorithms.sort_by_key(np.array([3, 1, 4]), np.arange(3))
    (array([1, 3, 4]), array([1, 0, 2]))
    """
    if not isinstance(out, tuple) or len(out) != 2:
        raise TypeError("out is a tuple of two arrays: for the keys, and for the values")
    arrays, results = {"keys": keys, "values": values}, {"out[0]": out[0], "out[1]": out[1]}
    return _sort(arrays, results, descending, begin_bit, end_bit, stream)


def _sort(
    arrays: Mapping[str, Any],
    out: Mapping[str, Any],
    descending: bool,
    begin_bit: int,
    end_bit: int | None,
    stream: object,
) -> tuple[Any, Any]:
    where, (keys, *others) = place(arrays, out, stream)
    check_vector(keys, "keys", kinds=REALS)
    size, values = keys.shape[0], others.pop(0) if "values" in arrays else None
    if "values" in arrays:
        check_vector(values, "values", size, ELEMENTS, INDICES)
    dtypes = [None if a is None else a.dtype for a in (keys, values)]
    for name, array, dtype in zip(out, others, dtypes):
        if array is not None:
            check_vector(array, name, size, ELEMENTS, INDICES)
            if array.dtype != dtype:  # the passes sort the elements of out
                raise TypeError(f"{name} has the dtype {dtype}, not {array.dtype}")
    results = [*others, None][:2]
    end = 8 * keys.dtype.itemsize if end_bit is None else end_bit
    if not 0 <= begin_bit < end <= 8 * keys.dtype.itemsize:
        raise ValueError(f"the bits {begin_bit} to {end} are not bits of {keys.dtype}")

    def buffers() -> list[Any]:
        return [None if d is None else where.empty((size,), d) for d in dtypes]

    results = [new if r is None else r for r, new in zip(results, buffers(), strict=True)]
    if not size:
        return results[0], results[1]
    passes = -(-(end - begin_bit) // _DIGIT_BITS)
    state_dtype = np.uint32 if size <= _MAX_COUNT else np.uint64
    starts = where.zeros((passes * _DIGITS,), state_dtype)
    threads, unroll = _COUNT_ON_GPU if where.is_gpu else _COUNT_ON_CPU
    blocks = min(-(-size // threads), _MAX_COUNT_BLOCKS if where.is_gpu else 16)
    count = count_kernel(where.backend, passes, threads, unroll, descending=descending)
    count[blocks, threads, stream](starts, keys, begin_bit, end)
    scan_counts_kernel(where.backend)[passes, _DIGITS, stream](starts)
    item_size = max(4, *(d.itemsize for d in dtypes if d is not None))  # in shared memory
    threads, items = where.tile_shape(_ON_GPU, item_size)
    tiles = -(-size // (threads * items))
    launch = sort_kernel(where.backend, threads, items, item_size, descending=descending)
    other = buffers() if passes > 1 else results
    source = [keys, values]
    for k in range(passes):
        bit = begin_bit + k * _DIGIT_BITS
        mask = np.int32((1 << min(_DIGIT_BITS, end - bit)) - 1)
        target = results if (passes - k) % 2 else other
        states = where.zeros((tiles, _DIGITS), state_dtype)
        of_pass = starts[k * _DIGITS : (k + 1) * _DIGITS]
        launch[tiles, threads, stream](*target, *source, of_pass, states, bit, mask)
        source = target
    return results[0], results[1]


document_parameters(
    globals(),
    """
keys : array | An array of one axis, of integers or floats.
values : array | An array of a value of each key.
descending : bool | True sorts from the greatest to the least key.
begin_bit, end_bit : int | The bits to compare, from ``begin_bit`` to ``end_bit - 1``; by default
  all.
out : array | The array for the result, which does not overlap ``keys``; by default a new one.
sort_by_key.out : tuple of array | The arrays for the keys and the values; by default new ones.
stream : Stream or int | The stream of the launches.
""",
)
