"""A user's own C in the place of a function's body: texts, and where in Python they stand. Knows no
compiler and no syntax of C."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from pycu2c.base.records import dataclass
from pycu2c.base.spans import Span

Dialect = Literal["cuda", "c"]

# patterns, compiled where there is some C
_NAME = r"[A-Za-z_]\w*"
_MACRO = r"(?m)^\s*#\s*define\s+(\w+)"
_NO_CODE = r"//.*|/\*[\s\S]*?\*/|\"(?:\\.|[^\"\\])*\"|(?m:^\s*#.*)"
_BRACKETS = r"\([^(){}]*\)|\{[^(){}]*\}"


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One line of C, and the line of Python that it was written in."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class InlineCode:
    """What a function is in one dialect. ``preamble`` stands outside of functions, before all
    of them; ``files`` are what has to be linked with it."""

    dialect: Dialect
    lines: tuple[CodeLine, ...]
    preamble: tuple[CodeLine, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def words(self) -> frozenset[str]:
        """All names in the body."""
        return identifiers_in(self.lines)


@dataclass(frozen=True, slots=True)
class ExternalCode:
    """The codes of a function, at most one for each dialect; in others it is its Python body, if
    it ``has_python_body``. ``is_pure``: it gives a value of its arguments and of memory, and does nothing
    else."""

    codes: tuple[InlineCode, ...]
    is_pure: bool
    has_python_body: bool

    def code(self, dialect: str) -> InlineCode | None:
        return next((code for code in self.codes if code.dialect == dialect), None)


def identifiers_in(lines: Iterable[CodeLine]) -> frozenset[str]:
    """All names in a text, those in comments included."""
    return frozenset(word for line in lines for word in re.findall(_NAME, line.text))


def names_defined_in(lines: Iterable[CodeLine]) -> frozenset[str]:
    """The names that C may define for what comes after it: macros, and all that stands in no
    brackets."""
    text = "\n".join(line.text for line in lines)
    macros = frozenset(re.findall(_MACRO, text))
    outside, inner = re.sub(_NO_CODE, " ", text), ""
    while outside != inner:
        inner, outside = outside, re.sub(_BRACKETS, " ", outside)
    return macros | frozenset(re.findall(_NAME, outside))


def length_name(array: str, ndim: int, axis: int) -> str:
    """What C calls the length of an axis of an array parameter."""
    return f"{array}_len" if ndim == 1 else f"{array}_shape{axis}"


def stride_name(array: str, axis: int) -> str:
    """What it calls the distance of neighbours along an axis, in elements."""
    return f"{array}_stride{axis}"
