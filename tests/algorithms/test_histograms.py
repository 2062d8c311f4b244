"""``histogram``, compared with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from algorithms.conftest import to_host
from pycu2c import algorithms
from pycu2c.algorithms.histograms import histogram_kernel
from pycu2c.toolchain.nvrtc import nvrtc

OnTarget = Callable[[Any], Any]


@pytest.mark.parametrize("size", [0, 1, 1003])
@pytest.mark.parametrize("bins", [0, 1, 100, 20_000])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16])
def test_histograms(on_target: OnTarget, size: int, bins: int, dtype: Any) -> None:
    x = np.random.default_rng(size).integers(-3, 300, size).astype(dtype)
    expected = np.bincount(x[x >= 0], minlength=bins)[:bins]
    np.testing.assert_array_equal(to_host(algorithms.histogram(on_target(x), bins)), expected)


def test_counts_of_another_type(on_target: OnTarget) -> None:
    x, out = np.arange(100) % 7, on_target(np.full(5, 9, np.int64))
    assert algorithms.histogram(on_target(x)[::-2], 5, out) is out
    np.testing.assert_array_equal(to_host(out), np.bincount(x[::-2])[:5])
    with pytest.raises(ValueError, match="out has 4 elements, not 5"):
        algorithms.histogram(x, 4, np.zeros(5, np.int64))
    with pytest.raises(TypeError, match="a is an array of integers, not of float64"):
        algorithms.histogram(x / 2, 4)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64], ids=str)
def test_kernel_for_gpus_compiles(dtype: Any) -> None:
    """It counts words of several elements."""
    x = np.random.default_rng(0).integers(-9, 300, 40_000).astype(dtype)
    made = histogram_kernel("cpu", 512, 256, x.dtype)
    counts = np.zeros(256, np.int32)
    made[2, 512](counts, x.view(np.uint64))
    np.testing.assert_array_equal(counts, np.bincount(x[x >= 0], minlength=256)[:256])
    assert made.attributes(arch="sm_90").local_bytes == 0
    assert nvrtc.compile(made.inspect("cuda"), made.name, "sm_90").data
