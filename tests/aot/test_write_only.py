"""Which arrays a kernel only stores to, found in its syntax tree."""

from __future__ import annotations

import ast

import pytest

from pycu2c.aot.write_only import write_only_arrays

ONLY_STORED = [
    "out[i] = x[i]",
    "out[i, j] = out[i, 0] = 1",
    "out[i], n = 1, 2",
    "if i < len(out):\n    out[i] = out.shape[0] + out.size",
    "height, width = out.shape\nout[0] = height",
]
READ = [
    "out[i] += 1",
    "out[i] = out[i - 1]",
    "out[i] = 1\ny = out",
    "out[i] = 1\nstore(out, i)",
    "out[i] = 1\ncuda.atomic.add(out, i, 1)",
    "row = out[i]\nrow[0] = 1",
    "out.reshape(4)[i] = 1",
    "out[i].x = 1",
    "out[out[i]] = 1",
    "for v in out:\n    out[i] = v",
    "x[i] = out[i]",
    "x[i] = len(out)",
]


@pytest.mark.parametrize("body", ONLY_STORED)
def test_arrays_that_are_only_stored_to(body: str) -> None:
    assert "out" in write_only_arrays(ast.parse(body))


@pytest.mark.parametrize("body", READ)
def test_arrays_that_are_read_or_not_stored_to(body: str) -> None:
    assert "out" not in write_only_arrays(ast.parse(body))
