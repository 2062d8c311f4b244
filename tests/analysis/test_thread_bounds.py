"""Conditions on thread indices become loop bounds in the C for CPUs."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import cuda, float32, kernel
from support.launching import run

TYPES = (float32[::1], float32[::1])
THREADS = 256


@kernel
def block_sum(out, x):
    part = cuda.shared.array(8, np.float32)
    t = cuda.threadIdx.x
    total = x[cuda.grid(1)]
    delta = 16
    while delta > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, delta)
        delta //= 2
    if t % 32 == 0:
        part[t // 32] = total
    cuda.syncthreads()
    if t < 32:
        total = part[t] if t < 8 else 0.0
        delta = 4
        while delta > 0:
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, delta)
            delta //= 2
        if t == 0:
            out[cuda.blockIdx.x] = total


def text(made: object) -> str:
    return str(made.inspect("c", TYPES, block=(THREADS, 1, 1)))


def test_a_name_assigned_anew_under_a_condition_is_another_variable() -> None:
    """So what is the same for all threads stays so."""
    assert "delta[" not in text(block_sum)


def test_threads_in_a_row_are_the_bounds_of_loops() -> None:
    """Nobody has to remember who waits."""
    made = text(block_sum)
    assert "state_" not in made
    assert "t < 8; ++t" in made


def test_every_so_many_threads_are_the_steps_of_a_loop() -> None:
    assert "t < 256; t += 32)" in text(block_sum)


def test_the_sum_is_right(target: str) -> None:
    x = np.arange(2 * THREADS, dtype=np.float32)
    out = np.zeros(2, np.float32)
    out, _ = run(block_sum, (2, THREADS), (out, x), target)
    assert out.tolist() == x.reshape(2, THREADS).sum(axis=1).tolist()


@kernel
def apart(out, seen):
    """Both arms, threads in the middle, one of them alone, and a loop that some leave."""
    t = cuda.threadIdx.x
    if t >= 32 and t < 96:
        count = cuda.ballot_sync(0xFFFFFFFF, t % 3 == 0)
        if t < 64:
            count += cuda.shfl_up_sync(0xFFFFFFFF, t, 1)
        else:
            n = 0
            while n < t % 4 + 1:
                n += 1
            count -= cuda.shfl_xor_sync(0xFFFFFFFF, n, 3)
    elif t >= 96:
        count = cuda.shfl_down_sync(0xFFFFFFFF, t, 5)
    else:
        count = cuda.shfl_sync(0xFFFFFFFF, t * 2, 7)
        if t == 0:
            seen[0] = count
    cuda.syncthreads()
    out[t] = count


@pytest.mark.parametrize("threads", [128, 96, 64, 32])
def test_threads_that_diverge_by_index(target: str, threads: int) -> None:
    arguments = np.zeros(threads, np.int64), np.zeros(1, np.int64)
    out, seen = run(apart, (1, threads), arguments, target)
    expected, first = run(apart, (1, threads), arguments, "python")
    assert out.tolist() == expected.tolist()
    assert seen.tolist() == first.tolist()


@kernel
def every(out, n):
    """Steps from 0 and from elsewhere, by masks of bits, along both axes, and of negative size."""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    t = y * cuda.blockDim.x + x
    if x % 3 == 0:
        out[t, 0] = t
    cuda.syncthreads()
    if x >= 2 and x % 4 == 0 and x & 1 == 0:
        out[t, 1] = t
    cuda.syncthreads()
    if y % 2 == 0 and x & 7 == 0:
        out[t, 2] = t
    cuda.syncthreads()
    if x % n == 0:
        out[t, 3] = t
    cuda.syncthreads()
    if cuda.grid(1) % -5 == 0:
        out[t, 4] = t
    cuda.syncthreads()
    if x > 0 and x % 64 == 0:
        out[t, 5] = t


@pytest.mark.parametrize("n", [-3, 1, 6])
@pytest.mark.parametrize("block", [(16, 4), (7, 3), (1, 1), (70, 1)])
def test_every_so_many_threads(target: str, block: tuple[int, int], n: int) -> None:
    arguments = np.full((block[0] * block[1], 6), -1, np.int64), n
    out, _ = run(every, (1, block), arguments, target)
    expected, _ = run(every, (1, block), arguments, "python")
    assert out.tolist() == expected.tolist()


@kernel
def every_of_grid(out, n):
    i = cuda.grid(1)
    if i >= n:
        return
    if i % 6 == 0:
        out[i] = i


def test_every_so_many_threads_of_the_grid(target: str) -> None:
    out, _ = run(every_of_grid, (9, 32), (np.full(288, -1), 200), target)
    assert out.tolist() == [i if i % 6 == 0 and i < 200 else -1 for i in range(288)]
