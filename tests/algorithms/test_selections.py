"""``select`` and ``partition``, compared with NumPy."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from algorithms.conftest import to_host
from pycu2c import algorithms
from pycu2c.algorithms.selections import select_kernel
from pycu2c.toolchain.nvrtc import nvrtc

OnTarget = Callable[[Any], Any]


def is_large(x: Any) -> Any:
    return x > 50


@pytest.mark.parametrize("size", [0, 1, 257, 1500])
@pytest.mark.parametrize("dtype", [np.int8, np.float64])
def test_selections(on_target: OnTarget, tiles: Any, size: int, dtype: Any) -> None:
    x = np.random.default_rng(size).integers(0, 100, size).astype(dtype)
    a, large = on_target(x), x > 50
    np.testing.assert_array_equal(to_host(algorithms.select(a, is_large)), x[large])
    np.testing.assert_array_equal(to_host(algorithms.select(a, on_target(large))), x[large])
    parts, count = algorithms.partition(a, is_large)
    np.testing.assert_array_equal(to_host(parts), np.append(x[large], x[~large][::-1]))
    assert to_host(count)[0] == large.sum()


def test_selection_without_waiting(on_target: OnTarget, tiles: Any) -> None:
    x = np.arange(1000, dtype=np.float32)
    out, count = on_target(np.zeros(500, np.float32)), on_target(np.zeros(1, np.int64))
    result = algorithms.select(on_target(x)[::-2], is_large, out, count)
    expected = x[::-2][x[::-2] > 50]
    assert len(result) == 500
    assert to_host(count)[0] == len(expected)
    np.testing.assert_array_equal(to_host(result)[: len(expected)], expected)


def test_flags_of_another_length() -> None:
    with pytest.raises(ValueError, match="predicate has 3 elements, not 2"):
        algorithms.select(np.zeros(3), np.zeros(2, np.bool_))


def test_kernel_for_gpus_compiles() -> None:
    x = np.zeros(100, np.float32)
    made = select_kernel("cpu", 256, 16, keeps_others=False)
    count, states = np.zeros(1, np.int32), np.zeros((1, 1), np.uint64)
    made[1, 256](x, count, x.copy(), operator.not_, states)
    assert made.attributes(arch="sm_90").local_bytes == 0
    assert nvrtc.compile(made.inspect("cuda"), made.name, "sm_90").data
