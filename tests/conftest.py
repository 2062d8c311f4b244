"""The fixture of targets, the marks of slow tests, and the option that rewrites goldens."""

from __future__ import annotations

import os
import signal
import zlib
from collections.abc import Iterator

import hypothesis
import pytest

from pycu2c.cuda_driver import driver
from pycu2c.toolchain.cache import value_store
from support.sample_types import comparison
from support.targets import TARGETS

NAMES_OF_TARGETS = ("python", "cpu", "cpu-resumable", "cuda", "nvrtc")
SAMPLED = 25  # of the cases of a parametrised test, one in so many is not slow

# A busy machine must not fail a test.
hypothesis.settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files and fail")


def pytest_configure(config: pytest.Config) -> None:
    value_store.ENABLED = False  # what is tested is compiled
    os.environ["PYCU2C_VERIFY"] = "1"
    comparison.check_launches()
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError("--update-golden is refused where CI is set: read the change first")


def pytest_report_header() -> str:
    cuda = "cuda" if driver.available() else f"no cuda: {driver.unavailable_reason()}"
    return f"targets: python, cpu, cpu-resumable, {cuda}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_slow(items)
    skip_without_gpu(items)


def mark_slow(items: list[pytest.Item]) -> None:
    """Mark most cases of each parametrised test slow, so that ``-m "not slow"`` runs a sample.

    The sample of a test is its first case on each target, and one in ``SAMPLED`` of the others. A
    hash of their ids chooses these, so that all runs have the same sample. A test marked
    ``golden`` keeps all its cases.
    """
    begun: set[tuple[str, ...]] = set()
    for item in items:
        case = getattr(item, "callspec", None)
        if case is None or item.get_closest_marker("golden"):
            continue
        test = item.nodeid.partition("[")[0]
        targets = (v for v in case.params.values() if isinstance(v, str) and v in NAMES_OF_TARGETS)
        group = (test, *targets)
        if group in begun and zlib.crc32(item.nodeid.encode()) % SAMPLED:
            item.add_marker(pytest.mark.slow)
        begun.add(group)


def skip_without_gpu(items: list[pytest.Item]) -> None:
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
def sigint_not_ignored() -> Iterator[None]:
    """Let processes that the test starts be interrupted. A shell without job control lets its
    background jobs ignore SIGINT, and their children inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def without_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine that has none."""
    monkeypatch.setattr(driver, "_probe", lambda: "there is no CUDA device")
    monkeypatch.setattr(driver, "has_multiple_devices", lambda: False)
