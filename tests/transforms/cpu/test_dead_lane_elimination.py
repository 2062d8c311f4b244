"""eliminate_dead_lanes: skip threads of work-item loops whose results are never read."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, float32, int32, kernel
from support.launching import run

ALL = 0xFFFFFFFF


@kernel(block=(64,))
def sum_down(out, x):
    t = cuda.threadIdx.x
    total = x[t]
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, delta)
    if t % 32 == 0:
        out[t // 32] = total


@kernel(block=(64,))
def sum_crossed(out, x):
    t = cuda.threadIdx.x
    total = x[t]
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(ALL, total, delta)
    if t % 32 == 5:
        out[t // 32] = total


@kernel(block=(64,))
def sum_for_all(out, x):
    t = cuda.threadIdx.x
    total = x[t]
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(ALL, total, delta)
    out[t] = total


@kernel(block=(64,))
def sums_up(out, x):
    t = cuda.threadIdx.x
    lane = t % 32
    total = x[t]
    for delta in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, delta)
        if lane >= delta:
            total += before
    out[t] = total


@kernel(block=(64,))
def last_of_sums_up(out, x):
    t = cuda.threadIdx.x
    total = x[t]
    for delta in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, delta)
        if t % 32 >= delta:
            total += before
    if t == 63:
        out[0] = total


@kernel(block=(40,))
def odd_block(out, x):
    t = cuda.threadIdx.x
    total = x[t]
    for delta in (4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, delta, 8)
    if t % 8 == 0:
        out[t // 8] = total


@kernel(block=(8, 8))
def square(out, x):
    t = cuda.threadIdx.y * 8 + cuda.threadIdx.x
    total = x[t]
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, delta)
    if cuda.laneid == 0:
        out[cuda.threadIdx.y // 4] = total


@kernel(block=(64,))
def with_effect(out, x):
    t = cuda.threadIdx.x
    total = x[t]
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, delta)
        cuda.atomic.add(out, 2, 1)
    if t % 32 == 0:
        out[t // 32] = total


@kernel(block=(64,))
def by_data(out, x):
    t = cuda.threadIdx.x
    total = x[t]
    lane = int(x[0]) % 32
    taken = cuda.shfl_sync(ALL, total, lane)
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, delta)
    if x[t] > 40:
        out[t] = total + taken


@kernel(block=(64,))
def after_return(out, x):
    t = cuda.threadIdx.x
    total = x[t]
    if t >= 48:
        return
    cuda.syncthreads()
    total += cuda.shfl_down_sync(0xFFFF if t >= 32 else ALL, total, 8)
    if t % 16 < 8:
        out[t] = total


@kernel(block=(64,))
def kept_by_some(out, x):
    t = cuda.threadIdx.x
    total = x[t]
    cuda.syncthreads()
    if x[t] > 20:
        total = x[t] * 2
    cuda.syncthreads()
    total += cuda.shfl_down_sync(ALL, total, 16)
    if t % 32 < 16:
        out[t] = total


@kernel(block=(64,))
def read_again(out, x):
    t = cuda.threadIdx.x
    total = x[t]
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, delta)
    out[t % 32] = 0
    cuda.syncthreads()
    if t == 33:
        out[0] = total


KERNELS: dict[str, Any] = {
    k.python.__name__: k
    for k in (
        sum_down,
        sum_crossed,
        sum_for_all,
        sums_up,
        last_of_sums_up,
        odd_block,
        square,
        with_effect,
        by_data,
        after_return,
        kept_by_some,
        read_again,
    )
}
BLOCKS = {"odd_block": 40, "square": (8, 8)}


@pytest.mark.parametrize("name", KERNELS)
def test_results_stay(name: str, target: str) -> None:
    block = BLOCKS.get(name, 64)
    for scalar in (np.float32, np.int32):
        arguments = (np.zeros(64, scalar), np.arange(64).astype(scalar))
        expected = run(KERNELS[name], (1, block), arguments, "python")[0]
        assert np.array_equal(run(KERNELS[name], (1, block), arguments, target)[0], expected)


def lanes(text: str) -> list[str]:
    """Where the loops over lanes begin and end."""
    return re.findall(r"for \(int64_t lane = (\d+); lane < (\d+)", text)


def test_a_sum_needs_half_as_many_lanes_each_time() -> None:
    text = sum_down.inspect("c", (float32[::1], float32[::1]))
    assert lanes(text) == [("0", "16"), ("0", "8"), ("0", "4"), ("0", "2")]
    assert "?" not in text


def test_of_a_scan_all_lanes_are_read() -> None:
    assert not lanes(sums_up.inspect("c", (int32[::1], int32[::1])))
    assert not lanes(sum_for_all.inspect("c", (int32[::1], int32[::1])))


def test_an_effect_keeps_all() -> None:
    text = with_effect.inspect("c", (int32[::1], int32[::1]))
    assert not lanes(text)


def test_one_lane_reads_a_butterfly_sum() -> None:
    text = sum_crossed.inspect("c", (float32[::1], float32[::1]))
    assert lanes(text) == [("0", "16"), ("0", "8"), ("4", "8"), ("4", "6")]
    assert "const int64_t lane = 5;" in text
