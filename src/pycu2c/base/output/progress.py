"""Report a compilation that takes longer than a second, while it runs.

The report is a line on stderr if that is a terminal, which is erased at the end.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

_DELAY_SECONDS = 1.0


@contextmanager
def reporting_slow_compilation(
    describe: Callable[[], str], delay: float = _DELAY_SECONDS
) -> Iterator[None]:
    """Report ``describe()`` if the block takes longer than ``delay`` seconds."""
    printed: list[str] = []
    timer = threading.Timer(delay, lambda: _report(describe(), printed))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # it may be printing
        if printed:
            _write("")


@contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """Yield a function that replaces the last line of the terminal; the line is erased at the end.

    Without a terminal nothing is printed.
    """
    printed: list[str] = []
    try:
        yield lambda text: _report(text, printed)
    finally:
        if printed:
            _write("")


def is_terminal(stream: IO[Any] | None) -> bool:
    """Return whether a stream is a terminal that interprets escape sequences."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def _report(text: str, printed: list[str]) -> None:
    """Print a line on a terminal, and append it to ``printed``."""
    if is_terminal(sys.stderr):
        printed.append(text)
        _write(f"pycu2c: {text}")


def _write(text: str) -> None:
    """Replace the last line of the terminal by a text that is not wrapped."""
    if sys.stderr is None:
        return
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        columns = 80
    print(f"\r\033[K{text:.{max(columns - 1, 1)}}", end="", file=sys.stderr, flush=True)
