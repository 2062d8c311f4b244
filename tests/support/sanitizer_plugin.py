"""A plugin of pytest for processes under compute-sanitizer (``sanitize.py``): takes every N-th
test, notes which has begun and in which the tool wrote something, and ends a test that hangs."""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

# the environment: "3/8" is the fourth of eight parts; a file for notes; where the tool writes
PART, NOTES, LOG = "SANITIZE_PART", "SANITIZE_NOTES", "SANITIZE_LOG"
STARTED, WRITTEN, ENDED, WHY = "started", "written", "ended", "why"  # what is recorded
OUTCOMES = "passed", "failed", "skipped"
SECONDS = float(os.environ.get("SANITIZE_SECONDS", "60"))  # for a test

_STDERR = os.dup(2)  # pytest captures the other


def recorded(notes: Path, what: str) -> list[str]:
    """The tests of which something is recorded."""
    if not notes.exists():
        return []
    rows = (line.partition(" ") for line in notes.read_text(encoding="utf-8").splitlines())
    return [test for said, _, test in rows if said == what]


def note(what: str, test: str) -> None:
    with open(os.environ[NOTES], "a", encoding="utf-8") as file:
        file.write(f"{what} {test}\n")


def _written() -> int:
    log = Path(os.environ[LOG])
    return log.stat().st_size if log.exists() else 0


@pytest.hookimpl(trylast=True)  # after pytest has left out those of other marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    part, parts = map(int, os.environ[PART].split("/"))
    earlier = set(recorded(Path(os.environ[NOTES]), STARTED))
    items[:] = [item for item in items[part::parts] if item.nodeid not in earlier]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    note(STARTED, item.nodeid)
    before = _written()
    faulthandler.dump_traceback_later(SECONDS, exit=True, file=_STDERR)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        if _written() > before:
            note(WRITTEN, item.nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or not report.passed:
        note(report.outcome, report.nodeid)
    if report.failed:
        first = getattr(report.longrepr, "reprcrash", report.longrepr)
        text = str(getattr(first, "message", first)).partition("\n")[0]
        note(WHY, f"{report.nodeid}: {text}")


def pytest_sessionfinish() -> None:
    note(ENDED, "")
