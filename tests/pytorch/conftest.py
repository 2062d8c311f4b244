"""Tests with PyTorch. Without it they are left out, except where CI is set: there it must exist."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import pytest

HAS_TORCH = importlib.util.find_spec("torch") is not None
collect_ignore_glob = [] if HAS_TORCH or "CI" in os.environ else ["test_*.py"]


def _gpus() -> list[str]:
    if not HAS_TORCH:
        return []
    import torch

    return [f"cuda:{i}" for i in range(torch.cuda.device_count())]


def _device_fixture(names: list[str]) -> Any:
    """Return a fixture of devices; tests of one without devices are skipped."""

    @pytest.fixture(params=names)
    def fixture(request: pytest.FixtureRequest) -> Any:
        import torch

        return torch.device(request.param)

    return fixture


device = _device_fixture(["cpu", *_gpus()[:1]])
gpu = _device_fixture(_gpus()[:1])
second_gpu = _device_fixture(_gpus()[1:2])
