"""Every primitive of ``pycu2c.cuda.block``, over types, shapes of blocks and items per thread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, float16, float64, int8, int32, int64, kernel, uint32
from pycu2c.cuda import block
from pycu2c.kernels.kernel import Kernel
from support.launching import run

DTYPES = int8, uint32, int64, float16, float64
SHAPES = [(20,), (12, 8), (5, 7, 2)]
VALUES = 10  # of the items: 0 to 9


def make_kernel(dtype: Any, threads: int, count: int) -> Kernel[Any]:
    @kernel
    def every_primitive(out, counts, x):
        rank = cuda.cg.this_thread_block().thread_rank()
        items = cuda.local.array(count, dtype)
        numbers = cuda.local.array(count, int32)
        block.load(items, x)
        out[10, rank] = block.all_reduce(items, max)
        smallest = block.reduce(items, min)
        if rank == 0:
            counts[2, VALUES] = smallest
        block.exclusive_scan(items, max, dtype(1))
        block.store_transposed(out[0], items, threads)
        block.load_transposed(items, x, threads)
        block.inclusive_scan(items, max)
        block.store(out[1], items)
        block.load_striped(items, x)
        block.striped_to_blocked(items, threads)
        block.adjacent_difference(items, threads, 0, max)
        block.blocked_to_striped(items, threads)
        block.store_striped(out[2], items)
        block.load(items, x)
        block.radix_sort(items, threads, descending=True)
        block.store(out[3], items)
        block.load(items, x)
        for i in range(count):
            numbers[i] = rank * count + i
        block.merge_sort(items, threads, numbers)
        block.store(out[4], items)
        block.store(counts[0], numbers)
        block.load(items, x)
        block.top_k(out[5, :VALUES], items, threads)
        block.load(items, x)
        for i in range(count):
            numbers[i] = (threads * count - 1) - (rank * count + i)
        block.scatter_to_blocked(items, numbers, threads)
        block.store(out[6], items)
        block.load(items, x)
        block.scatter_to_striped(items, numbers, threads)
        block.store_striped(out[7], items)
        block.load(items, x)
        out[8, rank] = block.shuffle(items[0], rank + 1, threads)
        block.flag_heads(numbers, items, threads)
        block.store(counts[1], numbers)
        for i in range(count):
            numbers[i] = items[i]
        of_values = cuda.shared.array(VALUES, int32)
        block.histogram(of_values, numbers)
        for i in range(rank, VALUES, threads):
            counts[2, i] = of_values[i]
        run_values = cuda.shared.array(threads * count, dtype)
        run_lengths = cuda.shared.array(threads * count, int32)
        runs = block.run_length_encode(run_values, run_lengths, items, threads)
        for i in range(rank, threads * count, threads):
            out[9, i] = run_values[i] if i < runs else 0
            counts[3, i] = run_lengths[i] if i < runs else 0

    return every_primitive


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_primitive(target: str, dtype: Any, shape: tuple[int, ...], count: int) -> None:
    threads = int(np.prod(shape))
    size = threads * count
    x = np.random.default_rng(size).integers(0, VALUES, size).astype(dtype.numpy)
    out, counts = np.zeros((11, size), dtype.numpy), np.zeros((4, size), np.int32)
    arguments = [out, counts, x]
    out, counts, _ = run(make_kernel(dtype, threads, count), (1, shape), arguments, target)
    greatest, heads = np.maximum.accumulate(x), np.append(True, x[1:] != x[:-1])
    order = np.argsort(x, kind="stable")
    starts = np.append(np.flatnonzero(heads), size)
    runs = len(starts) - 1
    expected = {
        0: np.maximum(np.append(1, greatest[:-1]), 1),
        1: greatest,
        2: np.maximum(x, np.append(0, x[:-1])),
        3: np.sort(x)[::-1],
        4: x[order],
        5: np.sort(x)[::-1][:VALUES],
        6: x[::-1],
        7: x[::-1],
        8: np.append(x[count::count], x[-count]),
        9: np.append(x[heads], np.zeros(size - runs)),
        10: np.full(threads, x.max()),
    }
    for row, values in expected.items():
        np.testing.assert_array_equal(out[row, : len(values)], values, err_msg=f"row {row}")
    np.testing.assert_array_equal(counts[0], order)
    np.testing.assert_array_equal(counts[1], heads)
    np.testing.assert_array_equal(counts[2, :VALUES], np.bincount(x.astype(int), minlength=VALUES))
    assert counts[2, VALUES] == x.min()
    np.testing.assert_array_equal(counts[3], np.append(np.diff(starts), np.zeros(size - runs)))
