"""Colours of rendered diagnostics, findings and notes, on terminals and in HTML.

The text of an exception stays plain; only code that prints to a terminal or notebook adds colours.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from pycu2c.base.output.progress import is_terminal

# of a line: what is bold, and what has a colour
_LINE = re.compile(
    r"(?P<error>(?:\w+: )?error\[[\w-]+\]:|[a-z]+-?[a-z]+: (?=thread \())"
    r"|(?P<warning>(?:warning|cost)\[[\w-]+\]:)"
    r"|(?P<place>\s*--> .*)"
    r"|(?P<hint>\s+= help:)"
    r"|(?P<gutter>\s*\d+ \| |\s+ \| )(?P<carets>\s*\^+(?: .*)?$)?"
)
_COLOURS = {  # SGR parameters of terminals, CSS
    "error": ("1;31", "color: #d33; font-weight: bold"),
    "warning": ("1;33", "color: #b80; font-weight: bold"),
    "place": ("34", "color: #48f"),
    "hint": ("1;32", "color: #293; font-weight: bold"),
    "gutter": ("34", "color: #48f"),
    "carets": ("31", "color: #d33"),
}


def uses_colour(stream: IO[Any] | None) -> bool:
    """Return whether output to a stream is coloured.

    FORCE_COLOR enables colours and NO_COLOR disables them, as in other programs. Else a terminal
    has colours, unless TERM is ``dumb``.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(stream)


def for_stream(text: str, stream: IO[Any] | None) -> str:
    """Return a message with the colours of a terminal, if the stream shows them."""
    return _in_colour(text) if uses_colour(stream) else text


def _in_colour(text: str) -> str:
    return "\n".join(
        "".join(f"\033[{_COLOURS[s][0]}m{part}\033[0m" if s else part for s, part in _parts(line))
        for line in text.split("\n")
    )


def ipython_traceback(error: BaseException) -> list[str]:
    """Return the traceback that IPython shows: the calls outside the package, then the message.

    It is coloured unless IPython has no colours.
    """
    ipython = sys.modules["IPython"]
    hidden = str(Path(ipython.__file__ or "").parent), str(Path(__file__).parents[2])
    frames = traceback.extract_tb(error.__traceback__)
    calls = [frame for frame in frames if not frame.filename.startswith(hidden)]
    text = f"{type(error).__name__}: {error}"
    has_colour = getattr(ipython.get_ipython(), "colors", "").lower() != "nocolor"
    cause = error.__cause__
    return [
        *(traceback.format_exception(cause) if cause is not None else ()),
        "Traceback (most recent call last):",
        *(line.rstrip("\n") for line in traceback.format_list(calls)),
        _in_colour(text) if has_colour else text,
    ]


def as_html(message: object) -> str:
    """Return a message as preformatted HTML with colours."""
    lines = (
        "".join(
            f'<span style="{_COLOURS[s][1]}">{_escape(part)}</span>' if s else _escape(part)
            for s, part in _parts(line)
        )
        for line in str(message).split("\n")
    )
    return f'<pre style="line-height: 1.2">{chr(10).join(lines)}</pre>'


def _parts(line: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a line with their styles; the style of plain text is empty."""
    found = _LINE.match(line)
    if found is None:
        yield "", line
        return
    yield from ((style, part) for style, part in found.groupdict().items() if part)
    yield "", line[found.end() :]


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
