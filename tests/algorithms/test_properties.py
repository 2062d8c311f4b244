"""Properties of the algorithms on the CPU, beside NumPy, for arrays of any size and content."""

from __future__ import annotations

import itertools
from typing import Any

import hypothesis.extra.numpy as nst
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pycu2c import algorithms
from pycu2c.algorithms import placement

some = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
sizes = st.integers(0, 700)
vectors = st.sampled_from([np.uint8, np.float64]).flatmap(
    lambda dtype: nst.arrays(dtype, sizes, elements={"min_value": 0, "max_value": 200})
)
equal = np.testing.assert_array_equal


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCU2C_BACKEND", "cpu")
    monkeypatch.setattr(placement, "CPU_TILE_BYTES", 256)


def is_even(x: Any) -> Any:
    return int(x) % 2 == 0


@some
@given(x=vectors)
def test_scans(x: Any) -> None:
    equal(algorithms.inclusive_scan(x, max), np.maximum.accumulate(x))
    with np.errstate(over="ignore"):
        shifted = np.append(x.dtype.type(3), x)
        equal(algorithms.exclusive_scan(x, max, 3), np.maximum.accumulate(shifted)[:-1])
        if x.dtype != np.float64:  # whose sums depend on the order
            equal(algorithms.inclusive_scan(x), np.cumsum(x, dtype=x.dtype))
            assert algorithms.reduce(x, initial=0) == x.sum(dtype=x.dtype)


@some
@given(x=vectors)
def test_selections(x: Any) -> None:
    even = x.astype(int) % 2 == 0
    equal(algorithms.select(x, is_even), x[even])
    parts, count = algorithms.partition(x, even)
    equal(parts, np.append(x[even], x[~even][::-1]))
    assert count[0] == even.sum()


@some
@given(x=vectors, descending=st.booleans())
def test_sorts(x: Any, descending: bool) -> None:
    order = np.argsort(-x.astype(float) if descending else x, kind="stable")
    keys, moved = algorithms.sort_by_key(x, np.arange(len(x), dtype=np.int32), descending)
    equal(keys, x[order])
    equal(moved, order)


@some
@given(x=vectors, fractions=st.lists(st.floats(0, 1), max_size=400))
def test_segments(x: Any, fractions: list[float]) -> None:
    ends = np.sort(np.array(fractions) * len(x)).astype(np.int32)
    offsets = np.concatenate([[0], ends, [len(x)]]).astype(np.int32)
    expected = [x[a:b].max(initial=0) for a, b in itertools.pairwise(offsets)]
    equal(algorithms.segmented_reduce(x, offsets, max), expected)


@some
@given(x=vectors)
def test_histograms(x: Any) -> None:
    values = x.astype(np.int16)
    equal(algorithms.histogram(values, 150), np.bincount(values, minlength=150)[:150])


@some
@given(x=nst.arrays(np.int32, nst.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=70)))
def test_transpositions_are_inverse(x: Any) -> None:
    equal(algorithms.transpose(algorithms.transpose(x)), x)
    equal(algorithms.transpose(x), x.T)
