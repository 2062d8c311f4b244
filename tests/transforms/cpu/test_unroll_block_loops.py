"""unroll_block_loops: unroll loops around thread loops with constant trip counts."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pycu2c import cuda, float32, kernel
from support.launching import run

TYPES = (float32[::1],)


@kernel(block=(16,))
def tree(out):
    part = cuda.shared.array(16, float32)
    t = cuda.threadIdx.x
    part[t] = out[t]
    cuda.syncthreads()
    half = 8
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    out[t] = part[0]


@kernel(block=(16,))
def tree_that_reports(out):
    t = cuda.threadIdx.x
    half = 8
    while half > 1:
        if t < half:
            out[t] += out[t + half]
        cuda.syncthreads()
        half //= 2
    out[t] = half


@kernel(block=(16,))
def many_rounds(out):
    t = cuda.threadIdx.x
    k = 0
    while k < 100:
        out[t] += out[(t + k) % 16]
        cuda.syncthreads()
        k += 1


@kernel(block=(16,))
def rounds_by_length(out):
    t = cuda.threadIdx.x
    k = 1
    while k < out.size:
        if t + k < 16:
            out[t] += 1
        cuda.syncthreads()
        k *= 2


def test_each_iteration_has_its_constants() -> None:
    text = tree.inspect("c", TYPES)
    assert "while" not in text
    assert "half" not in text
    assert [text.count(f"part[t + {n}]") for n in (8, 4, 2, 1)] == [1, 1, 1, 1]


def test_the_loop_variable_exists_if_it_is_read_later() -> None:
    text = tree_that_reports.inspect("c", TYPES)
    assert "while" not in text
    assert "half = 1;" in text


@pytest.mark.parametrize("kept", [many_rounds, rounds_by_length])
def test_loops_that_stay(kept: object) -> None:
    assert re.search(r"(while|for) \(.*\bk < ", kept.inspect("c", TYPES))


@pytest.mark.parametrize("each", [tree, tree_that_reports, rounds_by_length])
def test_the_results_are_the_same(each: object, target: str) -> None:
    x = np.arange(16, dtype=np.float32)
    expected = run(each, (1, 16), (x,), "python")[0]
    assert np.array_equal(run(each, (1, 16), (x,), target)[0], expected)
