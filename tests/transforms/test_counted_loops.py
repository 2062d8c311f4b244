"""While loops that count become for loops on the CPU, with equal results on all targets."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import cuda, kernel
from support.launching import run

TYPES = "float32[::1], float32[::1], int, int"
WIDE = "float32[::1], float32[::1], int64, int64"  # which may be as great as a step leads over
SHAPES = [(3, 32), (2, 100), (1, 1)]


@kernel
def sums(out, x, n, step):
    total = np.float32(0)
    i = cuda.grid(1)
    while i < n:
        total += x[i]
        i += cuda.gridsize(1)
    out[cuda.grid(1)] = total


@kernel
def by_a_stride(out, x, n, step):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    stride = cuda.blockDim.x * cuda.gridDim.x
    while n > i:
        x[i] = x[i] + 1
        i = stride + i
    out[cuda.grid(1)] = 1


@kernel
def looked_at_before(out, x, n, step):
    i = cuda.grid(1)
    out[i] = i
    total = np.float32(0)
    while i < n:
        if x[i] > 0.9:
            break
        total += i
        i += 3
    out[cuda.grid(1)] += total


@kernel
def looked_at_after(out, x, n, step):
    i = cuda.grid(1)
    while i < n:
        i += 5
    out[cuda.grid(1)] = i


@kernel
def counted_and_looked_at_after(out, x, n, step):
    total = np.float32(0)
    i = 0
    while i < n:
        total += x[i]
        i += 7
    out[cuda.grid(1)] = total + i


@kernel
def of_a_moving_end(out, x, n, step):
    i = 0
    end = n
    while i < end:
        if x[i] > 0.5:
            end -= 1
        i += 1
    out[cuda.grid(1)] = end


@kernel
def by_any_step(out, x, n, step):
    i = n - 1
    total = np.float32(0)
    while i < n:
        total += x[i]
        i += step
        if i < 0:
            i = n
    out[cuda.grid(1)] = total


@kernel
def going_on(out, x, n, step):
    i = cuda.grid(1)
    total = np.float32(0)
    rounds = 0
    while i < n:
        rounds += 1
        if rounds < 3:
            continue
        total += i
        i += 40
    out[cuda.grid(1)] = total


@kernel
def in_another(out, x, n, step):
    total = np.float32(0)
    k = 0
    while k < 4:
        i = cuda.threadIdx.x + k
        while i < n:
            total += x[i]
            i += cuda.blockDim.x
        k += 1
    out[cuda.grid(1)] = total


@kernel
def left_where_it_was(out, x, n, step):
    total = np.float32(0)
    i = cuda.grid(1)
    for k in range(1, 4):
        while i < n // 4 * k:
            total += x[i] * k
            i += 7
    out[cuda.grid(1)] = total


COUNTED = (sums, by_a_stride, looked_at_before, in_another)
OTHERS = (
    looked_at_after, counted_and_looked_at_after, of_a_moving_end, by_any_step, going_on,
    left_where_it_was,
)  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("k", [*COUNTED, *OTHERS], ids=lambda k: k.name)
def test_the_results_are_the_same(k, shape, target: str) -> None:
    x = np.random.default_rng(5).random(300).astype(np.float32)
    arguments = np.zeros(200, np.float32), x, 300, -1
    for got, expected in zip(run(k, shape, arguments, target), run(k, shape, arguments, "python")):
        np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("k", COUNTED, ids=lambda k: k.name)
def test_those_that_count(k) -> None:
    assert "while" not in k.inspect("c", TYPES, 64)


@pytest.mark.parametrize("k", OTHERS, ids=lambda k: k.name)
def test_those_that_do_not(k) -> None:
    assert "while" in k.inspect("c", TYPES, 64)


def test_a_loop_that_may_wrap_stays_a_while_loop() -> None:
    assert "while" in sums.inspect("c", WIDE, 64)


def test_grid_stride_loops_are_outside_of_the_thread_loop() -> None:
    text = by_a_stride.inspect("c", TYPES, 64)
    assert text.index("i_first += stride") < text.index("#pragma omp simd")
