"""Kernels by the names of ``cupyx.jit``."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import CompileError, cuda
from pycu2c.cupy import jit
from support.launching import run


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
        *[lambda y: copied((4,), (32,), (x, y, 100))] * 4,
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


def test_rejections() -> None:
    with pytest.raises(TypeError, match=r"write @jit.rawkernel\(\)"):
        jit.rawkernel(mode=lambda x: None)
    with pytest.raises(ValueError, match="mode is 'cuda', 'numpy' or 'python', not 'c'"):
        jit.rawkernel(mode="c")
    with pytest.raises(AttributeError, match=r"jit has no nothing: dir\(pycu2c.cupy.jit\)"):
        _ = jit.nothing


def test_a_missing_size_is_an_error() -> None:
    @jit.rawkernel()
    def k(x):
        part = jit.shared_memory(np.float32)
        part[0] = x[0]

    with pytest.raises(CompileError) as raised:
        k((1,), (1,), (np.zeros(1),))
    assert "shared_memory(np.float32)" in str(raised.value)
    assert cuda.shared.array is jit.shared_memory


# ---- what kernels of CuPy's kind do beside that -------------------------------------------------


@jit.rawkernel()
def boxes(x, y):
    i, j, k = jit.grid(3)
    if i < x.shape[0] and j < x.shape[1] and k < len(x[0, 0]):
        y[i, j, k] = x[i, j, k] * x.ndim


def test_three_dimensions(target: str) -> None:
    x = np.arange(24).reshape(2, 3, 4)
    assert (on(boxes, target, (1, 2, 2), (2, 2, 2), [x, np.zeros_like(x)])[1] == 3 * x).all()


@jit.rawkernel()
def extremes(x, y, z, out):
    i = jit.grid(1)
    out[i] = min(x[i], y[i], z[i]) + 10 * max(x[i], y[i], z[i])


def test_the_least_of_three(target: str) -> None:
    arrays = [np.random.default_rng(k).integers(0, 9, 64, dtype=np.int32) for k in range(3)]
    out = on(extremes, target, 2, 32, [*arrays, np.zeros(64, np.int32)])[3]
    assert (out == np.min(arrays, 0) + 10 * np.max(arrays, 0)).all()


@jit.rawkernel()
def through_memory(x, y, room):
    i = jit.threadIdx.x + jit.threadIdx.y * jit.blockDim.x
    last = jit.blockDim.x * jit.blockDim.y - 1
    room[i] = x[last - i]
    jit.syncthreads()
    y[i] = room[last - i]


def test_transposed_lanes_through_memory(target: str) -> None:
    x = np.arange(1024, dtype=np.int32)
    assert (on(through_memory, target, 1, (32, 32), [x, x * 0, x * 0])[1] == x).all()


@jit.rawkernel()
def first_lanes(x, m):
    lane = jit.threadIdx.x & 31
    if lane < m:
        x[lane] = 1
        jit.syncwarp(mask=(1 << m) - 1)


@pytest.mark.parametrize("m", [2, 8, 32])
def test_masks_that_the_launch_gives(target: str, m: int) -> None:
    assert on(first_lanes, target, 1, 32, [np.zeros(32, np.int32), m])[0].sum() == m


@jit.rawkernel()
def scattered(x, index, out):
    i = jit.grid(1)
    jit.atomic_add(out, index[i], x[i])


@pytest.mark.parametrize("dtype", "iILQefd")
def test_sums_of_all_types(target: str, dtype: str) -> None:
    x, index = np.arange(64).astype(dtype), np.arange(64, dtype=np.int32) % 2
    out = on(scattered, target, 2, 32, [x, index, np.zeros(2, dtype)])[2]
    assert np.allclose(out, [x[::2].sum(), x[1::2].sum()], rtol=0.03)


@jit.rawkernel()
def of_one_lane(a, b, up, down, total):
    lane = jit.threadIdx.x & 31
    value = a
    if lane != 0:
        value -= a
    b[lane] = jit.shfl_sync(0xFFFFFFFF, value, 0)
    up[lane] = jit.shfl_up_sync(0xFFFFFFFF, up[lane], 5)
    down[lane] = jit.shfl_down_sync(0xFFFFFFFF, down[lane], 5)
    step, found = 16, total[lane]
    while step >= 1:
        found += jit.shfl_xor_sync(0xFFFFFFFF, found, step)
        step //= 2
    total[lane] = found


@pytest.mark.parametrize("dtype", "iIlLqQfd")
def test_warps_of_all_types(target: str, dtype: str) -> None:
    x = np.arange(32, dtype=dtype)
    arrays = [x.dtype.type(100), *(x.copy() for _ in range(4))]
    _, b, up, down, total = on(of_one_lane, target, 1, 32, arrays)
    assert (b == 100).all()
    assert up.tolist() == [*range(5), *range(27)]
    assert down.tolist() == [*range(5, 32), *range(27, 32)]
    assert (total == 496).all()


@jit.rawkernel()
def bits(x, out):
    lane = jit.threadIdx.x
    jit.syncwarp()
    everyone, is_one = jit.match_all_sync(0xFFFFFFFF, x[0])
    out[lane, 0] = jit.popc(jit.match_any_sync(0xFFFFFFFF, x[lane]))
    out[lane, 1] = jit.ffs(x[lane])
    out[lane, 2] = jit.popc(everyone) + is_one
    out[lane, 3] = jit.popc(jit.activemask()) > 0


def test_bits_of_warps(target: str) -> None:
    x = np.arange(32, dtype=np.int32) % 4
    out = on(bits, target, 1, 32, [x, np.zeros((32, 4), np.int32)])[1]
    assert (out[:, 0] == 8).all()
    assert out[:4, 1].tolist() == [0, 1, 2, 1]
    assert (out[:, 2:] == [33, 1]).all()


def test_functions_that_are_defined_later(target: str) -> None:
    @jit.rawkernel()
    def k(x, y, z):
        t = jit.threadIdx.x
        z[t] = more(x[t], y[t]) + x[t] + y[t] + far(x[t])

    @jit.rawkernel(device=True)
    def more(x, y):
        x += 1
        y += 1
        return x + y

    def adding(number):
        @jit.rawkernel(device=True)
        def f(x):
            return x + number

        return f

    far = adding(100)
    x = np.arange(30, dtype=np.int32)
    _, _, z = on(k, target, 1, 30, [x, 3 * x, 0 * x])
    assert (z == 9 * x + 102).all()


def tree_step(step):
    @jit.rawkernel(device=True)
    def add_neighbours(x):
        if step < 256:
            t = jit.threadIdx.x
            if t % (step * 2) == 0:
                x[t] += x[t + step]
                jit.syncthreads()
                tree_step(step * 2)(x)

    return add_neighbours


def test_functions_that_make_functions_recursively(target: str) -> None:
    @jit.rawkernel()
    def k(x):
        tree_step(1)(x)

    x = np.arange(256, dtype=np.int32)
    assert on(k, target, 1, 256, [x])[0][0] == x.sum()


def test_arguments_of_functions_that_make_functions() -> None:
    @jit.rawkernel()
    def k(x):
        tree_step(x[0])(x)

    def five():
        return 5

    @jit.rawkernel()
    def calls_a_number(x):
        x[0] = five()()

    def failing(n):
        raise KeyError(n)

    @jit.rawkernel()
    def calls_failing(x):
        x[0] = failing(1)(x)

    x = np.ones(1, np.int32)
    with pytest.raises(CompileError, match="constant-needed"):
        k((1,), (1,), (x,))
    with pytest.raises(CompileError, match="this returns a `int`, not a device function"):
        calls_a_number((1,), (1,), (x,))
    with pytest.raises(CompileError, match="this call raises KeyError: 1"):
        calls_failing((1,), (1,), (x,))


def test_types_of_constants_make_functions() -> None:
    """1 and 1.0 are equal, and True is 1, but the functions differ."""

    def constant(number):
        @jit.rawkernel(device=True)
        def f():
            return number / 1 if isinstance_float else number

        isinstance_float = isinstance(number, float)
        return f

    @jit.rawkernel()
    def k(out):
        out[0] = constant(7)() // 2
        out[1] = constant(7.0)() / 2

    out = np.zeros(2)
    k((1,), (1,), (out,))
    assert out.tolist() == [3, 3.5]


def test_arrays_without_axes(target: str) -> None:
    @jit.rawkernel()
    def k(x, y):
        y[()] = x[()] + 1

    assert on(k, target, 1, 1, [np.array(3), np.array(4)])[1] == 4


@jit.rawkernel(device=True)
def counted(x):
    x[0] += 1
    return 1


@jit.rawkernel()
def counts(x):
    x[counted(x)] += 1


def test_functions_in_indices_are_called_once(target: str) -> None:
    assert on(counts, target, 1, 1, [np.zeros(2, np.int32)])[0].tolist() == [1, 1]


@jit.rawkernel()
def reported_by_groups(x, y):
    block, grid = jit.cg.this_thread_block(), jit.cg.this_grid()
    if block.thread_rank() == 3:
        at, where, size = block.thread_index(), block.group_index(), block.group_dim()
        x[0], x[1], x[2] = block.size(), block.num_threads(), at.x + at.y + at.z
        x[3], x[4], x[5] = where.x, size.x, block.dim_threads().y
    if grid.thread_rank() == 33:
        y[0], y[1], y[2] = grid.size(), grid.num_threads(), grid.is_valid()
        y[3], y[4], y[5] = grid.block_rank(), grid.num_blocks(), grid.block_index().x
        y[6], y[7] = grid.group_dim().x, grid.dim_blocks().z
    grid.sync()


def test_attributes_of_groups(target: str) -> None:
    x, y = on(reported_by_groups, target, 2, 32, [np.zeros(6, np.int64), np.zeros(8, np.uint64)])
    assert x[[0, 1, 2, 4, 5]].tolist() == [32, 32, 3, 32, 1]
    assert y.tolist() == [64, 64, 1, 1, 2, 1, 2, 1]


@jit.rawkernel()
def rotated_twice(x, y, z):
    block, grid = jit.cg.this_thread_block(), jit.cg.this_grid()
    staged = jit.shared_memory(np.int32, 32, alignment=16)
    start, rank = 32 * grid.block_rank(), block.thread_rank()
    staged[rank] = x[start + rank]
    jit.cg.sync(block)
    y[start + rank] = staged[(rank + 1) % 32]
    jit.cg.sync(grid)
    z[start + rank] = y[(start + 32 + rank) % y.size]


def test_functions_of_groups(target: str) -> None:
    x = np.arange(64, dtype=np.int32)
    _, y, z = on(rotated_twice, target, 2, 32, [x, np.zeros_like(x), np.zeros_like(x)])
    rows = np.roll(x.reshape(2, 32), -1, axis=1)
    assert (y.reshape(2, 32) == rows).all()
    assert (z.reshape(2, 32) == rows[::-1]).all()
    assert {"this_grid", "sync"} <= set(dir(jit.cg))


def test_mistakes() -> None:
    def reported(function, *arrays, also=CompileError) -> str:
        with pytest.raises(CompileError) as error:
            jit.rawkernel()(function)((1,), (1,), arrays)
        assert isinstance(error.value, also)
        return str(error.value)

    def unpacked():
        (_x,) = jit.grid(1)

    def of_four():
        _ = jit.grid(4)

    def unknown(x):
        x[0] = unknown_name  # noqa: F821

    def sorted_by_thrust(x):
        jit.thrust.sort(jit.thrust.seq, x.begin(), x.end())

    def reduced_by_cub(x):
        x[0] = jit.cub.WarpReduce[np.float32](x).Sum(x[0])

    def copied_by_groups(x):
        jit.cg.memcpy_async(jit.cg.this_thread_block(), x, 0, x, 1, 4)

    assert "help: the thread that would call" in reported(sorted_by_thrust, np.zeros(1))
    assert "help: cuda.cg.reduce(group, x, op)" in reported(reduced_by_cub, np.zeros(1))
    assert "help: write a loop over the elements" in reported(copied_by_groups, np.zeros(2))
    assert "`int` is not a tuple" in reported(unpacked, also=ValueError)
    assert "1, 2 or 3" in reported(of_four, also=ValueError)
    assert "unknown_name" in reported(unknown, np.zeros(1), also=NameError)
