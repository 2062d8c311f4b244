"""The progress of a search is a line on a terminal."""

from __future__ import annotations

import io

import pytest

from pycu2c.base.output.progress import progress_line


class Stream(io.StringIO):
    """A text stream that may be a terminal."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def shown(
    stream: Stream | None, text: str, monkeypatch: pytest.MonkeyPatch, terminal: str = "xterm"
) -> str:
    """Return what a line of progress writes to stderr."""
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", terminal)
    with progress_line() as show:
        show(text)
    return stream.getvalue() if stream else ""


def test_a_line_is_erased_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(Stream(terminal=True), "tune k", monkeypatch)
    assert text == "\r\033[Kpycu2c: tune k\r\033[K"


def test_a_line_is_not_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(Stream(terminal=True), "k" * 100, monkeypatch)
    assert text == "\r\033[Kpycu2c: " + 71 * "k" + "\r\033[K"


@pytest.mark.parametrize("stream", [Stream(terminal=False), None])
def test_nothing_is_written_where_stderr_is_no_terminal(
    stream: Stream | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not shown(stream, "tune k", monkeypatch)


def test_a_terminal_without_escape_sequences_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not shown(Stream(terminal=True), "tune k", monkeypatch, "dumb")
