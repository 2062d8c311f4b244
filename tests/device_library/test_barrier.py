"""``pycu2c.cuda.barrier``: producers and consumers in a block."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import DeadlockError, cuda, device, int32, kernel, uint64
from pycu2c.cuda import barrier
from support.asynchronous import hopper_code
from support.launching import run

ROUNDS = 4


@kernel
def pass_rows(out, rounds):
    """Warp 0 writes a row after another; warp 1 copies each, and lets the next one be written."""
    written, read = cuda.shared.array(1, uint64), cuda.shared.array(1, uint64)
    row = cuda.shared.array(32, int32)
    lane = cuda.threadIdx.x % 32
    if cuda.threadIdx.x == 0:
        barrier.init(written, 0, 32)
        barrier.init(read, 0, 32)
    cuda.syncthreads()
    for i in range(rounds):
        if cuda.threadIdx.x < 32:
            barrier.wait_parity(read, 0, i % 2 ^ 1)
            row[lane] = 100 * i + lane
            barrier.arrive(written, 0)
        else:
            barrier.wait_parity(written, 0, i % 2)
            out[cuda.blockIdx.x, i, lane] = row[31 - lane]
            barrier.arrive(read, 0)


def test_warps_pass_rows(target: str) -> None:
    (out, _) = run(pass_rows, (3, 64), [np.zeros((3, ROUNDS, 32), np.int32), ROUNDS], target)
    expected = 100 * np.arange(ROUNDS)[:, None] + np.arange(31, -1, -1)
    assert (out == expected).all()


@kernel
def exchange(out):
    """Threads read what their neighbours wrote before the barrier; each half has one of its own."""
    bars = cuda.shared.array(2, uint64)
    i, half = cuda.threadIdx.x, cuda.threadIdx.x // 48
    if i < 2:
        barrier.init(bars, i, 48)
    cuda.syncthreads()
    for step in range(3):
        out[step, i] = step + i
        token = barrier.arrive(bars, half)
        barrier.wait(bars, half, token)
        out[3 + step, i] = out[step, half * 48 + (i + 31) % 48]
        barrier.arrive_and_wait(bars, half)


def test_threads_wait_for_the_phase_of_their_token(target: str) -> None:
    (out,) = run(exchange, (1, 96), [np.zeros((6, 96), np.int32)], target)
    i = np.arange(96)
    neighbours = i // 48 * 48 + (i + 31) % 48
    assert (out[3:] == np.arange(3)[:, None] + neighbours).all()


@kernel
def wait_for_nothing(out):
    bar = cuda.shared.array(1, uint64)
    if cuda.threadIdx.x == 0:
        barrier.init(bar, 0, 2)
    cuda.syncthreads()
    if cuda.threadIdx.x == 1:
        barrier.arrive(bar, 0)
        barrier.wait_parity(bar, 0, 0)
    out[cuda.threadIdx.x] = 1


@pytest.mark.parametrize("backend", ["cpu", "python"])
def test_a_missing_arrival_is_a_deadlock(backend: str) -> None:
    with pytest.raises(DeadlockError):
        run(wait_for_nothing, (1, 2), [np.zeros(2, np.int32)], backend)


def test_cuda_uses_the_instructions() -> None:
    text, log = hopper_code(pass_rows, np.zeros((1, 1, 1), np.int32), 1)
    assert "mbarrier.try_wait.parity.shared.b64" in text
    assert text.count("while (!ended);") == 1
    assert not log.strip("\0\n ")


@device
def read(flags, i):
    return cuda.atomic.add(flags, i, 0)


@device
def is_set(flags, i):
    return read(flags, i) != 0


@kernel
def wait_by_functions(out):
    """A loop calls a function that calls one with an atomic."""
    flags = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        flags[0] = 0
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        while not is_set(flags, 0):
            pass
        out[0] = 1
    else:
        cuda.atomic.add(flags, 0, 1)


def test_loops_wait_by_functions_that_read_atomically(target: str) -> None:
    """The thread that waits runs first: it has to let the others run."""
    (out,) = run(wait_by_functions, (1, 2), [np.zeros(1, np.int32)], target)
    assert out[0] == 1
