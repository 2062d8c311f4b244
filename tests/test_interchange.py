"""Loops in steps of the block or the grid: the same on all targets, outside of CPU threads."""

from __future__ import annotations

import numpy as np
import pytest

from launching import run
from pycu2c import cuda, kernel

SHAPES = [(3, 32), (2, 100), (1, 1), (4, (5, 3))]


@kernel
def sums(x, out):
    total = np.float32(0)
    for i in range(cuda.grid(1), len(x), cuda.gridsize(1)):
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
@pytest.mark.parametrize("k", [sums, after_a_return, left_by_break], ids=lambda k: k.name)
def test_they_do_the_same(k, shape, target):
    x = np.random.default_rng(5).random(777).astype(np.float32)
    given = x, np.zeros((400, 3), np.float32)
    for got, wanted in zip(run(k, shape, given, target), run(k, shape, given, "python")):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


@pytest.mark.parametrize("threads", [1, 20, 64, 100])
def test_one_block_with_a_loop_that_threads_leave(threads, target):
    x = np.random.default_rng(5).random(777).astype(np.float32)
    given = x, np.zeros((400, 1), np.float32)
    for got, wanted in zip(
        run(nested, (1, threads), given, target), run(nested, (1, threads), given, "python")
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


@pytest.mark.parametrize("k", [sums, after_a_return, nested], ids=lambda k: k.name)
def test_they_stand_outside_of_the_threads(k):
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


def test_atomics_whose_results_nobody_uses_come_in_any_order(target):
    x = np.random.default_rng(5).random(999)
    _, bins = run(counted, (3, 20), (x, np.zeros(8, np.int32)), target)
    assert bins.tolist() == np.bincount((x * 8).astype(int), minlength=8).tolist()
    assert "i_first" in counted.inspect("c", "float64[::1], int32[::1]", block=20)


@kernel
def numbered(places):
    for i in range(cuda.grid(1), len(places), cuda.gridsize(1)):
        places[i] = cuda.atomic.add(places, 0, 1)


@kernel
def told(x):
    for i in range(cuda.grid(1), len(x), cuda.gridsize(1)):
        print(i)


@pytest.mark.parametrize("k", [numbered, told], ids=lambda k: k.name)
def test_where_the_order_can_be_seen_it_is_kept(k):
    assert "i_first" not in k.inspect("c", "int32[::1]", block=32)


@kernel
def begun_before(x, out, base):
    start = cuda.grid(1) + base
    base += 7
    total = 0
    for i in range(start, len(x), cuda.gridsize(1)):
        total += x[i]
    out[cuda.grid(1)] = total + base


def test_a_start_stays_where_it_was_though_what_it_was_computed_from_changes(target):
    given = np.arange(90), np.zeros(66, np.int64), 5
    _, got, _ = run(begun_before, (2, 33), given, target)
    assert got.tolist() == [sum(range(t + 5, 90, 66)) + 12 for t in range(66)]
