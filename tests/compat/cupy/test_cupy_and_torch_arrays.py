"""CuPy and PyTorch arrays in CuPy's kernels: results are of the same package. On a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import cuda
from pycu2c.cupy import ElementwiseKernel, ReductionKernel

pytestmark = pytest.mark.gpu
AXPY = ElementwiseKernel("T x, T y, T a", "T z", "z = a * x + y", "axpy")
NORM = ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
X = np.arange(6000, dtype=np.float32).reshape(60, 100)


@pytest.fixture
def cupy() -> Any:
    return pytest.importorskip("cupy")


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


def test_cupys_arrays(cupy: Any) -> None:
    x = cupy.asarray(X)
    for _ in range(5):  # the last ones are quick
        for arguments in (x, x.T, x[::2, ::-3], x[5], x[3, 4]):
            result = AXPY(arguments, 1, 2)
            assert isinstance(result, cupy.ndarray)
            np.testing.assert_array_equal(result.get(), arguments.get() * 2 + 1)
            out = cupy.zeros_like(arguments)
            assert AXPY(arguments, arguments, 2, out) is out
            np.testing.assert_array_equal(out.get(), arguments.get() * 3)
        for axis in (None, 0, 1):
            results = NORM(x, axis=axis)
            assert isinstance(results, cupy.ndarray)
            np.testing.assert_allclose(results.get(), np.linalg.norm(X, axis=axis), rtol=1e-5)


def test_the_same_as_cupys_kernels(cupy: Any) -> None:
    words = ("T x, raw T y", "T z", "z = x * y[i % 7] + _ind.size()", "mixed")
    theirs, ours = cupy.ElementwiseKernel(*words), ElementwiseKernel(*words)
    x = cupy.asarray(X)[:, ::2]
    np.testing.assert_array_equal(ours(x, x).get(), theirs(x, x).get())
    mean = ("T x", "float64 y", "x", "a + b", "y = a / (_in_ind.size() / _out_ind.size())", "0")
    theirs, ours = cupy.ReductionKernel(*mean), ReductionKernel(*mean)
    for axis in (None, 0, 1):
        expected = theirs(x, axis=axis, keepdims=True).get()
        np.testing.assert_allclose(ours(x, axis=axis, keepdims=True).get(), expected)


def test_cupys_streams(cupy: Any) -> None:
    for _ in range(5):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            x = cupy.asarray(X) + 1
            result = AXPY(x, x, 2) - x
            total = NORM(result)
            np.testing.assert_array_equal(result.get(), (X + 1) * 2)
            np.testing.assert_allclose(total.get(), np.linalg.norm((X + 1) * 2), rtol=1e-5)


def test_pytorchs_tensors(torch: Any) -> None:
    x = torch.from_numpy(X).cuda()
    for _ in range(5):
        for arguments in (x, x.T, x[::2], x[3, 4]):
            result = AXPY(arguments, arguments, 2)
            assert isinstance(result, torch.Tensor)
            assert result.is_cuda
            np.testing.assert_array_equal(result.cpu().numpy(), arguments.cpu().numpy() * 3)
        np.testing.assert_allclose(
            NORM(x, axis=1).cpu().numpy(), np.linalg.norm(X, axis=1), rtol=1e-5
        )


def test_large_reductions_by_every_axis() -> None:
    x = np.random.default_rng(0).integers(-4, 5, (4096, 3001)).astype(np.float32)
    there = cuda.to_device(x)
    total = ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    for axis in (None, 0, 1):
        first = total(there, axis=axis).copy_to_host()
        np.testing.assert_array_equal(first, x.sum(axis=axis))
        for _ in range(5):
            np.testing.assert_array_equal(total(there, axis=axis).copy_to_host(), first)
    flat = there.reshape(-1)
    for start in range(4):  # loads of several elements begin where memory lets them
        part = total(flat[start:]).copy_to_host()
        np.testing.assert_array_equal(part, x.reshape(-1)[start:].sum())
