"""Block-stride and grid-stride loops are moved outside of the thread loops; results are equal."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import cuda, kernel
from support.launching import run

SHAPES = [(3, 32), (2, 100), (1, 1), (4, (5, 3))]


@kernel
def sums(x, out):
    total = np.float32(0)
    for i in range(cuda.grid(1), len(x), cuda.gridsize(1)):
        total += x[i]
    out[cuda.grid(1), cuda.threadIdx.y] = total


@kernel
def from_an_offset(x, out):
    total = np.float32(0)
    for i in range(cuda.grid(1) + 5, len(x), cuda.gridsize(1)):
        total += x[i]
    out[cuda.grid(1), cuda.threadIdx.y] = total


@kernel
def after_a_return(x, out):
    t = cuda.threadIdx.x
    if t == 3:
        return
    count = 0
    for i in range(t + 2, len(x), cuda.blockDim.x):
        if x[i] > 0.5:
            count += 1
    out[cuda.grid(1), cuda.threadIdx.y] = count


@kernel
def nested(x, out):
    for k in range(3):
        for i in range(cuda.threadIdx.x, len(x), cuda.blockDim.x * 2):
            rest = x[i] * 8
            while rest > 1:
                rest -= 1
            if cuda.blockIdx.x == 0 and cuda.threadIdx.y == 0:
                x[i] = rest + k
    out[cuda.grid(1), cuda.threadIdx.y] = 1


@kernel
def left_by_break(x, out):
    for i in range(cuda.grid(1), len(x), cuda.gridsize(1)):
        out[cuda.grid(1), cuda.threadIdx.y] = x[i]
        if x[i] > 0.6:
            break


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    "k", [sums, from_an_offset, after_a_return, left_by_break], ids=lambda k: k.name
)
def test_the_results_are_the_same(k, shape, target):
    x = np.random.default_rng(5).random(777).astype(np.float32)
    arguments = x, np.zeros((400, 3), np.float32)
    for got, expected in zip(run(k, shape, arguments, target), run(k, shape, arguments, "python")):
        np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("threads", [1, 20, 64, 100])
def test_one_block_with_a_loop_that_threads_leave(threads, target):
    x = np.random.default_rng(5).random(777).astype(np.float32)
    arguments = x, np.zeros((400, 1), np.float32)
    for got, expected in zip(
        run(nested, (1, threads), arguments, target), run(nested, (1, threads), arguments, "python")
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("k", [sums, from_an_offset, after_a_return, nested], ids=lambda k: k.name)
def test_interchanged_loops_are_outside_of_the_thread_loop(k):
    assert "i_first" in k.inspect("c", "float32[::1], float32[:, ::1]", block=64)


@kernel
def counted(x, bins):
    mine = cuda.shared.array(8, np.int32)
    for b in range(cuda.threadIdx.x, 8, cuda.blockDim.x):
        mine[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), len(x), cuda.gridsize(1)):
        cuda.atomic.add(mine, int(x[i] * 8), 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, 8, cuda.blockDim.x):
        cuda.atomic.add(bins, b, mine[b])


def test_atomics_without_used_results_may_be_reordered(target):
    x = np.random.default_rng(5).random(999)
    _, bins = run(counted, (3, 20), (x, np.zeros(8, np.int32)), target)
    assert bins.tolist() == np.bincount((x * 8).astype(int), minlength=8).tolist()
    assert "i_first" in counted.inspect("c", "float64[::1], int32[::1]", block=20)


@kernel
def numbered(places):
    for i in range(cuda.grid(1), len(places), cuda.gridsize(1)):
        places[i] = cuda.atomic.add(places, 0, 1)


@kernel
def reported(x):
    for i in range(cuda.grid(1), len(x), cuda.gridsize(1)):
        print(i)


@pytest.mark.parametrize("k", [numbered, reported], ids=lambda k: k.name)
def test_an_observable_order_is_kept(k):
    assert "i_first" not in k.inspect("c", "int32[::1]", block=32)


@kernel
def begun_before(x, out, base):
    start = cuda.grid(1) + base
    base += 7
    total = 0
    for i in range(start, len(x), cuda.gridsize(1)):
        total += x[i]
    out[cuda.grid(1)] = total + base


def test_a_loop_start_is_evaluated_once(target):
    arguments = np.arange(90), np.zeros(66, np.int64), 5
    _, got, _ = run(begun_before, (2, 33), arguments, target)
    assert got.tolist() == [sum(range(t + 5, 90, 66)) + 12 for t in range(66)]


# ---- under a condition that threads tell -----------------------------------------------------


@kernel
def rows(a, out):
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    total = 1.0
    if row < a.shape[0]:
        for k in range(cuda.threadIdx.x, a.shape[1], cuda.blockDim.x):
            total += a[row, k]
    out[row, cuda.threadIdx.x] = total


@kernel
def between_others(a, out):
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    lane = cuda.threadIdx.x
    total = 0.0
    if row < a.shape[0] and lane % 2 == 0:
        out[row, lane] = 1
        for k in range(lane + 1, a.shape[1], cuda.blockDim.x):
            total += a[row, k]
        total *= 2
        for k in range(lane, a.shape[1] // 2, cuda.blockDim.x):
            total += a[row, k]
        out[row, lane] += total


@kernel
def returning(a, out):
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    total = 0.0
    for turn in range(2):
        if row < a.shape[0]:
            if turn == 1 and row % 3 == 0:
                return
            for k in range(cuda.threadIdx.x, a.shape[1], cuda.blockDim.x):
                total += a[row, k]
            out[row, cuda.threadIdx.x] = total + turn


@kernel
def changing(a, out):
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    total = 0.0
    if row < a.shape[0]:
        for k in range(cuda.threadIdx.x, a.shape[1], cuda.blockDim.x):
            total += a[row, k]
            row = (row + 1) % a.shape[0]
        out[row, cuda.threadIdx.x] = total


@kernel
def reported_by_memory(a, out):
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if row < a.shape[0]:
        if a[row, 0] < 0.5:
            for k in range(cuda.threadIdx.x + 1, a.shape[1], cuda.blockDim.x):
                a[row, k] += 1
                out[row, cuda.threadIdx.x] += a[row, k]


@kernel
def reported_by_what_was_read(a, out):
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    first = a[row % a.shape[0], 0]
    if first < 0.5:
        for k in range(cuda.threadIdx.x, a.shape[1], cuda.blockDim.x):
            out[row, cuda.threadIdx.x] += a[row % a.shape[0], k]


@kernel
def bounded_by_memory(a, out):
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    total = 0.0
    if row < a.shape[0] - 9:
        for k in range(cuda.threadIdx.x, int(a[9, 0] * 20), cuda.blockDim.x):
            total += a[row, k]
        out[row, cuda.threadIdx.x] = total


TURNED = [rows, between_others, returning]
LEFT = [changing, reported_by_memory, reported_by_what_was_read, bounded_by_memory]


@pytest.mark.parametrize("shape", [(3, (8, 4)), (2, (32, 8)), (4, (5, 3)), (2, (1, 6))], ids=str)
@pytest.mark.parametrize("k", [*TURNED, *LEFT], ids=lambda k: k.name)
def test_the_results_are_the_same_under_conditions(k, shape, target):
    a = np.random.default_rng(5).random((10, 77)).astype(np.float32)
    arguments = a, np.zeros((16, 32), np.float32)
    for got, expected in zip(run(k, shape, arguments, target), run(k, shape, arguments, "python")):
        np.testing.assert_allclose(got, expected, rtol=1e-5)


@pytest.mark.parametrize("k", [*TURNED, *LEFT], ids=lambda k: k.name)
def test_a_condition_moves_inside_if_it_can_be_recomputed(k):
    text = k.inspect("c", "float32[:, ::1], float32[:, ::1]", block=(32, 8))
    assert ("k_first" in text) == (k in TURNED)


def test_a_loop_under_a_false_condition_is_not_entered(target):
    """There is no ninth row to say how long it is."""
    arguments = np.ones((5, 7), np.float32), np.zeros((16, 32), np.float32)
    assert not run(bounded_by_memory, (1, (8, 4)), arguments, target)[1].any()


# ---- a row for each warp ---------------------------------------------------------------------


@kernel
def a_row_for_each_warp(a, out):
    lane = cuda.threadIdx.x % 32
    row = cuda.grid(1) // 32
    total = 0.0
    if row < a.shape[0]:
        for k in range(lane, a.shape[1], 32):
            total += a[row, k]
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, delta)
    if lane == 0 and row < a.shape[0]:
        out[row, 0] = total


@kernel
def by_bits(a, out):
    lane = cuda.grid(1) & 31
    row = cuda.blockIdx.x * (cuda.blockDim.x >> 5) + (cuda.threadIdx.x >> 5)
    if row < a.shape[0]:
        total = 1.0
        for k in range(lane + 1, a.shape[1] - 2, 64):
            total += a[row, k] * lane
        out[row, lane] = total


@kernel
def by_the_lanes_name(a, out):
    row = cuda.threadIdx.x // cuda.warpsize
    if row >= a.shape[0]:
        return
    for k in range(cuda.laneid, a.shape[1], cuda.warpsize):
        a[row, k] *= 2
        out[row, cuda.laneid] += a[row, k]


@kernel
def warps_together(a, out):
    """All warps walk over the same row: nothing is gained by loops of their own."""
    lane = cuda.threadIdx.x % 32
    for k in range(lane, a.shape[1], 32):
        out[cuda.threadIdx.x // 32, lane] += a[0, k]


WARPS = [a_row_for_each_warp, by_bits, by_the_lanes_name, warps_together]


@pytest.mark.parametrize("threads", [32, 48, 64, 256, (64, 2)], ids=str)
@pytest.mark.parametrize("k", WARPS, ids=lambda k: k.name)
def test_warps_with_rows_give_the_same_results(k, threads, target):
    if threads in (48, (64, 2)) and k is not by_bits:
        threads = 128
    a = np.random.default_rng(5).random((7, 77)).astype(np.float32)
    arguments = a, np.zeros((16, 32), np.float32)
    shape = 1 if k in WARPS[2:] else 3, threads
    for got, expected in zip(run(k, shape, arguments, target), run(k, shape, arguments, "python")):
        np.testing.assert_allclose(got, expected, rtol=1e-5)
