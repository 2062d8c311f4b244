"""Insert inline C into generated text, with comments or directives for its source positions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pycu2c.analysis.effects import inline_c_body
from pycu2c.base.external_code import CodeLine, DialectCode, names_defined_in
from pycu2c.csyntax import nodes as c
from pycu2c.declarations.link_files import Link
from pycu2c.ir.nodes import Module

CodeItem: TypeAlias = c.Comment | c.LineDirective | c.Verbatim  # in a file or a body

INLINE_C_MARK = "@c "  # precedes source positions in comments


def code_items(lines: Iterable[CodeLine], comments: str) -> Iterator[CodeItem]:
    """Yield the lines of inline C, with comments or directives for their positions."""
    continues = False  # a macro continues: nothing may be inserted between its lines
    for line in lines:
        if comments == "positions" and not continues:
            yield c.Comment(f"{INLINE_C_MARK}{line.span}")
        elif comments == "lines" and not continues:
            yield c.LineDirective(line.span.line, line.span.file)
        yield c.Verbatim(line.text)
        continues = line.text.endswith("\\")


def _inline_code(module: Module) -> list[DialectCode]:
    """Return the inline C of the functions of a module."""
    bodies = (inline_c_body(f) for f in module.device_functions)
    return [body.code for body in bodies if body is not None]


def preambles(module: Module) -> list[tuple[CodeLine, ...]]:
    """Return the text that precedes the functions, without duplicates."""
    texts = {tuple(x.text for x in code.preamble): code.preamble for code in _inline_code(module)}
    return [lines for lines in texts.values() if lines]


def reserved_names(module: Module) -> frozenset[str]:
    """Return the names that inline C may define, which are reserved."""
    return frozenset(name for lines in preambles(module) for name in names_defined_in(lines))


def links_of(module: Module) -> tuple[Link, ...]:
    """Return the files to link, in order."""
    codes = _inline_code(module)
    return tuple(dict.fromkeys((code.dialect, file) for code in codes for file in code.files))
