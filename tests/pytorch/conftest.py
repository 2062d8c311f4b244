"""Tests with PyTorch. Without it they are left out, except where CI is set: there it must exist."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import pytest

HAS_TORCH = importlib.util.find_spec("torch") is not None
collect_ignore_glob = [] if HAS_TORCH or "CI" in os.environ else ["test_*.py"]


def _devices() -> list[str]:
    if not HAS_TORCH:
        return []
    import torch

    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


@pytest.fixture(params=_devices())
def device(request: pytest.FixtureRequest) -> Any:
    """The device of the tensors. Without a GPU that PyTorch can use, only the CPU."""
    import torch

    return torch.device(request.param)
