"""``sort`` and ``sort_by_key``, compared with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from algorithms.conftest import to_host
from pycu2c import algorithms
from pycu2c.algorithms import placement
from pycu2c.algorithms.radix_sort import count_kernel, sort_kernel
from pycu2c.toolchain.nvrtc import nvrtc

OnTarget = Callable[[Any], Any]


@pytest.mark.parametrize("shape", [(1, 512), (256, 2048)], ids=str)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16])
def test_sorts(
    on_target: OnTarget, shape: tuple[int, int], dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "CPU_THREADS", shape[0])
    monkeypatch.setattr(placement, "CPU_TILE_BYTES", shape[1])
    for size in 0, 1, 300:
        x = np.random.default_rng(size).integers(-100, 100, size).astype(dtype)
        a, indices = on_target(x), on_target(np.arange(size, dtype=np.int32))
        np.testing.assert_array_equal(to_host(algorithms.sort(a)), np.sort(x))
        np.testing.assert_array_equal(
            to_host(algorithms.sort(a, descending=True)), np.sort(x)[::-1]
        )
        keys, order = algorithms.sort_by_key(a[::-1], indices)
        np.testing.assert_array_equal(to_host(keys), np.sort(x))
        np.testing.assert_array_equal(to_host(order), np.argsort(x[::-1], kind="stable"))


@pytest.mark.parametrize("dtype", [np.uint32, np.float32, np.complex128])
def test_values_of_other_types(on_target: OnTarget, dtype: Any) -> None:
    """Values of the size of a key use the same shared memory."""
    keys = np.random.default_rng(2).integers(0, 50, 700).astype(np.int32)
    values = np.arange(700).astype(dtype)
    moved = algorithms.sort_by_key(on_target(keys), on_target(values), True)[1]
    order = np.argsort(-keys, kind="stable")
    np.testing.assert_array_equal(to_host(moved), values[order])


def test_bits(on_target: OnTarget) -> None:
    x = np.random.default_rng(1).integers(0, 2**16, 300, dtype=np.uint32)
    values = to_host(algorithms.sort(on_target(x), begin_bit=3, end_bit=14))
    order = np.argsort(x >> 3 & 0x7FF, kind="stable")
    np.testing.assert_array_equal(values, x[order])
    with pytest.raises(ValueError, match="not bits of uint32"):
        algorithms.sort(x, end_bit=33)


def test_wrong_types() -> None:
    x = np.array([3.0, 1.0, 2.0])
    with pytest.raises(TypeError, match="out has the dtype float64, not float32"):
        algorithms.sort(x, out=np.zeros(3, np.float32))
    with pytest.raises(TypeError, match=r"out\[1\] has the dtype int64, not float64"):
        algorithms.sort_by_key(x, np.arange(3), out=(x.copy(), x.copy()))


def test_kernel_for_gpus_compiles() -> None:
    x, starts = np.zeros(100, np.uint32), np.zeros(256, np.uint32)
    items_per_thread = 21
    made = sort_kernel("cpu", 384, items_per_thread, 4, descending=False)
    made[1, 384](x, None, x.copy(), None, starts, np.zeros((1, 256), np.uint32), 0, np.int32(255))
    # no array is in local memory; NVRTC 13.0 spills one register
    assert made.attributes(arch="sm_90").local_bytes < items_per_thread * 4
    assert nvrtc.compile(made.inspect("cuda"), made.name, "sm_90").data


@pytest.mark.parametrize("size", [1, 8 * 512, 10_000])
def test_counts_of_digits(size: int) -> None:
    """As on a GPU: threads load several keys at a time, and the last ones have fewer."""
    x, counts = np.random.default_rng(size).integers(0, 2**16, size), np.zeros(512, np.uint32)
    made = count_kernel("cpu", 2, 256, 8, descending=False)
    made[2, 256](counts, x.astype(np.uint32), 0, 16)
    digits = np.concatenate([np.bincount(x >> bit & 255, minlength=256) for bit in (0, 8)])
    np.testing.assert_array_equal(counts, digits)
    assert made.attributes(arch="sm_90").local_bytes == 0
