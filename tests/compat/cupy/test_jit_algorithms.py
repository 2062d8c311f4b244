"""``jit.thrust`` and ``jit.cub``: each function against NumPy."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import CompileError
from pycu2c.compat.cupy import thrust
from pycu2c.cupy import jit
from support.launching import run

A = np.array([3, 1, 2, 3, 3, 0, 5, 1], np.int32)
SORTED = np.array([0, 1, 1, 2, 3, 3, 3, 5], np.int32)
KEYS = np.array([0, 0, 1, 1, 1, 0, 2, 2], np.int32)
OTHER = np.array([1, 3, 3, 4], np.int32)
UNION = [0, 1, 1, 2, 3, 3, 3, 4, 5]


@jit.rawkernel()
def copies(a, b, out):
    out[0] = jit.thrust.copy(jit.thrust.device, a.begin(), a.end(), b[0].begin()) - b[0].begin()
    jit.thrust.fill(jit.thrust.seq, b[1].begin(), b[1].end(), 7)
    jit.thrust.sequence(jit.thrust.seq, b[2].begin(), b[2].end(), 5, 2)
    jit.thrust.copy(jit.thrust.seq, a, a + 8, b[3])
    jit.thrust.reverse(jit.thrust.seq, b[3], b[3] + 7)
    jit.thrust.reverse_copy(jit.thrust.seq, a.begin(), a.end(), b[4].begin())
    jit.thrust.gather(jit.thrust.seq, a.begin(), a.end(), b[2].begin(), b[5].begin())
    jit.thrust.scatter(jit.thrust.seq, b[2].begin(), b[2].end(), b[0].begin(), b[6].begin())
    out[1] = jit.thrust.swap_ranges(jit.thrust.seq, b[1].begin(), b[1].begin() + 3, b[2] + 1)
    jit.thrust.replace(jit.thrust.seq, b[5].begin(), b[5].end(), 11, 0)
    out[2] = jit.thrust.replace_copy(jit.thrust.seq, a.begin(), a.end(), b[7].begin(), 3, 9)


def test_copies(target: str) -> None:
    _, b, out = run(copies, (1, 1), [A, np.zeros((8, 8), np.int32), np.zeros(3, int)], target)
    sequence = 5 + 2 * np.arange(8)
    assert b[0].tolist() == A.tolist()
    assert b[1].tolist() == [7, 9, 11, 7, 7, 7, 7, 7]
    assert b[2].tolist() == [5, 7, 7, 7, 13, 15, 17, 19]
    assert b[3].tolist() == [*A[6::-1], A[7]]
    assert b[4].tolist() == A[::-1].tolist()
    assert b[5].tolist() == [v if v != 11 else 0 for v in sequence[A]]
    assert b[6].tolist() == [15, 19, 9, 13, 0, 17, 0, 0]
    assert b[7].tolist() == [9, 1, 2, 9, 9, 0, 5, 1]
    assert out.tolist() == [8, 4, 8]


@jit.rawkernel()
def filters(a, keys, b, out):
    out[0] = jit.thrust.remove_copy(jit.thrust.seq, a.begin(), a.end(), b[0].begin(), 3)
    jit.thrust.copy(jit.thrust.seq, a.begin(), a.end(), b[1].begin())
    out[1] = jit.thrust.remove(jit.thrust.seq, b[1].begin(), b[1].end(), 1)
    jit.thrust.copy(jit.thrust.seq, a.begin(), a.end(), b[2].begin())
    out[2] = jit.thrust.unique(jit.thrust.seq, b[2].begin(), b[2].end()) - b[2].begin()
    jit.thrust.copy(jit.thrust.seq, keys.begin(), keys.end(), b[3].begin())
    jit.thrust.copy(jit.thrust.seq, a.begin(), a.end(), b[4].begin())
    end, values_end = jit.thrust.unique_by_key(jit.thrust.seq, b[3], b[3].end(), b[4].begin())
    out[3] = end + 10 * values_end


def test_filters(target: str) -> None:
    arguments = [A, KEYS, np.zeros((5, 8), np.int32), np.zeros(4, int)]
    _, _, b, out = run(filters, (1, 1), arguments, target)
    assert out.tolist() == [5, 6, 7, 44]
    assert b[0, :5].tolist() == [1, 2, 0, 5, 1]
    assert b[1, :6].tolist() == [3, 2, 3, 3, 0, 5]
    assert b[2, :7].tolist() == [3, 1, 2, 3, 0, 5, 1]
    assert b[3, :4].tolist() == [0, 1, 0, 2]
    assert b[4, :4].tolist() == [3, 2, 0, 5]


@jit.rawkernel()
def searches(a, ordered, b, out):
    out[0] = jit.thrust.count(jit.thrust.seq, a.begin(), a.end(), 3)
    out[1] = jit.thrust.find(jit.thrust.seq, a.begin(), a.end(), 5) - a.begin()
    out[2] = jit.thrust.find(jit.thrust.seq, a.begin(), a.end(), 4) == a.end()
    first, second = jit.thrust.mismatch(jit.thrust.seq, a.begin() + 1, a.end(), ordered.begin() + 1)
    out[3] = first + 10 * second
    out[4] = jit.thrust.equal(jit.thrust.seq, a.begin(), a.end(), ordered.begin())
    out[5] = jit.thrust.equal(jit.thrust.seq, a.begin(), a.end(), a.begin())
    out[6] = jit.thrust.is_sorted_until(jit.thrust.seq, a.begin() + 1, a.end())
    out[7] = jit.thrust.is_sorted(jit.thrust.seq, ordered.begin(), ordered.end())
    out[8] = jit.thrust.lower_bound(jit.thrust.seq, ordered.begin(), ordered.end(), 3)
    out[9] = jit.thrust.upper_bound(jit.thrust.seq, ordered.begin(), ordered.end(), 3)
    low, high = jit.thrust.equal_range(jit.thrust.seq, ordered.begin(), ordered.end(), 1)
    out[10] = low + 10 * high
    out[11] = jit.thrust.binary_search(jit.thrust.seq, ordered.begin(), ordered.end(), 4)
    jit.thrust.lower_bound(jit.thrust.seq, ordered, ordered.end(), a.begin(), a.end(), b[0])
    jit.thrust.upper_bound(jit.thrust.seq, ordered, ordered.end(), a.begin(), a.end(), b[1])
    jit.thrust.binary_search(jit.thrust.seq, ordered, ordered.end(), a.begin(), a.end(), b[2])


def test_searches(target: str) -> None:
    arguments = [A, SORTED, np.zeros((3, 8), np.int32), np.zeros(12, int)]
    _, _, b, out = run(searches, (1, 1), arguments, target)
    assert out.tolist() == [3, 6, 1, 22, 0, 1, 5, 1, 4, 7, 31, 0]
    assert b[0].tolist() == np.searchsorted(SORTED, A).tolist()
    assert b[1].tolist() == np.searchsorted(SORTED, A, "right").tolist()
    assert b[2].tolist() == [1] * 8


@jit.rawkernel()
def sums(a, keys, b, out):
    jit.thrust.adjacent_difference(jit.thrust.seq, a.begin(), a.end(), b[0].begin())
    jit.thrust.inclusive_scan(jit.thrust.seq, a.begin(), a.end(), b[1].begin())
    jit.thrust.exclusive_scan(jit.thrust.seq, a.begin(), a.end(), b[2].begin(), 10)
    jit.thrust.copy(jit.thrust.seq, a.begin(), a.end(), b[3].begin())
    jit.thrust.exclusive_scan(jit.thrust.seq, b[3].begin(), b[3].end(), b[3].begin())
    jit.thrust.inclusive_scan_by_key(jit.thrust.seq, keys, keys.end(), a.begin(), b[4].begin())
    jit.thrust.exclusive_scan_by_key(jit.thrust.seq, keys, keys.end(), a.begin(), b[5], 100)
    end, _ = jit.thrust.reduce_by_key(
        jit.thrust.seq, keys.begin(), keys.end(), a.begin(), b[6].begin(), b[7].begin()
    )
    out[0] = end
    out[1] = jit.thrust.reduce(jit.thrust.seq, a.begin(), a.end())
    out[2] = jit.thrust.reduce(jit.thrust.seq, a.begin(), a.end(), init=5)
    out[3] = jit.thrust.inner_product(jit.thrust.seq, a.begin(), a.end(), keys.begin(), 1)


def test_sums(target: str) -> None:
    arguments = [A, KEYS, np.zeros((8, 8), np.int32), np.zeros(4, int)]
    _, _, b, out = run(sums, (1, 1), arguments, target)
    assert b[0].tolist() == np.diff(A, prepend=0).tolist()
    assert b[1].tolist() == np.cumsum(A).tolist()
    assert b[2].tolist() == (10 + np.cumsum(A) - A).tolist()
    assert b[3].tolist() == (np.cumsum(A) - A).tolist()
    assert b[4].tolist() == [3, 4, 2, 5, 8, 0, 5, 6]
    assert b[5].tolist() == [100, 103, 100, 102, 105, 100, 100, 105]
    assert b[6, :4].tolist() == [0, 1, 0, 2]
    assert b[7, :4].tolist() == [4, 8, 0, 6]
    assert out.tolist() == [4, 18, 23, 1 + A @ KEYS]


@jit.rawkernel()
def sorts(rows, places, sort):
    i = jit.threadIdx.x
    row, order = rows[i], places[i]
    jit.thrust.sequence(jit.thrust.seq, order.begin(), order.end())
    if sort == 0:
        jit.thrust.sort(jit.thrust.seq, row.begin(), row.end())
    elif sort == 1:
        jit.thrust.stable_sort(jit.thrust.seq, row.begin(), row.end())
    elif sort == 2:
        jit.thrust.sort_by_key(jit.thrust.seq, row.begin(), row.end(), order.begin())
    else:
        jit.thrust.stable_sort_by_key(jit.thrust.seq, row.begin(), row.end(), order.begin())


@pytest.mark.parametrize("sort", range(4))
def test_sorts(target: str, sort: int) -> None:
    rows = np.random.default_rng(sort).integers(0, 9, (4, 33)).astype(np.float32)
    places = np.zeros((4, 33), np.int32)
    in_order, order, _ = run(sorts, (1, 4), [rows, places, sort], target)
    assert (in_order == np.sort(rows)).all()
    if sort >= 2:
        assert (np.take_along_axis(rows, order, 1) == in_order).all()
    if sort == 3:
        assert (order == np.argsort(rows, kind="stable")).all()


@jit.rawkernel()
def sets(a, b, keys, values, ends):
    for_keys, for_values = keys, values
    ends[0] = jit.thrust.set_union(
        jit.thrust.seq, a.begin(), a.end(), b.begin(), b.end(), keys[0].begin()
    )
    ends[1] = jit.thrust.set_intersection(jit.thrust.seq, a, a.end(), b, b.end(), keys[1].begin())
    ends[2] = jit.thrust.set_difference(jit.thrust.seq, a, a.end(), b, b.end(), keys[2].begin())
    ends[3] = jit.thrust.set_symmetric_difference(
        jit.thrust.seq, a.begin(), a.end(), b.begin(), b.end(), keys[3].begin()
    )
    ends[4], _ = jit.thrust.set_union_by_key(
        jit.thrust.seq, a, a.end(), b, b.end(), a, b, for_keys[4], for_values[0]
    )
    ends[5], _ = jit.thrust.set_intersection_by_key(
        jit.thrust.seq, a, a.end(), b, b.end(), a, for_keys[5], for_values[1]
    )
    ends[6], _ = jit.thrust.set_difference_by_key(
        jit.thrust.seq, a, a.end(), b, b.end(), a, b, for_keys[6], for_values[2]
    )
    ends[7], _ = jit.thrust.set_symmetric_difference_by_key(
        jit.thrust.seq, a, a.end(), b, b.end(), a, b, for_keys[7], for_values[3]
    )


def test_sets(target: str) -> None:
    arguments = [SORTED, OTHER, np.zeros((8, 12), int), np.zeros((4, 12), int), np.zeros(8, int)]
    _, _, keys, values, ends = run(sets, (1, 1), arguments, target)
    for k, expected in enumerate((UNION, [1, 3, 3], [0, 1, 2, 3, 5], [0, 1, 2, 3, 4, 5])):
        assert ends[[k, k + 4]].tolist() == [len(expected)] * 2
        assert keys[k, : len(expected)].tolist() == expected
        assert keys[k + 4, : len(expected)].tolist() == expected
        assert values[k, : len(expected)].tolist() == expected


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float32", "complex64"])
def test_reductions(target: str, dtype: str) -> None:
    scalar = np.dtype(dtype).type

    @jit.rawkernel()
    def k(x, out):
        warp_reduce = jit.cub.WarpReduce[scalar]
        storage = jit.shared_memory(dtype=warp_reduce.TempStorage, size=1)
        in_warp = warp_reduce(storage[0])
        block_reduce = jit.cub.BlockReduce[scalar, 96]
        in_block = block_reduce(jit.shared_memory(block_reduce.TempStorage, 1)[0])
        t = jit.threadIdx.x
        least = in_warp.Reduce(x[t], jit.cub.Min())
        total = in_block.Sum(x[t])
        greatest = in_block.Reduce(x[t], jit.cub.Max())
        part = in_warp.Sum(x[t])
        if t % 32 == 0:
            out[t // 32] = part
            out[3 + t // 32] = least
        if t == 0:
            out[6], out[7] = total, greatest

    x = np.random.default_rng(2).integers(0, 9, 96).astype(dtype)
    parts = x.reshape(3, 32)
    expected = [*parts.sum(axis=1, dtype=dtype), *parts.min(axis=1), x.sum(dtype=dtype), x.max()]
    assert run(k, (1, 96), [x, np.zeros(8, dtype)], target)[1].tolist() == expected


def test_iterators_that_are_no_arrays() -> None:
    @jit.rawkernel()
    def k(x):
        it = jit.thrust.find(jit.thrust.seq, x.begin(), x.end(), 3)
        jit.thrust.fill(jit.thrust.seq, it, x.end(), 0)

    with pytest.raises(CompileError):
        k((1,), (1,), (A.copy(),))
    assert {"cub", "thrust"} <= {*dir(jit)}
    assert thrust is jit.thrust
