"""A stretch of a file: where a part of a program stands."""

from __future__ import annotations

from pycu2c.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a file. Lines count from 1, columns from 0 and in characters, end excluded."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}"
