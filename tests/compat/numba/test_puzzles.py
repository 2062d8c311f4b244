"""The exercises of ``numba_puzzles``, on every target."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from pycu2c import cuda
from support.numba_puzzles import PUZZLES


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda p: p.make.__name__)
def test_puzzle(puzzle: SimpleNamespace, target: str) -> None:
    out, *rest = puzzle.arguments
    written = out.copy()
    cuda.jit(puzzle.make(cuda), backend=target)[puzzle.grid, puzzle.block](written, *rest)
    np.testing.assert_allclose(written, puzzle.expected)


def test_as_the_program_writes_it() -> None:
    """Device arrays, a configuration, a decorator with nothing more."""
    puzzle = PUZZLES[0]
    kernel = cuda.jit(puzzle.make(cuda))
    out = cuda.to_device(puzzle.arguments[0])
    kernel[puzzle.grid, puzzle.block](out, cuda.to_device(puzzle.arguments[1]))
    np.testing.assert_allclose(out.copy_to_host(), puzzle.expected)
