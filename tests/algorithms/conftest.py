"""Run the algorithms on each target, with different shapes of tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pycu2c import cuda
from pycu2c.algorithms import placement

# threads of a block, and bytes of a tile: as on the CPU, and as on a GPU, but small
SHAPES = [(1, 256), (96, 1536)]


@pytest.fixture
def on_target(target: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    """Return a function that returns an array for kernels of the target."""
    if target == "cuda":
        return cuda.to_device
    monkeypatch.setenv("PYCU2C_BACKEND", target)
    return lambda array: array


@pytest.fixture(params=SHAPES, ids=str)
def tiles(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Set the shape of tiles of the CPU."""
    monkeypatch.setattr(placement, "CPU_THREADS", request.param[0])
    monkeypatch.setattr(placement, "CPU_TILE_BYTES", request.param[1])
    return request.param


def to_host(value: Any) -> Any:
    """Return a result as a NumPy array or a number."""
    return value.copy_to_host()[()] if isinstance(value, cuda.DeviceArray) else value
