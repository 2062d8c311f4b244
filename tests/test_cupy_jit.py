"""Kernels by the names of ``cupyx.jit``."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np
import pytest

from launching import run
from pycu2c import CompileError, cuda
from pycu2c.cupy import jit


def on(k, target, grid, block, arrays, **more):
    """What the arrays are after a launch on a target."""
    return run(k, (grid, block), arrays, target, **more)


@jit.rawkernel()
def copied(x, y, size):
    tid = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
    ntid = jit.gridDim.x * jit.blockDim.x
    for i in range(tid, size, ntid):
        y[i] = x[i]


def test_a_loop_over_the_grid(target: str) -> None:
    x = np.random.default_rng(1).random(1000)
    assert (on(copied, target, 4, 32, [x, np.zeros(1000), 1000])[1] == x).all()


def test_both_forms_of_launches() -> None:
    x = np.arange(100, dtype=np.float32)
    for launch in (
        lambda y: copied((4,), (32,), (x, y, np.uint32(100))),
        lambda y: copied(4, 32, (x, y, 100), shared_mem=0, stream=None),
        lambda y: copied[4, 32](x, y, 100),
        lambda y: copied[(4, 1), (32, 1, 1)](x, y, 100),
    ):
        y = np.zeros_like(x)
        launch(y)
        assert (y == x).all()


def test_what_was_made() -> None:
    @jit.rawkernel(mode="numpy")
    def doubled(x):
        x[jit.grid(1)] *= 2

    with pytest.raises(RuntimeError, match="doubled has not been launched"):
        _ = doubled.cached_code
    doubled((1,), (3,), (np.ones(3, np.float32),))
    assert "void doubled(" in doubled.cached_code
    assert list(doubled.cached_codes.values()) == [doubled.cached_code]


@jit.rawkernel(device=True)
def larger(a, b):
    return a if a > b else b


@jit.rawkernel()
def largest(x, out):
    shared = jit.shared_memory(np.float32, 64)
    t = jit.threadIdx.x
    shared[t] = x[jit.grid(1)]
    jit.syncthreads()
    for step in jit.range(6, unroll=True):
        if t < 32 >> step:
            shared[t] = larger(shared[t], shared[t + (32 >> step)])
        jit.syncthreads()
    if t == 0:
        out[jit.blockIdx.x] = shared[0]


def test_shared_memory_and_device_functions(target: str) -> None:
    x = np.random.default_rng(2).random(256).astype(np.float32)
    _, out = on(largest, target, 4, 64, [x, np.zeros(4, np.float32)])
    assert (out == x.reshape(4, 64).max(axis=1)).all()
    assert larger(1, 2) == 2


@jit.rawkernel()
def turned(x, y):
    part = jit.shared_memory(size=None, dtype=np.int32, alignment=16)
    t, n = jit.threadIdx.x, jit.blockDim.x
    part[t] = x[t]
    jit.syncthreads()
    y[t] = part[n - 1 - t]


def test_as_much_as_the_launch_gives() -> None:
    x = np.arange(50, dtype=np.int32)
    y = np.zeros_like(x)
    turned((1,), (50,), (x, y), shared_mem=200)
    assert (y == x[::-1]).all()


@jit.rawkernel()
def of_warps(x, out):
    t = jit.threadIdx.x
    total = x[t]
    for step in range(5):
        total += jit.shfl_xor_sync(0xFFFFFFFF, total, 1 << step)
    lane = jit.laneid()
    jit.syncwarp(mask=0xFFFFFFFF)
    first = jit.shfl_sync(0xFFFFFFFF, total + lane, 0)
    before = jit.shfl_up_sync(0xFFFFFFFF, lane, 1)
    after = jit.shfl_down_sync(0xFFFFFFFF, lane, 1, width=16)
    out[t, 0], out[t, 1], out[t, 2], out[t, 3] = first, before, after, jit.warpsize


def test_warps(target: str) -> None:
    x = np.arange(64, dtype=np.int32)
    _, out = on(of_warps, target, 1, 64, [x, np.zeros((64, 4), np.int32)])
    lane = x % 32
    assert out[:, 0].tolist() == [sum(range(32))] * 32 + [sum(range(32, 64))] * 32
    assert out[:, 1].tolist() == np.where(lane == 0, 0, lane - 1).tolist()
    assert out[:, 2].tolist() == np.where(lane % 16 == 15, lane, lane + 1).tolist()
    assert (out[:, 3] == 32).all()


@jit.rawkernel()
def atomics(a, b, olds):
    i = jit.grid(1)
    jit.atomic_add(a, 0, 1, alignment=4)
    jit.atomic_sub(a, 1, 1)
    jit.atomic_min(a, 2, -i)
    jit.atomic_max(a, 3, i)
    jit.atomic_and(a, 4, ~i)
    jit.atomic_or(a, 5, i)
    jit.atomic_xor(a, 6, i)
    jit.atomic_exch(a, 7, 9)
    olds[i] = jit.atomic_cas(a, 8, 0, 1)
    jit.atomic_inc(b, (0, 0), 1000)
    jit.atomic_dec(b, (0, 1), 1000)


def test_atomic_operations(target: str) -> None:
    n = 64
    a, b = np.zeros(9, np.int32), np.array([[0, n]], np.uint32)
    a[4] = -1
    a, b, olds = on(atomics, target, 2, 32, [a, b, np.zeros(n, np.int32)])
    assert a.tolist() == [n, -n, 1 - n, n - 1, ~(n - 1), n - 1, 0, 9, 1]
    assert b.tolist() == [[n, 0]]
    assert sorted(olds) == [0] + [1] * (n - 1)


@jit.rawkernel()
def in_groups(out):
    block, grid = jit.cg.this_thread_block(), jit.cg.this_grid()
    block.sync()
    out[grid.thread_rank()] = block.thread_rank()


def test_groups(target: str) -> None:
    (out,) = on(in_groups, target, 2, 32, [np.zeros(64, np.int32)])
    assert (out == np.arange(64) % 32).all()


def test_two_dimensions(target: str) -> None:
    @jit.rawkernel()
    def transposed(x, y):
        i, j = jit.grid(2)
        rows, columns = jit.gridsize(2)
        if i < x.shape[0] and j < x.shape[1]:
            y[j, i] = x[i, j] + rows * columns

    x = np.arange(35.0).reshape(5, 7)
    _, y = on(transposed, target, (2, 2), (4, 4), [x, np.zeros((7, 5))])
    assert (y == x.T + 64).all()


def test_refusals() -> None:
    with pytest.raises(TypeError, match=r"write @jit.rawkernel\(\)"):
        jit.rawkernel(mode=lambda x: None)
    with pytest.raises(ValueError, match="mode is 'cuda', 'numpy' or 'python', not 'c'"):
        jit.rawkernel(mode="c")
    with pytest.raises(AttributeError, match=r"jit has no thrust: a loop"):
        _ = jit.thrust
    with pytest.raises(AttributeError, match=r"jit has no nothing: dir\(pycu2c.cupy.jit\)"):
        _ = jit.nothing


def test_a_size_is_wanted() -> None:
    @jit.rawkernel()
    def k(x):
        part = jit.shared_memory(np.float32)
        part[0] = x[0]

    with pytest.raises(CompileError) as told:
        k((1,), (1,), (np.zeros(1),))
    assert "shared_memory(np.float32)" in str(told.value)
    assert cuda.shared.array is jit.shared_memory
