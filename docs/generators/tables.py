"""Cells of Markdown tables."""

from __future__ import annotations


def cell(text: str) -> str:
    """Return text escaped for a table cell."""
    return text.replace("|", "\\|")


def code(body: str) -> str:
    """Return code as the text of a table cell that keeps its lines and indentation."""
    lines = [line.replace("|", "\\|") for line in body.rstrip().splitlines()]
    indents = ["&nbsp;" * (len(line) - len(line.lstrip())) for line in lines]
    return "<br>".join(f"{space}`{line.strip()}`" for space, line in zip(indents, lines))
