"""CUDA C of PyCUDA's reductions and scans, run on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c.compat.cuda_text.module import TextModule
from pycu2c.compat.pycuda.kernels import element_loops
from pycu2c.pycuda.reduction import ReductionKernel
from pycu2c.pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel

RNG = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(element_loops, "on_gpu", lambda: True)
    monkeypatch.setattr(element_loops, "_BLOCKS_PER_MULTIPROCESSOR", 1)


def launch(text: str, name: str, blocks: int, *arguments: Any) -> None:
    TextModule(text, backend="cpu").function(name).launch((blocks, 1, 1), (256, 1, 1), arguments)


@pytest.mark.parametrize("blocks", [1, 2, 5])
@pytest.mark.parametrize("count", [1, 255, 4001])
def test_reductions(blocks: int, count: int) -> None:
    x = RNG.integers(0, 100, count).astype(np.int32)
    products = ReductionKernel(np.int64, "0", "a+b", "x[i]*y[i]", "int *x, int *y")
    most = ReductionKernel(np.int32, "-1", "a > b ? a : b", "x[i]", "int *x")
    for kernel, arguments, expected in (
        (products, (x, x[::-1].copy()), int(x.astype(int) @ x[::-1])),
        (most, (x,), x.max()),
    ):
        out, done = np.zeros(1, kernel.dtype_out), np.zeros(1, np.uint32)
        parts = np.zeros(blocks, kernel.dtype_out)
        launch(kernel.text(), kernel.name, blocks, out, *arguments, np.int64(count), parts, done)
        assert out[0] == expected
        assert done[0] == 0


def scanned(kernel: Any, x: np.ndarray, *, in_place: bool = False) -> np.ndarray:
    piece, blocks = kernel._partition(x.size)
    totals, out = np.zeros(blocks, x.dtype), x if in_place else np.zeros_like(x)
    arguments = x, np.int64(x.size), np.int64(piece), totals
    if blocks > 1:
        launch(kernel.text(), f"{kernel.name}_totals", blocks, *arguments)
    launch(kernel.text(), f"{kernel.name}_update", blocks, *arguments, out)
    return out


@pytest.mark.parametrize("count", [1, 9, 256, 2303, 2304, 2305, 12_345, 50_000])
def test_sums_and_maxima(count: int) -> None:
    x = RNG.integers(0, 10, count).astype(np.int32)
    sums = np.cumsum(x, dtype=np.int32)
    np.testing.assert_array_equal(scanned(InclusiveScanKernel(np.int32, "a+b"), x), sums)
    np.testing.assert_array_equal(
        scanned(ExclusiveScanKernel(np.int32, "a+b", "7"), x), sums - x + 7
    )
    most = InclusiveScanKernel(np.float64, "a > b ? a : b")
    y = RNG.random(count)
    np.testing.assert_array_equal(scanned(most, y), np.maximum.accumulate(y))
    np.testing.assert_array_equal(
        scanned(InclusiveScanKernel(np.int32, "a+b"), x, in_place=True), sums
    )


@pytest.mark.parametrize("count", [100, 7000])
def test_the_order_is_kept(count: int) -> None:
    """The last of any two."""
    x = RNG.integers(0, 100, count).astype(np.int32)
    last = InclusiveScanKernel(np.int32, "b ? b : a")
    expected, kept = [], 0
    for value in x:
        kept = value or kept
        expected.append(kept)
    assert scanned(last, x).tolist() == expected


def test_small_and_wide_elements() -> None:
    x = RNG.integers(0, 3, 6000)
    for dtype in (np.uint8, np.int16, np.float64):
        arguments = x.astype(dtype)
        result = scanned(InclusiveScanKernel(dtype, "a+b"), arguments)
        np.testing.assert_array_equal(result, np.cumsum(arguments, dtype=dtype))
