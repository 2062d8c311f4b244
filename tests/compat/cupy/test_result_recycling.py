"""Large results reuse the memory of freed results."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from pycu2c.compat.cupy import result_memory
from pycu2c.cupy import ElementwiseKernel

COUNT = 1 << 19
COPY = ElementwiseKernel("T x", "T z", "z = x", "copy")


@pytest.fixture(autouse=True)
def nothing_is_kept() -> Iterator[None]:
    yield
    result_memory._FREE_BLOCKS.clear()
    result_memory._held_bytes[0] = 0


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_referenced_results_are_not_recycled() -> None:
    first = COPY(np.full(COUNT, 1.0))
    view = first[10:20]
    second = COPY(np.full(COUNT, 2.0))
    assert address(first) != address(second)
    del first
    third = COPY(np.full(COUNT, 3.0))
    assert view.tolist() == [1.0] * 10
    assert (second[0], third[-1]) == (2, 3)


def test_memory_of_results_that_are_gone_is_used_again() -> None:
    first = COPY(np.full(COUNT, 1.0))
    place = address(first)
    del first
    second = COPY(np.full(COUNT, 2.0).reshape(2, -1))
    assert address(second) == place
    assert second.shape == (2, COUNT // 2)
    assert second.flags.c_contiguous
    assert second.flags.writeable


def test_a_part_of_memory_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_memory, "_MAX_BYTES", 8 * COUNT)
    results = [COPY(np.zeros(COUNT)) for _ in range(3)]
    del results
    assert result_memory._held_bytes == [8 * COUNT]
    assert len(result_memory._FREE_BLOCKS[8 * COUNT]) == 1


def test_small_results_are_numpys() -> None:
    assert COPY(np.zeros(4)).base is None
