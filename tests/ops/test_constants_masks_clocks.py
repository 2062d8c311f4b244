"""Constant arrays, lane masks and clocks."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import CompileError, cuda, float32, kernel
from support.launching import run

TABLE = np.arange(10, dtype=np.float32)


@kernel
def constants(out):
    i = cuda.threadIdx.x
    table = cuda.const.array_like(TABLE)
    out[i] = table[i % 10] + table[-1] + cuda.selp(i > 3, 0.5, 0)


def test_an_array_of_constants(target: str) -> None:
    (result,) = run(constants, (1, 16), [np.zeros(16, np.float32)], target)
    i = np.arange(16)
    np.testing.assert_array_equal(result, i % 10 + 9 + np.where(i > 3, 0.5, 0))
    assert "__constant__ const float TABLE" in constants.inspect("cuda", (float32[::1],))


def test_an_argument_is_no_constant() -> None:
    @kernel
    def taken(out, a):
        out[0] = cuda.const.array_like(a)[0]

    with pytest.raises(CompileError, match="defined outside of the kernel"):
        taken.inspect("c", (float32[::1], float32[::1]))


@kernel
def lanes(masks):
    i = cuda.threadIdx.x
    masks[0, i] = cuda.lanemask_lt()
    masks[1, i] = cuda.lanemask_le()
    masks[2, i] = cuda.lanemask_eq()
    masks[3, i] = cuda.lanemask_ge()
    masks[4, i] = cuda.lanemask_gt()


def test_masks_of_lanes(target: str) -> None:
    (result,) = run(lanes, (1, 40), [np.zeros((5, 40), np.int64)], target)
    bit = 1 << (np.arange(40, dtype=np.int64) % 32)
    everyone = (1 << 32) - 1
    expected = [bit - 1, 2 * bit - 1, bit, everyone - (bit - 1), everyone - (2 * bit - 1)]
    np.testing.assert_array_equal(result, expected)


@kernel
def timed(out):
    start, began, short = cuda.clock64(), cuda.globaltimer(), cuda.clock()
    out[0] = cuda.clock64() - start
    out[1] = cuda.globaltimer() - began
    out[2] = short >> 32
    out[3] = cuda.clock64() > 0


def test_clocks_go_forward(target: str) -> None:
    (result,) = run(timed, (1, 1), [np.full(4, -1, np.int64)], target)
    assert result[0] >= 0
    assert result[1] >= 0
    assert result[2:].tolist() == [0, 1]
