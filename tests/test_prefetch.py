"""ask_early: blocks that walk over data in steps of the grid ask for what they read next."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from launching import run
from pycu2c import cuda, float32, float64, int32, kernel, uint8


@kernel(block=(32,))
def scaled(out, x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = 2 * x[i]


@kernel(block=(32,))
def counted(out, x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(out, int(x[i]) % 4, 1)


@kernel(block=(32,))
def by_block(out, x):
    """What follows is next to it: processors foresee that."""
    for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):
        out[i] = 2 * x[i]


@kernel(block=(32,))
def elsewhere(out, x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = 2 * x[x.size - 1 - i]


def asked(made: Any, element: Any) -> list[str]:
    text = made.inspect("c", (element[::1], element[::1]))
    return [line.strip() for line in text.splitlines() if line.strip().startswith("prefetch_")]


@pytest.mark.parametrize("element", [uint8, int32, float32, float64])
def test_what_comes_next_is_asked_for(element: Any) -> None:
    (line,) = asked(scaled, element)
    assert "(&x[i_first + gridDim.x * 32], 32" in line


def test_only_before_the_last_step() -> None:
    text = counted.inspect("c", (int32[::1], int32[::1]))
    assert "if (i_first + gridDim.x * 32 < x_len) {" in text


@pytest.mark.parametrize("made", [by_block, elsewhere])
def test_other_loops_ask_nothing(made: Any) -> None:
    assert not asked(made, float32)


@pytest.mark.parametrize("size", [1, 64, 65, 1000])
@pytest.mark.parametrize("made", [scaled, counted, by_block, elsewhere])
def test_results_stay(made: Any, size: int, target: str) -> None:
    arguments = (np.zeros(max(size, 4), np.int32), np.arange(size, dtype=np.int32))
    blocks = 1 if made is by_block else 2
    expected = run(made, (blocks, 32), arguments, "python")[0]
    assert np.array_equal(run(made, (blocks, 32), arguments, target)[0], expected)
