"""Tests with PyTorch, which ``make test-frameworks`` installs. Without it they are left out."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from support.frameworks import is_tested

HAS_TORCH = importlib.util.find_spec("torch") is not None
collect_ignore_glob = [] if is_tested("torch") else ["test_*.py"]
_WARNINGS_OF_PYTORCH = (
    "ignore:.*torch.jit:DeprecationWarning",
    "ignore:The CUDA Graph is empty:UserWarning",  # one that torch.compile makes itself
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for expression in _WARNINGS_OF_PYTORCH if "pytorch" in item.path.parts else ():
            item.add_marker(pytest.mark.filterwarnings(expression))


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
