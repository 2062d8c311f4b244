"""Groups of active threads, and their collective operations."""

from __future__ import annotations

import operator
from functools import reduce
from itertools import accumulate

import numpy as np
import pytest

from pycu2c import CompileError, cuda, device, int32, int64, kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.launching import run

cg = cuda.cg


@kernel
def together(a, out):
    """What those do whose number is no multiple of 3."""
    i = cuda.grid(1)
    x = a[i]
    if x % 3:
        group = cuda.cg.coalesced_threads()
        bits, alike = group.match_all(x % 3 > 0)
        out[0, i] = group.size() + 100 * group.num_threads()
        out[1, i] = group.thread_rank() + 100 * group.rank()
        out[2, i] = group.shfl(x, group.size() - 1)
        out[3, i] = group.shfl_up(x, 2)
        out[4, i] = group.shfl_down(x, 2)
        out[5, i] = group.ballot(x & 1)
        out[6, i] = group.any(x == 4) + 2 * group.all(x > 0)
        out[7, i] = group.match_any(x & 1)
        out[8, i] = bits + alike
        out[9, i] = group.meta_group_rank() + 100 * group.meta_group_size()
        group.sync()


def bits_of(flags):
    return sum(1 << k for k, flag in enumerate(flags) if flag)


def expected_together(warp):
    """Rows for the members of one warp, in order."""
    n = len(warp)
    odd = [x & 1 for x in warp]
    return [
        [101 * n] * n,
        [101 * k for k in range(n)],
        [warp[-1]] * n,
        [warp[k - 2] if k >= 2 else warp[k] for k in range(n)],
        [warp[k + 2] if k + 2 < n else warp[k] for k in range(n)],
        [bits_of(odd)] * n,
        [(4 in warp) + 2 * all(x > 0 for x in warp)] * n,
        [bits_of(other == own for other in odd) for own in odd],
        [(1 << n)] * n,
        [100] * n,
    ]


def test_active_threads_form_a_group(target: str) -> None:
    a = np.random.default_rng(5).integers(1, 30, 128).astype(np.int32)
    (_, result) = run(together, (2, 64), [a, np.zeros((10, 128), np.int64)], target)
    expected = np.zeros((10, 128), np.int64)
    for first in range(0, 128, 32):
        members = first + np.flatnonzero(a[first : first + 32] % 3)
        expected[:, members] = expected_together([int(x) for x in a[members]])
    np.testing.assert_array_equal(result, expected)


@kernel
def whole(a, out):
    group = cg.coalesced_threads()
    t = cuda.threadIdx.x
    out[0, t] = group.shfl(a[t], 31 - t) + group.ballot(a[t] & 1)
    out[1, t] = cg.reduce(group, a[t], cg.plus)


def test_a_whole_warp(target: str) -> None:
    a = np.arange(32, dtype=np.int64) ** 2
    (_, result) = run(whole, (1, 32), [a, np.zeros((2, 32), np.int64)], target)
    np.testing.assert_array_equal(result[0], a[::-1] + 0xAAAAAAAA)
    np.testing.assert_array_equal(result[1], np.full(32, a.sum()))


@device
def rest(group, x):
    """Groups are arguments as any."""
    return cg.reduce(group, x, max) - cg.reduce(group, x, cg.less)


@kernel
def folded(a, out):
    t = cuda.threadIdx.x
    x = a[t]
    if x > 4:
        group = cg.coalesced_threads()
        out[0, t] = cg.reduce(group, x, operator.add)
        out[1, t] = cg.inclusive_scan(group, x, lambda a, b: a * 3 + b)
        out[2, t] = rest(group, x)
        out[3, t] = cg.reduce(group, x, cg.bit_xor) + cg.reduce(group, x, cg.bit_or)
    tile = cg.tiled_partition(cg.this_thread_block(), 16)
    out[4, t] = cg.reduce(tile, x, cg.plus) + cg.reduce(tile, x, cg.bit_and)
    out[5, t] = cg.inclusive_scan(tile, x, cg.plus)
    out[6, t] = rest(tile, x)


def test_reductions_and_scans(target: str) -> None:
    a = np.random.default_rng(7).integers(0, 16, 32).astype(np.int64)
    (_, result) = run(folded, (1, 32), [a, np.zeros((7, 32), np.int64)], target)
    members = np.flatnonzero(a > 4)
    own = [int(x) for x in a[members]]
    expected = np.zeros((7, 32), np.int64)
    expected[0, members] = sum(own)
    scanned = result[1, members]  # the order in which a scan joins is its own
    assert scanned[0] == own[0]
    assert scanned[1] == own[0] * 3 + own[1]
    expected[1] = result[1]
    expected[2, members] = max(own) - min(own)
    expected[3, members] = reduce(operator.xor, own) + reduce(operator.or_, own)
    for first in (0, 16):
        tile = [int(x) for x in a[first : first + 16]]
        expected[4, first : first + 16] = sum(tile) + reduce(operator.and_, tile)
        expected[5, first : first + 16] = list(accumulate(tile))
        expected[6, first : first + 16] = max(tile) - min(tile)
    np.testing.assert_array_equal(result, expected)


@kernel
def by_label(a, out):
    """A counter for each label gets one addition from each group of a warp."""
    i = cuda.grid(1)
    group = cg.labeled_partition(cg.tiled_partition(cg.this_thread_block(), 32), a[i])
    out[0, i] = group.size()
    out[1, i] = group.thread_rank()
    out[2, i] = group.meta_group_rank()
    out[3, i] = group.meta_group_size()
    if group.thread_rank() == 0:
        cuda.atomic.add(out, (4, a[i]), group.size())


def test_labels(target: str) -> None:
    a = np.random.default_rng(8).integers(0, 5, 64).astype(np.int32)
    (_, result) = run(by_label, (1, 64), [a, np.zeros((5, 64), np.int64)], target)
    expected = np.zeros((5, 64), np.int64)
    for first in (0, 32):
        warp = [int(x) for x in a[first : first + 32]]
        labels = list(dict.fromkeys(warp))  # by their first lanes
        for k, x in enumerate(warp):
            expected[:4, first + k] = warp.count(x), warp[:k].count(x), labels.index(x), len(labels)
    expected[4, :5] = np.bincount(a, minlength=5)
    np.testing.assert_array_equal(result, expected)


@kernel
def by_predicate(a, out):
    """Two groups of a tile, and one of a group of lanes; each cut into tiles of 4."""
    i = cuda.grid(1)
    group = cg.binary_partition(cg.tiled_partition(cg.this_thread_block(), 16), a[i] > 4)
    out[0, i] = group.lane_mask()
    out[1, i] = group.meta_group_rank() + 10 * group.meta_group_size()
    tile = cg.tiled_partition(group, 4)
    out[2, i] = tile.size() + 10 * tile.thread_rank()
    out[3, i] = tile.meta_group_rank() + 10 * tile.meta_group_size()
    out[4, i] = cg.reduce(tile, a[i], cg.plus)
    cuda.syncwarp()
    if a[i] % 2:
        odd = cg.coalesced_threads()
        inner = cg.binary_partition(odd, a[i] == 5)
        out[5, i] = inner.size() + 100 * inner.tiled_partition(2).ballot(a[i] > 1)
        out[6, i] = cg.tiled_partition(odd, 8).shfl(a[i], 0)


def expected_halves(a, first, size, rows):
    """Rows 0 to 4 of the threads from ``first`` on."""
    whole = range(first, first + size)
    for own in (True, False):
        members = [i for i in whole if (a[i] > 4) == own]
        is_cut = 0 < len(members) < size
        for rank, i in enumerate(members):
            number = rank // 4
            tile = members[number * 4 : number * 4 + 4]
            rows[0, i] = sum(1 << k % 32 for k in members)
            rows[1, i] = 10 + 10 * is_cut + (own and is_cut)
            rows[2, i] = len(tile) + 10 * (rank % 4)
            rows[3, i] = number + 10 * -(-len(members) // 4)
            rows[4, i] = sum(int(a[k]) for k in tile)


def expected_odd(a, first, rows):
    """Rows 5 and 6 of a warp."""
    odd = [i for i in range(first, first + 32) if a[i] % 2]
    for rank, i in enumerate(odd):
        members = [k for k in odd if (a[k] == 5) == (a[i] == 5)]
        place = members.index(i) // 2 * 2
        bits = bits_of(a[k] > 1 for k in members[place : place + 2])
        rows[5, i] = len(members) + 100 * bits
        rows[6, i] = a[odd[rank // 8 * 8]]


def test_two_groups_and_their_tiles(target: str) -> None:
    a = np.random.default_rng(11).integers(0, 9, 64).astype(np.int64)
    a[16:32] = 1
    (_, result) = run(by_predicate, (1, 64), [a, np.zeros((7, 64), np.int64)], target)
    expected = np.zeros((7, 64), np.int64)
    for first in range(0, 64, 16):
        expected_halves(a, first, 16, expected)
    for first in (0, 32):
        expected_odd(a, first, expected)
    np.testing.assert_array_equal(result, expected)


@device
def count_here():
    return cuda.cg.coalesced_threads().size()


@kernel
def two_places(out):
    """Threads that are in one function by different calls are not together."""
    t = cuda.threadIdx.x
    if t % 4 == 0:
        out[t] = count_here()
    else:
        out[t] = 100 + count_here()


@pytest.mark.parametrize("backend", ["python", "cpu", "cpu-resumable"])
def test_the_path_to_a_call_matters(backend: str) -> None:
    (result,) = run(two_places, (1, 32), [np.zeros(32, np.int64)], backend)
    assert result.tolist() == [8, 124, 124, 124] * 8


@kernel
def aggregated(a, total, out):
    """One atomic addition for all who come together."""
    i = cuda.grid(1)
    if a[i] % 2:
        group, first = cg.coalesced_threads(), 0
        if group.thread_rank() == 0:
            first = cuda.atomic.add(total, 0, group.size())
        out[group.shfl(first, 0) + group.thread_rank()] = a[i]


def test_aggregated_atomics(target: str) -> None:
    a = np.random.default_rng(9).integers(0, 99, 256).astype(np.int32)
    arguments = [a, np.zeros(1, np.int32), np.zeros(256, np.int32)]
    (_, total, out) = run(aggregated, (2, 128), arguments, target)
    kept = a[a % 2 == 1]
    assert total[0] == len(kept)
    assert sorted(out[: len(kept)]) == sorted(kept)


def test_compilers_take_the_text() -> None:
    types = (int32[::1], int64[:, ::1])
    assert check_warnings(together.inspect("c", types)) == ""
    for made in (together, by_label, by_predicate):
        text = made.inspect("cuda", types)
        assert nvrtc.compile(text, made.__name__, "sm_90", cache=False).log.strip("\0\n ") == ""


def test_missing_methods_of_a_group() -> None:
    @kernel
    def wrong(out):
        out[0] = cg.coalesced_threads().shfl_xor(1, 2)

    with pytest.raises(CompileError, match="has no attribute `shfl_xor`"):
        wrong.inspect("c", (int32[::1],))
