"""HTML that notebooks show in place of ``repr()``: tables of properties, of values, and bars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from pycu2c.base.records import field_names

_CELL = "padding: 0.1em 0.6em; text-align: right"
_BAR = "display: inline-block; width: 10em; background: #8884; vertical-align: middle"


class Markup(str):
    """Text that is HTML already; other text is escaped."""

    __slots__ = ()


def properties(title: str, values: Mapping[str, object]) -> Markup:
    """Return a table with a title, and a name and a value in each row."""
    rows = (
        f'<tr><th style="text-align: left">{escape(name)}</th>'
        f'<td style="text-align: left">{_html(value)}</td></tr>'
        for name, value in values.items()
    )
    return _table(title, rows)


def attributes(value: object) -> Markup:
    """Return the table of the fields of a dataclass."""
    fields = {name.replace("_", " "): getattr(value, name) for name in field_names(type(value))}
    return properties(type(value).__name__, fields)


def grid(rows: Iterable[Sequence[object]]) -> Markup:
    """Return a table of values."""
    cells = ("".join(f'<td style="{_CELL}">{_html(value)}</td>' for value in row) for row in rows)
    return _table("", (f"<tr>{row}</tr>" for row in cells))


def bar(part: int, total: int, text: str) -> Markup:
    """Return a bar that shows a part of a total, and a text."""
    percent = 100 * part / total if total else 0
    return Markup(
        f'<span style="{_BAR}"><span style="display: block; height: 0.8em; background: #76b900; '
        f'width: {percent:.0f}%"></span></span> {escape(text)}'
    )


def _table(title: str, rows: Iterable[str]) -> Markup:
    caption = f'<caption style="text-align: left">{escape(title)}</caption>' if title else ""
    return Markup(f"<table>{caption}{''.join(rows)}</table>")


def _html(value: object) -> str:
    return value if isinstance(value, Markup) else escape(str(value))
