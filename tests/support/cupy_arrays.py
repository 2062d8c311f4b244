"""Arrays for CuPy's kernels: numpy's for the CPU, device arrays for a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import cuda
from pycu2c.cuda_driver import driver

BACKENDS = [
    "cpu",
    *([pytest.param("cuda", marks=pytest.mark.gpu)] if driver.available() else []),
]


def on_backend(backend: str, value: Any) -> Any:
    """Return a numpy array as an array of a backend, with its strides; return a number as is."""
    if backend == "cpu" or not isinstance(value, np.ndarray):
        return value
    base = value if value.base is None else value.base
    if not isinstance(base, np.ndarray) or value.size == 0:
        return cuda.to_device(value)
    whole = cuda.to_device(base)
    start = value.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    address = whole.address + start
    return type(whole)(whole._memory, address, value.shape, value.strides, value.dtype)


def to_numpy(value: Any) -> Any:
    """Return results of a kernel as numpy arrays."""
    if isinstance(value, tuple):
        return tuple(map(to_numpy, value))
    return value if isinstance(value, np.ndarray) else value.copy_to_host()
