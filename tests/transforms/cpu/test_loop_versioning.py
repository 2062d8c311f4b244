"""with_whole: loops over blocks inside of the data have no bounds checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, float32, kernel
from support.launching import run

TYPES = (float32[::1], float32[::1])


@kernel(block=(32,))
def padded(out, x):
    part = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else -1.0
    cuda.syncthreads()
    out[i] = part[31 - t]


@kernel(block=(32,))
def between(out, x):
    part = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i - 1] + x[i] if i >= 1 and i <= x.size - 1 else 7.0
    cuda.syncthreads()
    out[i] = part[31 - t]


@kernel(block=(8, 4))
def square(out, x):
    part = cuda.shared.array((4, 8), float32)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    k = cuda.blockIdx.x * 32 + i * 8 + j
    part[i, j] = x[k] if k < x.size else -1.0
    cuda.syncthreads()
    out[k] = part[3 - i, 7 - j]


@kernel(block=(32,))
def by_lane(out, x):
    part = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    cuda.syncthreads()
    out[cuda.grid(1)] = part[t - 3] if t >= 3 else 0.0


def loads(made: Any) -> tuple[int, int]:
    """How many loops choose what they load, and how many do not."""
    text = made.inspect("c", TYPES)
    return text.count("? x[") + text.count("? part["), text.count("= x[i];")


def test_a_block_inside_of_the_data_checks_no_bounds() -> None:
    text = padded.inspect("c", TYPES)
    assert "if (32 <= x_len - blockIdx.x * 32) {" in text
    assert loads(padded) == (1, 1)


def test_a_condition_that_never_holds_for_a_full_block_is_kept() -> None:
    assert loads(by_lane) == (1, 0)


@pytest.mark.parametrize("size", [1, 31, 32, 33, 63, 64, 65, 96])
@pytest.mark.parametrize("made", [padded, between, square, by_lane])
def test_results_stay(made: Any, size: int, target: str) -> None:
    x = np.arange(1, max(size, 32 if made is by_lane else 1) + 1, dtype=np.float32)
    block = (8, 4) if made is square else 32
    arguments = (np.zeros(96, np.float32), x)
    expected = run(made, (3, block), arguments, "python")[0]
    assert np.array_equal(run(made, (3, block), arguments, target)[0], expected)
