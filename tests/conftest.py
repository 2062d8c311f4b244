"""Targets as a fixture, and the option that rewrites goldens."""

from __future__ import annotations

import os

import pytest

from pycu2c.cuda_driver import driver
from pycu2c.toolchain.cache import value_store

ON_GPU = [pytest.param("cuda", marks=pytest.mark.gpu)] if driver.available() else []
TARGETS = ["python", "cpu", "cpu-resumable", *ON_GPU]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files and fail")


def pytest_configure(config: pytest.Config) -> None:
    value_store.ENABLED = False  # what is tested is compiled
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError("--update-golden is refused where CI is set: read the change first")


def pytest_report_header() -> str:
    cuda = "cuda" if driver.available() else f"no cuda: {driver.unavailable_reason()}"
    return f"targets: python, cpu, cpu-resumable, {cuda}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if driver.available():
        return
    skipped = pytest.mark.skip(reason="needs a GPU")
    for item in items:
        marker = item.get_closest_marker("gpu")
        if marker and not marker.kwargs.get("optional"):
            item.add_marker(skipped)


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest) -> str:
    """The backend that a behaviour is tested on."""
    return str(request.param)


@pytest.fixture
def without_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine that has none."""
    monkeypatch.setattr(driver, "_probe", lambda: "there is no CUDA device")
    monkeypatch.setattr(driver, "has_multiple_devices", lambda: False)
