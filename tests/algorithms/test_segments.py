"""``segmented_reduce`` and ``spmv``, compared with NumPy."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from algorithms.conftest import to_host
from pycu2c import algorithms, kernel
from pycu2c.algorithms.segments import carry_kernel, segments_kernel
from pycu2c.toolchain.nvrtc import nvrtc

OnTarget = Callable[[Any], Any]


def offsets_of(segments: int, items: int, dtype: Any = np.int32) -> np.ndarray[Any, Any]:
    """Return the offsets of segments of random lengths; some are empty."""
    ends = np.random.default_rng(items).integers(0, items + 1, max(segments - 1, 0))
    return np.concatenate([[0], np.sort(ends), [items]]).astype(dtype)


@pytest.mark.parametrize(
    ("segments", "items"), [(1, 1), (5, 1500), (900, 70), (300, 900), (40, 0)], ids=str
)
@pytest.mark.parametrize("dtype", [np.int8, np.float64, np.complex128])
def test_segments(on_target: OnTarget, tiles: Any, segments: int, items: int, dtype: Any) -> None:
    x = np.random.default_rng(0).integers(0, 100, items).astype(dtype)
    if x.dtype.kind == "c":
        x -= 1j * x
    offsets = offsets_of(segments, items)
    parts = [x[a:b] for a, b in itertools.pairwise(offsets)]
    a, device_offsets = on_target(x), on_target(offsets)
    sums = algorithms.segmented_reduce(a, device_offsets)
    np.testing.assert_array_equal(to_host(sums), [p.sum(dtype=dtype) for p in parts])
    if x.dtype.kind != "c":
        largest = algorithms.segmented_reduce(a, device_offsets, max, -1)
        np.testing.assert_array_equal(to_host(largest), [p.max(initial=-1) for p in parts])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_products(on_target: OnTarget, tiles: Any, dtype: Any) -> None:
    random, rows, count = np.random.default_rng(1), 150, 1000
    matrix, indptr = np.zeros((rows, 90)), offsets_of(rows, count, dtype)
    data, indices = random.integers(-9, 9, count) * 1.0, random.integers(0, 90, count, dtype)
    np.add.at(matrix, (np.repeat(np.arange(rows), np.diff(indptr)), indices), data)
    x, out = random.integers(-9, 9, 90) * 1.0, on_target(np.zeros(rows))
    assert algorithms.spmv(*map(on_target, (data, indices, indptr, x)), out) is out
    np.testing.assert_array_equal(to_host(out), matrix @ x)


def test_wrong_arrays() -> None:
    x, offsets = np.zeros(3), np.array([0, 3])
    with pytest.raises(ValueError, match="start of each segment"):
        algorithms.segmented_reduce(x, offsets[:0])
    with pytest.raises(ValueError, match="offsets starts at 1, not 0: pass the elements from 1 on"):
        algorithms.segmented_reduce(np.ones(4), np.array([1, 2, 4]))
    with pytest.raises(ValueError, match=r"offsets descends from 1000000000 to 2 at index 2: each"):
        algorithms.segmented_reduce(x, np.array([0, 10**9, 2, 3]))
    with pytest.raises(ValueError, match="indptr starts at 1"):
        algorithms.spmv(np.ones(4), np.zeros(4, np.int32), np.array([1, 2, 4]), np.ones(1))
    with pytest.raises(ValueError, match="out has 1 elements, not 2"):
        algorithms.segmented_reduce(x, offsets, out=np.zeros(2))
    with pytest.raises(ValueError, match="indices has 3 elements, not 2"):
        algorithms.spmv(x, offsets, offsets, x)


@pytest.mark.parametrize("threads", [1, 96])
def test_checks_report_no_race(threads: int) -> None:
    x, out, size = np.ones(6 * threads), np.zeros(threads), threads * 4
    offsets = offsets_of(threads, len(x))
    starts = np.array([np.count_nonzero(offsets[1:] + range(threads) < d) for d in (0, size)])
    starts = np.append(starts, threads).astype(np.int32)
    checked, adding = (
        kernel(backend="cpu", check=True)(made.python)
        for made in (segments_kernel("cpu", threads, 4, 2), carry_kernel("cpu"))
    )
    carries = np.zeros(2)
    checked[2, threads](out, offsets, (x,), starts, carries, operator.add, np.float64(0))
    adding[1, 32](out, carries, starts, operator.add)
    np.testing.assert_array_equal(out, np.diff(offsets))


def test_kernel_for_gpus_compiles() -> None:
    x, indices = np.zeros(100, np.float32), np.zeros(100, np.int32)
    made = segments_kernel("cpu", 256, 7, 1)
    starts, carries = np.array([0, 1], np.int32), np.zeros(1, np.float32)
    offsets, one = np.array([0, 100], np.int32), np.float32(1)
    made[1, 256](x[:1].copy(), offsets, (x, indices, x), starts, carries, operator.add, one)
    assert made.attributes(arch="sm_90").local_bytes == 0
    assert nvrtc.compile(made.inspect("cuda"), made.name, "sm_90").data
