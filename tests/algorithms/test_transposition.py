"""``transpose``, compared with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from algorithms.conftest import to_host
from pycu2c import algorithms

OnTarget = Callable[[Any], Any]


@pytest.mark.parametrize("shape", [(1, 1), (33, 65), (64, 7), (0, 3)])
@pytest.mark.parametrize("dtype", [np.int8, np.complex128])
def test_transposition(on_target: OnTarget, shape: tuple[int, int], dtype: Any) -> None:
    x = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
    a = on_target(x)
    np.testing.assert_array_equal(to_host(algorithms.transpose(a)), x.T)
    if shape[0]:
        np.testing.assert_array_equal(to_host(algorithms.transpose(a[::-1, ::2])), x[::-1, ::2].T)
    out = on_target(np.zeros(shape[::-1], np.float64 if dtype is np.int8 else dtype))
    assert algorithms.transpose(a, out) is out
    np.testing.assert_array_equal(to_host(out), x.T)


def test_wrong_shapes() -> None:
    with pytest.raises(ValueError, match="two axes, not 1"):
        algorithms.transpose(np.zeros(3))
    with pytest.raises(ValueError, match=r"\(2, 3\), not \(3, 2\)"):
        algorithms.transpose(np.zeros((3, 2)), np.zeros((3, 2)))
