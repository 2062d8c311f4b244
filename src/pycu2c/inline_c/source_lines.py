"""Split texts in decorator arguments into lines with their source spans in the Python file."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from pycu2c.base.external_code import CodeLine
from pycu2c.base.source import Source
from pycu2c.base.spans import Span


def lines_of(text: str, source: Source) -> tuple[CodeLine, ...]:
    """Return the lines of a text, dedented."""
    literal = next(_literals(source, text), None)
    raw = text.splitlines()
    first = next((i for i, line in enumerate(raw) if line.strip()), len(raw))
    dedented = textwrap.dedent("\n".join(_normalized(raw[first:]))).splitlines()
    numbered = enumerate(dedented, first)
    return tuple(CodeLine(line, _span(source, literal, text, i)) for i, line in numbered)


def _normalized(lines: list[str]) -> list[str]:
    """Return the lines without trailing empty ones; indent a first line that follows the quotes."""
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    if indents and not lines[0][:1].isspace():
        return [" " * min(indents) + lines[0], *lines[1:]]
    return lines


def _literals(source: Source, text: str) -> Iterator[ast.Constant]:
    """Yield the string literals in the decorators that equal a text."""
    for decorator in source.tree.decorator_list:
        for node in ast.walk(decorator):
            if isinstance(node, ast.Constant) and node.value == text:
                yield node


def _span(source: Source, literal: ast.Constant | None, text: str, index: int) -> Span:
    """Return the span of a line; that of the decorator if the text is not a literal in it."""
    if literal is None:
        return source.span(next(iter(source.tree.decorator_list), source.tree))
    whole = source.span(literal)
    if whole.end_line - whole.line != text.count("\n"):  # concatenated literals, or escapes
        return whole
    line = whole.line + index
    source_line, expected = source.lines[line - 1], text.splitlines()[index].strip()
    column = source_line.find(expected) if expected else 0
    if column < 0:
        return whole
    return Span(source.file, line, column, line, column + max(len(expected), 1))
