"""A slow compilation is reported on a terminal."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from contextlib import contextmanager

import numpy as np
import pytest

from pycu2c import kernel
from pycu2c.base.output import progress
from pycu2c.base.output.progress import reporting_slow_compilation
from pycu2c.toolchain.cc import build

NEVER = 1e6  # seconds


class Stream(io.StringIO):
    """A text stream that tells when it is flushed."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal, self.flushed = terminal, threading.Event()

    def isatty(self) -> bool:
        return self.terminal

    def flush(self) -> None:
        self.flushed.set()


@pytest.fixture(autouse=True)
def terminal_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


def test_a_slow_compilation_is_reported_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(terminal=True)
    monkeypatch.setattr("sys.stderr", stream)
    with reporting_slow_compilation(lambda: "compiling k", delay=0):
        stream.flushed.wait()
    assert stream.getvalue() == "\r\033[Kpycu2c: compiling k\r\033[K"


def test_a_line_is_not_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(terminal=True)
    monkeypatch.setattr("sys.stderr", stream)
    progress._report("k" * 100, [])
    assert stream.getvalue() == "\r\033[Kpycu2c: " + 71 * "k"


def test_a_terminal_without_escape_sequences_shows_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = Stream(terminal=True)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "dumb")
    progress._report("compiling k", [])
    assert not stream.getvalue()


def pending_timers() -> list[threading.Timer]:
    timers = [t for t in threading.enumerate() if isinstance(t, threading.Timer)]
    return [t for t in timers if not t.finished.is_set()]


def test_a_fast_compilation_is_not_reported() -> None:
    with reporting_slow_compilation(str, delay=NEVER):
        assert len(pending_timers()) == 1
    assert not pending_timers()


def test_a_failed_compilation_is_not_reported_later() -> None:
    def compile_wrong_code() -> None:
        with reporting_slow_compilation(str, delay=NEVER):
            raise SyntaxError

    with pytest.raises(SyntaxError):
        compile_wrong_code()
    assert not pending_timers()


@pytest.mark.parametrize("stream", [Stream(terminal=False), None])
def test_nothing_is_written_where_stderr_is_no_terminal(
    stream: Stream | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", stream)
    progress._report("compiling k", [])
    assert stream is None or not stream.getvalue()


def test_the_report_describes_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[str] = []

    @contextmanager
    def report_always(describe: Callable[[], str]):
        reports.append(describe())
        yield

    monkeypatch.setattr(build, "reporting_slow_compilation", report_always)

    @kernel(backend="cpu", cache=False)
    def brighten(a):
        for k in range(len(a)):
            a[k] += 1

    brighten[1, 1](np.zeros(3, np.float32))
    (report,) = reports
    assert report.startswith("compiling brighten with ")
