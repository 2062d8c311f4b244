"""Spans: regions of source files."""

from __future__ import annotations

from pycu2c.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A region of a file.

    Lines count from 1, columns from 0 in characters; the end is excluded.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}"
