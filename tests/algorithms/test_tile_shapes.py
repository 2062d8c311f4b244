"""The tiles for GPUs fit in shared memory, whatever the dtypes are."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from pycu2c import device
from pycu2c.algorithms import radix_sort, scans, segments, selections
from pycu2c.algorithms.placement import CallPlacement
from pycu2c.algorithms.words import words_per_value
from support.asynchronous import types_of

ON_GPU = CallPlacement(0, "cuda", False, 0)
DTYPES = ["i1", "i2", "f2", "f4", "f8", "c16"]


@device
def is_number(x: Any) -> Any:
    return x == x


@device
def sums(a: Any, b: Any) -> Any:
    return tuple(x + y for x, y in zip(a, b))


def zeros(*shape: int, dtype: Any = np.int32) -> np.ndarray[Any, Any]:
    return np.zeros(shape, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_selections(dtype: str) -> None:
    x = zeros(9, dtype=dtype)
    shape = ON_GPU.tile_shape(selections._ON_GPU, x.dtype.itemsize)
    made = selections.select_kernel("cuda", *shape, keeps_others=True)
    arguments = x, zeros(1), x, is_number, zeros(9, 1, dtype="u8")
    assert "__shared__" in made.inspect("cuda", types_of(*arguments))


@pytest.mark.parametrize("dtype", DTYPES)
def test_segments(dtype: str) -> None:
    x = zeros(9, dtype=dtype)
    shape = ON_GPU.tile_shape(segments._ON_GPU, max(x.dtype.itemsize, 4))
    made = segments.segments_kernel("cuda", *shape, words_per_value([x]))
    arguments = x, zeros(9), (x,), zeros(9), x, operator.add, x.dtype.type(0)
    assert "__shared__" in made.inspect("cuda", types_of(*arguments))


@pytest.mark.parametrize("dtypes", [["i2"], ["f8"], ["f4"] * 3, ["f8"] * 4], ids=str)
def test_scans(dtypes: list[str]) -> None:
    x = tuple(zeros(9, dtype=dtype) for dtype in dtypes)
    shape = ON_GPU.tile_shape(scans._ON_GPU, sum(a.dtype.itemsize for a in x))
    made = scans.scan_kernel("cuda", *shape, exclusive=False)
    states = zeros(9, words_per_value(x), dtype="u8")
    op = operator.add if len(x) == 1 else sums
    assert "__shared__" in made.inspect("cuda", types_of(x, x, states, op, None))


@pytest.mark.parametrize(
    ("key", "value"), [("i1", None), ("i2", "i1"), ("u4", "c16"), ("f8", "f4")]
)
def test_sorts(key: str, value: str | None) -> None:
    keys, values = zeros(9, dtype=key), None if value is None else zeros(9, dtype=value)
    size = max(4, keys.dtype.itemsize, 0 if values is None else values.dtype.itemsize)
    shape = ON_GPU.tile_shape(radix_sort._ON_GPU, size)
    made = radix_sort.sort_kernel("cuda", *shape, size, descending=False)
    counts, states = zeros(256, dtype=np.uint32), zeros(9, 256, dtype=np.uint32)
    arguments = keys, values, keys, values, counts, states, 0, np.int32(255)
    assert "__shared__" in made.inspect("cuda", types_of(*arguments))
