"""Texts that decorators are given, line by line, with the places in Python where they stand."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from pycu2c.base.external_code import CodeLine
from pycu2c.base.source import Source
from pycu2c.base.spans import Span


def lines_of(text: str, source: Source) -> tuple[CodeLine, ...]:
    """The lines of a text, with no more indentation than they have among themselves."""
    literal = next(_literals(source, text), None)
    raw = text.splitlines()
    first = next((i for i, line in enumerate(raw) if line.strip()), len(raw))
    shown = textwrap.dedent("\n".join(_with_tail(raw[first:]))).splitlines()
    numbered = enumerate(shown, first)
    return tuple(CodeLine(line, _span(source, literal, text, i)) for i, line in numbered)


def _with_tail(lines: list[str]) -> list[str]:
    """Without empty lines at the end. The first may stand behind the quotes, and the others be
    indented: then it is like the least of them."""
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    rest = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    if rest and not lines[0][:1].isspace():
        return [" " * min(rest) + lines[0], *lines[1:]]
    return lines


def _literals(source: Source, text: str) -> Iterator[ast.Constant]:
    """Where the decorators of a function have a text."""
    for decorator in source.tree.decorator_list:
        for node in ast.walk(decorator):
            if isinstance(node, ast.Constant) and node.value == text:
                yield node


def _span(source: Source, literal: ast.Constant | None, text: str, number: int) -> Span:
    """The place of a line. A text that is written elsewhere has that of the decorator."""
    if literal is None:
        return source.span(next(iter(source.tree.decorator_list), source.tree))
    whole = source.span(literal)
    if whole.end_line - whole.line != text.count("\n"):  # of several literals, or with escapes
        return whole
    line = whole.line + number
    python, wanted = source.lines[line - 1], text.splitlines()[number].strip()
    column = python.find(wanted) if wanted else 0
    if column < 0:
        return whole
    return Span(source.file, line, column, line, column + max(len(wanted), 1))
