"""C code that replaces the body of a function, with the Python span of each line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from pycu2c.base.records import dataclass
from pycu2c.base.spans import Span

Dialect = Literal["cuda", "c"]

# regular expressions, which re compiles on first use
_NAME = r"[A-Za-z_]\w*"
_MACRO = r"(?m)^\s*#\s*define\s+(\w+)"
_NO_CODE = r"//.*|/\*[\s\S]*?\*/|\"(?:\\.|[^\"\\])*\"|(?m:^\s*#.*)"
_BRACKETS = r"\([^(){}]*\)|\{[^(){}]*\}"


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One line of C, and the span of the Python line that contains it."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class DialectCode:
    """The C code of a function in one dialect, CUDA C or C.

    ``preamble`` precedes all functions; ``files`` are linked with the code.
    """

    dialect: Dialect
    lines: tuple[CodeLine, ...]
    preamble: tuple[CodeLine, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def identifiers(self) -> frozenset[str]:
        """Return all identifiers in the body."""
        return identifiers_in(self.lines)


@dataclass(frozen=True, slots=True)
class ExternalCode:
    """The C code of a function, at most one text for each dialect.

    Other dialects use the Python body, if ``has_python_body``. A pure function returns a value that
    depends only on its arguments and on memory, and has no side effects. A cooperative one
    synchronizes the grid.
    """

    codes: tuple[DialectCode, ...]
    is_pure: bool
    has_python_body: bool
    is_cooperative: bool = False

    def code(self, dialect: str) -> DialectCode | None:
        return next((code for code in self.codes if code.dialect == dialect), None)


def identifiers_in(lines: Iterable[CodeLine]) -> frozenset[str]:
    """Return all identifiers in a text, including those in comments."""
    return frozenset(word for line in lines for word in re.findall(_NAME, line.text))


def names_defined_in(lines: Iterable[CodeLine]) -> frozenset[str]:
    """Return the names that C code may define: macros, and identifiers outside all brackets."""
    text = "\n".join(line.text for line in lines)
    macros = frozenset(re.findall(_MACRO, text))
    outermost, previous = re.sub(_NO_CODE, " ", text), ""
    while outermost != previous:
        previous, outermost = outermost, re.sub(_BRACKETS, " ", outermost)
    return macros | frozenset(re.findall(_NAME, outermost))


def length_name(array: str, ndim: int, axis: int) -> str:
    """Return the C name of the length of an axis of an array parameter."""
    return f"{array}_len" if ndim == 1 else f"{array}_shape{axis}"


def stride_name(array: str, axis: int) -> str:
    """Return the C name of the stride of an axis, in elements."""
    return f"{array}_stride{axis}"
