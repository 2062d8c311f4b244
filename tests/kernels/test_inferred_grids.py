"""The grid of a launch without one covers each thread that has an effect, or the launch fails."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import LaunchError, cuda, device, kernel


def zeros(*shape):
    return np.zeros(shape, np.float32)


@device
def store(a, i, value):
    a[i] = value


@device
def store_first(tile, value):
    tile[0] = value


# ---- kernels that imply their grid -----------------------------------------------------------


def guarded_by_a_number(x, n):
    i = cuda.grid(1)
    if i < n:
        x[i] = 1


def guarded_by_early_return(x, n):
    i = cuda.grid(1)
    if not (0 <= i < n):
        return
    x[i] = 1
    store(x, i, x[i] + 1)


def guarded_by_a_variable(x, n):
    i = cuda.grid(1)
    inside = i < n
    if inside and x[i] == 0:
        x[i] = 1


def guarded_more_closely(x, n):
    i = cuda.grid(1)
    if i < n:
        if i < len(x) // 2:
            x[i] += 1
        else:
            x[i] += 2


def guarded_by_less(x, n):
    i = cuda.grid(1)
    if i < n:
        x[i] = 1
    if 0 < i < n - 1:
        x[i] = 2
    if i + 1 < n:
        x[i] = 3


def written_by_the_first_thread(x, n):
    i, z = cuda.grid(1), 1j
    z += 1j
    z = z + 1j
    if i == 0:
        x[0] = z.imag
    elif i < n:
        x[i] = 1


def guarded_atomic(x, n):
    i = cuda.grid(1)
    old = cuda.atomic.add(x, i, 1) if i < n else 0
    if i < n and cuda.atomic.add(x, i, 1) > old:
        x[i] += 1


def guarded_by_loops(x, n):
    i = cuda.grid(1)
    for j in range(i, n, cuda.gridsize(1)):
        x[j] += 1
    while i < n:
        x[i] += 1
        i += cuda.gridsize(1)


def with_shared_memory(x, n):
    tile = cuda.shared.array(32, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = i
    store_first(tile, 0)
    cuda.syncthreads()
    if i < n:
        x[i] = tile[t] + 1


def with_an_effect_of_each_block(x, n):
    sums = cuda.shared.array(1, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if t == 0:
        sums[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(sums, 0, 1 if i < n else 0)
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(x, 0, sums[0])
    if cuda.laneid == 0 and i < n:
        cuda.atomic.add(x, 1, 1)


@pytest.mark.parametrize(
    "function",
    [
        guarded_by_a_number,
        guarded_by_early_return,
        guarded_by_a_variable,
        guarded_more_closely,
        guarded_by_less,
        written_by_the_first_thread,
        guarded_atomic,
        guarded_by_loops,
        with_shared_memory,
        with_an_effect_of_each_block,
    ],
)
def test_all_threads_with_an_effect_run(function, target):
    x, expected = zeros(128), zeros(128)
    kernel(backend=target, block=32)(function)(x, 100)
    kernel(backend="python")(function)[5, 32](expected, 100)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64])
def test_the_limit_may_have_any_integer_type(dtype):
    x = zeros(128)
    kernel(backend="cpu", block=32)(guarded_by_a_number)(x, dtype(100))
    assert x.sum() == 100


# ---- kernels that do not ---------------------------------------------------------------------


def guards_the_threads_beyond(x, n):
    i = cuda.grid(1)
    if i >= n:
        x[i] = 1


def guards_a_value(x, n):
    i = cuda.grid(1)
    x[i] = 1 if i < n else 2


def guards_with_else(x, n):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < n:
        x[i, j] = 1
    else:
        x[i, j] = 2


def guards_one_of_two_axes(x, n):
    i, j = cuda.grid(2)
    if j < n or i < n:
        x[i, j] = 1


def guards_one_effect(x, n):
    i = cuda.grid(1)
    if i < n:
        x[i] = 1
    cuda.atomic.add(x, 0, 1)


def guards_in_a_loop(x, n):
    i = cuda.grid(1)
    for _ in range(2):
        if i >= n:
            break
    x[i] = 1


def stores_in_a_function(x, n):
    i = cuda.grid(1)
    store(x, i, i < n)


def prints(x, n):
    i = cuda.grid(1)
    if i < n:
        x[i] = 1
    print(i)


def compares_another_index(x, n):
    i = cuda.grid(1)
    k = i
    k -= 10
    if k < n:
        x[i] = 1


def compares_a_wrapped_index(x, n):
    i = cuda.grid(1)
    if np.int8(i) < n:
        x[i] = 1


def compares_two_lengths(x, n):
    i = cuda.grid(1)
    if i < n:
        x[i] = 1
    if i < len(x):
        x[i] = 2


def compares_a_product(x, n):
    i = cuda.grid(1)
    if i < n * n:
        x[i] = 1


def compares_two_lengths_in_a_block(x, n):
    i = cuda.grid(1)
    t = cuda.shared.array(32, np.float32)
    if i < n and i < len(x):
        t[cuda.threadIdx.x] = 1
    if cuda.threadIdx.x == 0:
        x[cuda.blockIdx.x] = t[0]


def uses_other_blocks(x, n):
    i = cuda.grid(1)
    if i < n:
        x[i] = cuda.blockIdx.y


def uses_no_grid_index(x, n):
    x[cuda.threadIdx.x] = n


@pytest.mark.parametrize(
    "function",
    [
        guards_the_threads_beyond,
        guards_a_value,
        guards_with_else,
        guards_one_of_two_axes,
        guards_one_effect,
        guards_in_a_loop,
        stores_in_a_function,
        prints,
        compares_another_index,
        compares_a_wrapped_index,
        compares_two_lengths,
        compares_two_lengths_in_a_block,
        compares_a_product,
        uses_other_blocks,
        uses_no_grid_index,
    ],
)
def test_no_grid_is_inferred(function):
    shape = (4, 4) if "axes" in function.__name__ or "else" in function.__name__ else (64,)
    with pytest.raises(LaunchError, match=r"has no grid: call .* guard all effects"):
        kernel(backend="cpu", block=32)(function)(zeros(*shape), 64)


def test_a_float_is_no_length():
    with pytest.raises(LaunchError, match="has no grid"):
        kernel(backend="cpu", block=32)(guarded_by_a_number)(zeros(8), 3.0)
