"""Kernels in notebooks, with errors in cells: in IPython, and in Jupyter's kernel by nbclient."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.notebooks import RUNNERS

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("run_cells", RUNNERS)]

KERNELS = """
import numpy as np
from pycu2c import cuda, device, kernel
from pycu2c.cupy import jit

@device
def step(x):
    return x * 2

@kernel(backend="cpu")
def k(out):
    i = cuda.grid(1)
    for x in (1, 2.5):
        out[i] += step(x)
"""
LATER_KERNELS = """
@cuda.jit(device=True)
def positive(x):
    x + 1
    if x > 0:
        return x

@cuda.jit
def of_numba(out):
    out[cuda.grid(1)] = positive(2.5)

@jit.rawkernel()
def of_cupy(out):
    for _ in jit.range(3, unroll=True):
        out[jit.threadIdx.x] -= 1
"""
LAUNCH = "out = np.zeros(2); k[1, 2](out); print(out)"
ERRORS = [
    "1 / 0",
    "np.linalg.inv(np.zeros(3))",  # the traceback has lines of a long file
    "k(",
    "k[1](out)",
    "k[1, 2]('text')",
    "@kernel\ndef wrong(out):\n    out[0] = unknown\nwrong[1, 1](np.zeros(1))",
]
NAMES = [
    "ZeroDivisionError",
    "LinAlgError",
    "SyntaxError",
    "LaunchError",
    "CompileError",
    "CompileError",
]

Cells = Callable[..., list[str]]


def test_launches_after_errors(run_cells: Cells) -> None:
    """The first launch with new types, and later ones, also of kernels defined after the errors."""
    launches = [LAUNCH, "k[1, 2](out := np.zeros(2, np.float32)); print(out)"]
    later = [f"{name}[1, 2](out := np.zeros(2)); print(out)" for name in ("of_numba", "of_cupy")]
    cells = [KERNELS, *ERRORS, *launches, *ERRORS, LATER_KERNELS, *launches, *later]
    _, *printed = run_cells(*cells)
    errors, results = printed[:6] + printed[8:14], printed[6:8] + printed[15:]
    for name, text in zip(NAMES + NAMES, errors):
        assert name in text
    assert results == ["[7. 7.]\n"] * 4 + ["[2.5 2.5]\n", "[-3. -3.]\n"]
