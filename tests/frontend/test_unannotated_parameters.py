"""Parameters without a type in their annotation are typed for each launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pycu2c import cuda, device, kernel


@device
def doubled(x: Any) -> Any:
    return 2 * x


@kernel
def by_class(a: np.ndarray[Any, Any], n: int) -> None:
    i = cuda.grid(1)
    if i < n:
        a[i] = doubled(a[i])


@kernel
def by_alias(a: NDArray[np.float32], n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        a[i] *= 2


@kernel
def of_the_device(a: cuda.DeviceArray, n: int) -> None:
    i = cuda.grid(1)
    if i < n:
        a[i] *= 2


@pytest.mark.parametrize("k", [by_class, by_alias, of_the_device])
def test_each_launch_has_its_types(k: Any) -> None:
    assert k.signature is None
    for dtype in (np.float32, np.int16):
        a = cuda.to_device(np.arange(5, dtype=dtype))
        k[1, 32](a, 4)
        assert a.copy_to_host().tolist() == [0, 2, 4, 6, 4]
