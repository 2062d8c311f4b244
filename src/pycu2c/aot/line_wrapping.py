"""Wrap lists of parameters, arguments and initializers in generated C and Python."""

from __future__ import annotations

from collections.abc import Sequence

_WIDTH = 100


def wrapped(start: str, items: Sequence[str], end: str) -> str:
    """Return ``start``, the items with commas, and ``end``, in lines of at most 100 columns."""
    lines, line = [], start
    for position, item in enumerate(items):
        last = position == len(items) - 1
        text = item + (end if last else ",")
        separator = "" if line.endswith(("(", "{")) or not line.strip() else " "
        if len(line) + len(separator) + len(text) > _WIDTH and line.strip():
            lines.append(line)
            line, separator = " " * (len(start) if len(start) < _WIDTH // 2 else 8), ""
        line += separator + text
    return "\n".join((*lines, line))
