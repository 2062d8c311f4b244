"""What only a part of a block does: the text for the CPU of kernels whose threads part by number."""

from __future__ import annotations

import numpy as np

from launching import run
from pycu2c import cuda, float32, kernel

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


def test_the_sum_is_right(target: str) -> None:
    x = np.arange(2 * THREADS, dtype=np.float32)
    out = np.zeros(2, np.float32)
    out, _ = run(block_sum, (2, THREADS), (out, x), target)
    assert out.tolist() == x.reshape(2, THREADS).sum(axis=1).tolist()
