"""CUDA C of PyCUDA's reductions for a GPU, run on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c.cuda_driver import driver
from pycu2c.pycuda.reduction import ReductionKernel

RNG = np.random.default_rng(3)


@pytest.mark.skipif(driver.available(), reason="other tests run this text on the GPU")
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
        function = kernel._function(256)
        function(*arguments, out, count, parts, done, grid=(blocks, 1), block=(256, 1, 1))
        assert out[0] == expected
        assert done[0] == 0
