"""The user's own C in a text: with comments or directives that say where each line stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pycu2c.csyntax import nodes as c
from pycu2c.foreign import Code, Line, defined_in
from pycu2c.ir.effects import foreign_body
from pycu2c.ir.nodes import Module

Part: TypeAlias = c.Comment | c.Line | c.Verbatim  # of a file, and of a body

OWN_C = "@c "  # in comments with places


def parts(lines: Iterable[Line], comments: str) -> Iterator[Part]:
    """Lines of C as they are written."""
    for line in lines:
        if comments == "places":
            yield c.Comment(f"{OWN_C}{line.span}")
        elif comments == "lines":
            yield c.Line(line.span.line, line.span.file)
        yield c.Verbatim(line.text)


def codes_of(module: Module) -> list[Code]:
    """Those of the functions that a module has."""
    found = (foreign_body(f) for f in module.devices)
    return [body.code for body in found if body is not None]


def preambles(module: Module) -> list[tuple[Line, ...]]:
    """What stands before the functions, each text once."""
    texts = {tuple(x.text for x in code.preamble): code.preamble for code in codes_of(module)}
    return [lines for lines in texts.values() if lines]


def names_taken(module: Module) -> frozenset[str]:
    """Names that the user's C may define: nothing else is to be called so."""
    return frozenset(name for lines in preambles(module) for name in defined_in(lines))


def files_of(module: Module) -> tuple[str, ...]:
    """What has to be linked, in order."""
    return tuple(dict.fromkeys(file for code in codes_of(module) for file in code.files))
