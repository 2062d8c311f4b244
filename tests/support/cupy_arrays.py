"""Arrays where kernels of CuPy's kind run: numpy's for the CPU, the package's own for a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import cuda
from pycu2c.cuda_driver import driver

PLACES = [
    "cpu",
    *([pytest.param("cuda", marks=pytest.mark.gpu)] if driver.available() else []),
]


def there(place: str, value: Any) -> Any:
    """An array at a place, with its strides; a number as it is."""
    if place == "cpu" or not isinstance(value, np.ndarray):
        return value
    base = value if value.base is None else value.base
    if not isinstance(base, np.ndarray) or value.size == 0:
        return cuda.to_device(value)
    whole = cuda.to_device(base)
    start = value.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    address = whole.address + start
    return type(whole)(whole._memory, address, value.shape, value.strides, value.dtype)


def here(value: Any) -> Any:
    """What a kernel gave, as numpy's."""
    if isinstance(value, tuple):
        return tuple(map(here, value))
    return value if isinstance(value, np.ndarray) else value.copy_to_host()
