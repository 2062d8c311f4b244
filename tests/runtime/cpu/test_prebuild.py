"""What all kernels share is got ready while the first of them is compiled, and not at its cost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pycu2c import kernel
from pycu2c.base.diagnostics import CompileError
from pycu2c.runtime.cpu import prebuild
from pycu2c.toolchain.cc import cc


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What has been done, in a process that has compiled nothing yet."""
    done: list[str] = []
    monkeypatch.setattr(prebuild, "_FIRST", threading.Lock())
    monkeypatch.setattr(prebuild, "_STARTED", [])
    monkeypatch.setattr(cc, "compile", lambda *_: done.append("compiled"))
    yield done
    finish()


def finish() -> None:
    for thread in prebuild._STARTED:
        thread.join(60)
        assert not thread.is_alive()


def test_a_kernel_that_is_not_compiled_prepares_the_next(loaded: list[str]) -> None:
    @kernel(backend="cpu", block=1)
    def k(x):
        x[0] = "text"

    with pytest.raises(CompileError):
        k[1, 1](1.0)
    finish()
    assert loaded == ["compiled"]


class Slow(threading.Thread):
    """So slow to be made that all who begin at once are at it."""

    def __init__(self, *rest: Any, **named: Any) -> None:
        super().__init__(*rest, **named)
        time.sleep(0.02)


def test_threads_begin_at_once(loaded: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[BaseException] = []
    start = threading.Barrier(4)

    def begin() -> None:
        start.wait()
        try:
            prebuild.begin()
        except RuntimeError as error:
            failed.append(error)

    threads = [threading.Thread(target=begin) for _ in range(4)]
    monkeypatch.setattr(threading, "Thread", Slow)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    finish()
    assert not failed
    assert loaded == ["compiled"]
