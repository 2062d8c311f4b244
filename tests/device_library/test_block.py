"""``pycu2c.cuda.block`` and ``pycu2c.cuda.warp``, compared with NumPy."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
import pytest

from pycu2c import CompileError, cuda, device, float32, from_dtype, int32, int64, kernel, uint32
from pycu2c.base.vector_types import float4
from pycu2c.cuda import block, warp
from pycu2c.kernels.kernel import Kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.launching import run

SHAPES = [(32,), (20,), (96,), (5, 7, 2)]
shapes = pytest.mark.parametrize("shape", SHAPES, ids=str)
items_per_thread = pytest.mark.parametrize("count", [1, 4])


def keys_of(dtype: Any, size: int) -> np.ndarray[Any, Any]:
    """Return random numbers, among them equal ones and, for floats, special ones."""
    rng = np.random.default_rng(size)
    if np.issubdtype(dtype, np.floating):
        keys = rng.normal(size=size).astype(dtype)
        keys[:6] = [np.nan, -np.inf, np.inf, 0.0, -0.0, np.nan]
    else:
        limits = np.iinfo(dtype)
        keys = rng.integers(limits.min, limits.max, size, dtype, endpoint=True)
    keys[6:12] = keys[12]
    return keys


@device
def compose(f, g):
    """Return the composition of two affine functions: associative, not commutative."""
    return f[0] * g[0], f[1] * g[0] + g[1]


@device
def greater(a, b):
    return b if b[0] > a[0] else a


@device
def add_components(a, b):
    return float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w)


# ---- reductions and scans ------------------------------------------------------------------------


@kernel
def reduce_numbers(out, x):
    i = cuda.cg.this_thread_block().thread_rank()
    out[i, 0] = warp.reduce(x[i])
    out[i, 1] = warp.all_reduce(x[i], max)
    out[i, 2] = warp.inclusive_scan(x[i])
    out[i, 3] = warp.exclusive_scan(x[i], max, -1)
    out[i, 4] = block.reduce(x[i], min)
    out[i, 5] = block.all_reduce(x[i])
    out[i, 6] = block.inclusive_scan(x[i])
    out[i, 7] = block.exclusive_scan(x[i], operator.add, 5)


@shapes
def test_reductions_and_scans_of_numbers(target: str, shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape))
    x = np.random.default_rng(1).integers(0, 100, size)
    out = np.zeros((size, 8), np.int64)
    out, _ = run(reduce_numbers, (1, shape), [out, x], target)
    for first in range(0, size, 32):
        lanes = x[first : first + 32]
        rows = out[first : first + 32]
        assert rows[0, 0] == lanes.sum()
        assert (rows[:, 1] == lanes.max()).all()
        assert (rows[:, 2] == lanes.cumsum()).all()
        assert (rows[1:, 3] == np.maximum.accumulate(lanes)[:-1]).all()
        assert rows[0, 3] == -1
    assert out[0, 4] == x.min()
    assert (out[:, 5] == x.sum()).all()
    assert (out[:, 6] == x.cumsum()).all()
    assert (out[:, 7] == x.cumsum() - x + 5).all()


@kernel
def scan_tuples(out, x):
    i = cuda.cg.this_thread_block().thread_rank()
    f = x[i] | 1, x[i]
    out[i, 0], out[i, 1] = block.inclusive_scan(f, compose)
    out[i, 2], out[i, 3] = block.exclusive_scan(f, compose, (int64(1), int64(0)))
    out[i, 4], out[i, 5] = block.all_reduce(f, compose)
    out[i, 6], out[i, 7] = block.broadcast(block.reduce((x[i], i), greater))


@shapes
def test_operations_on_tuples_need_not_commute(target: str, shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape))
    x = np.random.default_rng(2).integers(0, 100, size)
    out, _ = run(scan_tuples, (1, shape), [np.zeros((size, 8), np.int64), x], target)
    total = np.int64(1), np.int64(0)
    with np.errstate(over="ignore"):
        for i in range(size):
            assert tuple(out[i, 2:4]) == total
            total = total[0] * (x[i] | 1), total[1] * (x[i] | 1) + x[i]
            assert tuple(out[i, 0:2]) == total
    assert (out[:, 4:6] == total).all()
    assert (out[:, 6:] == (x.max(), x.argmax())).all()


@kernel
def reduce_vectors(out, x):
    total = block.all_reduce(x[cuda.threadIdx.x], add_components)
    out[cuda.threadIdx.x] = total.x + 10 * total.y + 100 * total.z + 1000 * total.w


def test_reductions_of_vectors(target: str) -> None:
    x = np.arange(4 * 40, dtype=np.float32).reshape(40, 4)
    vectors = x.view(float4.numpy)[:, 0]
    out, _ = run(reduce_vectors, (1, 40), [np.zeros(40, np.float32), vectors], target)
    assert (out == x.sum(0) @ [1, 10, 100, 1000]).all()


SPAN = np.dtype([("low", np.float32), ("length", np.int32), ("ends", np.int16, 2)], align=True)


class Span(NamedTuple):
    low: float32
    length: int32
    ends: Any


@device
def join(a, b):
    """Return the first span with the length of both; the ends are those of the second one."""
    return Span(a.low, a.length + b.length, b.ends)


@device
def longer(a, b):
    return b if b.length > a.length else a


@kernel
def combine_records(longest, joined, prefixes, x):
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    longest[i] = block.all_reduce(x[i], longer)
    total = block.reduce(x[i], join)
    if i == 0:
        joined[0] = total
        joined[1] = warp.reduce(x[i].copy(), longer)
    else:
        warp.reduce(x[i].copy(), longer)
    prefixes[i] = block.inclusive_scan(x[i], join)
    joined[2] = block.broadcast(x[i], n - 1)


def test_records_are_combined_as_named_tuples(target: str) -> None:
    x = np.zeros(96, SPAN)
    rng = np.random.default_rng(4)
    x["low"], x["length"] = rng.random(96), rng.permutation(96)
    x["ends"] = rng.integers(0, 99, (96, 2))
    arguments = [np.zeros(96, SPAN), np.zeros(3, SPAN), np.zeros(96, SPAN), x]
    longest, joined, prefixes, _ = run(combine_records, (1, 96), arguments, target)
    assert (longest == x[x["length"].argmax()]).all()
    assert joined[0] == np.array((x[0]["low"], x["length"].sum(), x[-1]["ends"]), SPAN)
    assert joined[1] == x[x["length"][:32].argmax()]
    assert joined[2] == x[-1]
    assert (prefixes["low"] == x["low"][0]).all()
    assert (prefixes["length"] == x["length"].cumsum()).all()
    assert (prefixes["ends"] == x["ends"]).all()


@kernel
def scan_items(out, x):
    items = cuda.local.array(3, int32)
    block.load(items, x)
    out[3, 0] = block.reduce(items)
    total = block.inclusive_scan(items)
    block.store(out[0], items)
    block.load(items, x)
    total += block.exclusive_scan(items, operator.add, 10)
    block.store(out[1], items)
    out[2, cuda.threadIdx.x] = total


@pytest.mark.parametrize("threads", [20, 64])
def test_scans_of_items(target: str, threads: int) -> None:
    x = np.random.default_rng(3).integers(0, 100, 3 * threads).astype(np.int32)
    out = np.zeros((4, len(x)), np.int32)
    out, _ = run(scan_items, (1, threads), [out, x], target)
    np.testing.assert_array_equal(out[0], x.cumsum())
    np.testing.assert_array_equal(out[1], x.cumsum() - x + 10)
    assert (out[2, :threads] == 2 * x.sum()).all()


# ---- sorts ---------------------------------------------------------------------------------------


def make_sort(threads: int, count: int) -> tuple[Kernel[Any], Kernel[Any]]:
    @kernel
    def radix_sort(keys_out, sources_out, keys, descending):
        items = cuda.local.array(count, keys.dtype)
        sources = cuda.local.array(count, int32)
        block.load_transposed(items, keys, threads)
        for i in range(count):
            sources[i] = cuda.cg.this_thread_block().thread_rank() * count + i
        block.radix_sort(items, threads, sources, descending=descending)
        block.store(keys_out, items)
        block.store_transposed(sources_out, sources, threads)

    @kernel
    def merge_sort(keys_out, sources_out, keys, descending):
        items = cuda.local.array(count, keys.dtype)
        sources = cuda.local.array(count, int32)
        block.load(items, keys)
        for i in range(count):
            sources[i] = cuda.cg.this_thread_block().thread_rank() * count + i
        block.merge_sort(items, threads, sources)
        block.store_transposed(keys_out, items, threads)
        block.store(sources_out, sources)

    return radix_sort, merge_sort


def check_sort(
    sort: Kernel[Any], shape: Any, keys: np.ndarray[Any, Any], target: str, *, descending: bool
) -> None:
    outputs = [np.zeros_like(keys), np.zeros(len(keys), np.int32)]
    result, sources, *_ = run(sort, (1, shape), [*outputs, keys, descending], target)
    order = np.argsort(keys[::-1], kind="stable")[::-1] if descending else None
    expected = np.argsort(keys, kind="stable") if order is None else len(keys) - 1 - order
    np.testing.assert_array_equal(sources, expected)
    np.testing.assert_array_equal(result, keys[expected])


@pytest.mark.parametrize("dtype", ["u4", "f4", "i1", "f2", "i8", "u8", "f8", "i4", "u2"])
def test_radix_sort_of_each_type(target: str, dtype: str) -> None:
    sort, _ = make_sort(32, 2)
    keys = keys_of(np.dtype(dtype), 64)
    for descending in (False, True):
        check_sort(sort, 32, keys, target, descending=descending)


@shapes
@items_per_thread
def test_sorts_of_blocks(target: str, shape: tuple[int, ...], count: int) -> None:
    size = int(np.prod(shape))
    keys = keys_of(np.dtype(np.int16), size * count)
    for sort in make_sort(size, count):
        check_sort(sort, shape, keys, target, descending=False)


@kernel
def sort_by_some_bits(out, x):
    items = cuda.local.array(2, uint32)
    block.load(items, x)
    block.radix_sort(items, 32, begin_bit=3, end_bit=9)
    block.store(out, items)


def test_radix_sort_by_a_range_of_bits(target: str) -> None:
    x = np.random.default_rng(4).integers(0, 2**32, 64, np.uint32)
    out, _ = run(sort_by_some_bits, (1, 32), [np.zeros_like(x), x], target)
    np.testing.assert_array_equal(out, x[np.argsort(x >> 3 & 63, kind="stable")])


@device
def is_closer_to_zero(a, b):
    return abs(a) < abs(b)


@kernel
def sort_by_distance(out, x):
    items = cuda.local.array(3, float32)
    block.load(items, x)
    block.merge_sort(items, 25, is_before=is_closer_to_zero)
    block.store(out, items)


def test_merge_sort_takes_a_comparison(target: str) -> None:
    x = np.random.default_rng(5).normal(size=75).astype(np.float32)
    out, _ = run(sort_by_distance, (1, 25), [np.zeros_like(x), x], target)
    np.testing.assert_array_equal(out, x[np.argsort(abs(x), kind="stable")])


@kernel
def greatest_five(out, x):
    items = cuda.local.array(2, x.dtype)
    block.load_striped(items, x)
    block.top_k(out, items, 40)


def test_top_k(target: str) -> None:
    x = np.random.default_rng(6).normal(size=80)
    out, _ = run(greatest_five, (1, 40), [np.zeros(5), x], target)
    np.testing.assert_array_equal(out, np.sort(x)[:-6:-1])


# ---- movement of items, neighbors, histograms ----------------------------------------------------


@kernel
def move_items(out, x, ranks):
    threads = cuda.blockDim.x
    items = cuda.local.array(3, int32)
    block.load_striped(items, x, 0, -1)
    block.striped_to_blocked(items, 40)
    block.store(out[0], items)
    block.blocked_to_striped(items, 40)
    block.store_striped(out[1], items)
    to = cuda.local.array(3, int32)
    block.load(to, ranks)
    block.load(items, x, 0, -1)
    block.scatter_to_blocked(items, to, 40)
    block.store(out[2], items)
    block.load(items, x, 0, -1)
    block.scatter_to_striped(items, to, 40)
    block.store_striped(out[3], items)
    i = cuda.threadIdx.x
    out[4, i] = block.shuffle(ranks[i], threads - 1 - i, 40)
    out[4, 80 + i] = block.shuffle(2 * i, i - 1, 40)
    out[4, 40 + i] = block.shuffle(ranks[i], i + 1, 40)


def test_exchanges(target: str) -> None:
    x = np.random.default_rng(7).integers(0, 1000, 117).astype(np.int32)  # three are missing
    ranks = np.random.default_rng(8).permutation(120).astype(np.int32)
    out, _, _ = run(move_items, (1, 40), [np.zeros((5, 120), np.int32), x, ranks], target)
    filled = np.append(x, [-1] * 3)
    np.testing.assert_array_equal(out[0], filled)
    np.testing.assert_array_equal(out[1], filled)
    moved = np.zeros(120, np.int32)
    moved[ranks] = filled
    np.testing.assert_array_equal(out[2], moved)
    np.testing.assert_array_equal(out[3], moved)
    np.testing.assert_array_equal(out[4, :40], ranks[:40][::-1])
    np.testing.assert_array_equal(out[4, 40:80], [*ranks[1:40], ranks[39]])
    np.testing.assert_array_equal(out[4, 80:], [0, *range(0, 78, 2)])


@kernel
def compare_neighbors(out, x):
    items = cuda.local.array(3, int32)
    flags = cuda.local.array(3, int32)
    block.load(items, x)
    block.flag_heads(flags, items, 30)
    block.store(out[0], flags)
    block.adjacent_difference(items, 30, 7)
    block.store(out[1], items)


def test_neighbors(target: str) -> None:
    x = np.random.default_rng(9).integers(0, 3, 90).astype(np.int32)
    out, _ = run(compare_neighbors, (1, 30), [np.zeros((2, 90), np.int32), x], target)
    np.testing.assert_array_equal(out[0], [1, *(x[1:] != x[:-1])])
    np.testing.assert_array_equal(out[1], np.diff(x, prepend=7))


@kernel
def encode(runs, values, lengths, x):
    items = cuda.local.array(3, int32)
    block.load(items, x)
    run_values = cuda.shared.array(120, int32)
    run_lengths = cuda.shared.array(120, int32)
    count = block.run_length_encode(run_values, run_lengths, items, 40)
    for i in range(cuda.threadIdx.x, count, cuda.blockDim.x):
        values[i] = run_values[i]
        lengths[i] = run_lengths[i]
    if cuda.threadIdx.x == 0:
        runs[0] = count


def test_run_length_encoding(target: str) -> None:
    x = np.random.default_rng(10).integers(0, 2, 120).astype(np.int32)
    zeros = np.zeros(120, np.int32)
    runs, values, lengths, _ = run(encode, (1, 40), [zeros[:1], zeros, zeros, x], target)
    np.testing.assert_array_equal(np.repeat(values[: runs[0]], lengths[: runs[0]]), x)
    assert (np.diff(values[: runs[0]]) != 0).all()


@kernel
def count_values(out, x):
    items = cuda.local.array(3, int32)
    counts = cuda.shared.array(11, int32)
    block.load(items, x)
    block.histogram(counts, items)
    if cuda.threadIdx.x < len(counts):
        out[cuda.threadIdx.x] = counts[cuda.threadIdx.x]


def test_histogram(target: str) -> None:
    x = np.random.default_rng(11).integers(0, 11, 120).astype(np.int32)
    out, _ = run(count_values, (1, 40), [np.zeros(11, np.int32), x], target)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=11))


# ---- compilation ---------------------------------------------------------------------------------


def test_the_number_of_threads_is_a_constant() -> None:
    @kernel
    def sort(x, threads):
        items = cuda.local.array(2, x.dtype)
        block.radix_sort(items, threads)

    with pytest.raises(CompileError, match="known at compile time"):
        sort.inspect("cuda", (float32[::1], int32))


def test_cuda_compiles_without_headers() -> None:
    sort, _ = make_sort(128, 4)
    records = (from_dtype(SPAN)[::1],) * 4
    for name, text in (
        ("radix_sort", sort.inspect("cuda", (uint32[::1], int32[::1], uint32[::1], int32))),
        ("combine_records", combine_records.inspect("cuda", records)),
    ):
        assert "#include" not in text
        assert nvrtc.compile(text, name, "sm_90", kind="cubin").data
