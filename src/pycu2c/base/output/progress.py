"""Show the progress of a search as a line on stderr, if that is a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any


@contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """Yield a function that replaces the last line of the terminal; the line is erased at the end.

    Without a terminal nothing is printed.
    """
    if not is_terminal(sys.stderr):
        yield lambda _: None
        return
    try:
        yield lambda text: _write(f"pycu2c: {text}")
    finally:
        _write("")


def is_terminal(stream: IO[Any] | None) -> bool:
    """Return whether a stream is a terminal that interprets escape sequences."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def _write(text: str) -> None:
    """Replace the last line of the terminal by a text that is not wrapped."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        columns = 80
    print(f"\r\033[K{text:.{max(columns - 1, 1)}}", end="", file=sys.stderr, flush=True)
