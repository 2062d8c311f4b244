"""Arrays of other libraries, used where they are. Only on a machine with a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import cuda, kernel
from pycu2c.runtime import driver

pytestmark = pytest.mark.skipif(not driver.available(), reason="needs a GPU")


@kernel(backend="cuda")
def double(data, out):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = data[i] * 2


def test_cupy() -> None:
    cupy = pytest.importorskip("cupy")
    data = cupy.arange(1000, dtype=cupy.float32)
    out = cupy.zeros_like(data)
    double[8, 128](data, out)
    np.testing.assert_array_equal(out.get(), np.arange(1000, dtype=np.float32) * 2)
    double[8, 128](data[::-2], out[:500])
    np.testing.assert_array_equal(out[:500].get(), data[::-2].get() * 2)


def test_cupy_stream() -> None:
    cupy = pytest.importorskip("cupy")
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        data = cupy.arange(1 << 20, dtype=cupy.float32)
        out = cupy.zeros_like(data)
        double[1 << 12, 256, stream](data, out)
    stream.synchronize()
    np.testing.assert_array_equal(out.get(), np.arange(1 << 20, dtype=np.float32) * 2)


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    data = torch.arange(1000, dtype=torch.float32, device="cuda")
    out = torch.zeros_like(data)
    double[8, 128](data, out)
    np.testing.assert_array_equal(out.cpu().numpy(), np.arange(1000, dtype=np.float32) * 2)


def test_host_and_device_arrays_together() -> None:
    cupy = pytest.importorskip("cupy")
    data = cupy.arange(64, dtype=cupy.float32)
    out = np.zeros(64, np.float32)
    double[1, 64](data, out)
    np.testing.assert_array_equal(out, np.arange(64, dtype=np.float32) * 2)
