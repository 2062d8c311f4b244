"""Functions that one kernel calls with several types: the reference follows each call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, device, float32, int32, kernel
from pycu2c.kernels.kernel import Kernel
from support.launching import run

BIG = np.int32(2**30)


@device
def either(first, a, b):
    """In an int32 or in a float64, as ``a`` and ``b`` say."""
    y = a
    if not first:
        y = b
    return y * 4


@device
def returned(first, a, b):
    if first:
        return a
    return b


@device
def chosen(first, a, b):
    return (a if first else b) * 4


@device
def waited(first, a, b):
    cuda.syncthreads()
    y = a
    if not first:
        y = b
    return y * 4


@device
def of_pair(pair, first=True, *, scale=4):
    y = pair[0]
    if not first:
        y = pair[1]
    return y * scale


@kernel
def ways(out):
    i = cuda.grid(1)
    big = int32(BIG)
    out[i, 0] = either(i >= 0, big, big)
    out[i, 1] = either(i >= 0, big, 0.5)
    out[i, 2] = returned(i >= 0, big, 0.5) * 4
    out[i, 3] = returned(i >= 0, big, big) * 4
    out[i, 4] = chosen(i >= 0, big, float32(0.5))
    out[i, 5] = chosen(i >= 0, big, 1)
    out[i, 6] = waited(i >= 0, big, 2.5)
    out[i, 7] = waited(i >= 0, big, 2)
    out[i, 8] = of_pair((big, 1))
    out[i, 9] = of_pair((big, 1.5), scale=4)
    out[i, 10] = of_pair((big, 1.5), i > 9, scale=big)


@kernel
def in_rounds(out):
    i = cuda.grid(1)
    big = int32(BIG)
    for k, other in enumerate((1, 0.5, big)):
        y = big
        if i < 0:
            y = other
        out[i, k] = y * 4
        if k == 1:
            continue
        out[i, k + 3] = (big if i >= 0 else other) * 4
        if k == 2:
            break
    else:
        out[i, 9] = 1


@pytest.mark.parametrize("k", [ways, in_rounds], ids=lambda k: k.name)
def test_each_call_has_its_types(k: Kernel[Any], target: str) -> None:
    (result,) = run(k, (1, 2), [np.zeros((2, 11))], target)
    wraps, stays = 0.0, 2.0**32
    if k is in_rounds:
        assert result.tolist() == [[wraps, stays, wraps, wraps, 0, wraps, 0, 0, 0, 0, 0]] * 2
        return
    expected = [wraps, stays, stays, wraps, stays, wraps, stays, wraps, wraps, stays]
    assert result[:, :10].tolist() == [expected] * 2
    assert result[:, 10].tolist() == [1.5 * 2**30] * 2
