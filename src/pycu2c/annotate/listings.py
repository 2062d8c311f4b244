"""Listings: lines of text in a language, each with the line of Python that it comes from."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterable, Iterator, Sequence

from pycu2c.base.records import dataclass
from pycu2c.codegen.inline_c import INLINE_C_MARK
from pycu2c.codegen.statements import POSITION_MARK
from pycu2c.ir import nodes as ir
from pycu2c.kernels.source_map import positions_of

# a line of a Python file; None: generated text that belongs to no line
Origin = tuple[str, int] | None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a listing. ``number`` is that of its file, for Python."""

    text: str
    origin: Origin
    number: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """The text of a kernel in one language. ``missing`` says why there is none."""

    name: str
    lines: tuple[Line, ...] = ()
    missing: str = ""


def python_listing(functions: Iterable[ir.Function]) -> Listing:
    """Return the source of a kernel and of the device functions that it calls."""
    spans = dict.fromkeys((f.span.file, f.span.line) for f in functions)
    lines = [line for file, number in spans for line in _definition(file, number)]
    return Listing("Python", tuple(lines))


def _definition(file: str, number: int) -> Iterator[Line]:
    """Yield the lines of the function whose definition is at a line, with its decorators."""
    text = linecache.getlines(file)
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = ast.walk(ast.parse("".join(text)))
    node = next(n for n in nodes if isinstance(n, definitions) and n.lineno == number)
    first = min([number, *(decorator.lineno for decorator in node.decorator_list)])
    for k in range(first, (node.end_lineno or number) + 1):
        yield Line(text[k - 1].rstrip(), (file, k), k)
    yield Line("", None)


def generated_listing(name: str, text: str, with_positions: str) -> Listing:
    """Return generated text; ``with_positions`` is the same with comments of positions."""
    lines, before = [], ""
    for line, position in zip(text.splitlines(), positions_of(text, with_positions)):
        if line.strip() in ("", "}"):  # ends what the last position is for
            before = position
        origin = None if position == before else _origin_of_position(position)
        lines.append(Line(line, origin))
    return Listing(name, tuple(lines))


def _origin_of_position(position: str) -> Origin:
    """Return the file and line of a comment that the code generator writes."""
    position = position.removeprefix(POSITION_MARK).removeprefix(INLINE_C_MARK)
    file, _, line = position.rpartition(":")[0].rpartition(":")
    return (file, int(line)) if line.isdigit() else None


_ADDRESS = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;?\s*$")


def sass_listing(instructions: Iterable[tuple[str, Origin]]) -> Listing:
    """Return machine instructions with their addresses, and labels, without directives."""
    lines = []
    for text, origin in instructions:
        if instruction := _ADDRESS.match(text):
            lines.append(Line(f"{instruction[1]}  {instruction[2]}", origin))
        elif text.endswith(":") and not text.startswith(".text."):
            lines.append(Line(text, None))
    return Listing("SASS", tuple(lines))


_FILE = re.compile(r'\s*\.file\s+(\d+)\s+(?:"([^"]*)"\s+)?"([^"]*)"')
_LOCATION = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)")


def assembly_listing(name: str, text: str) -> Listing:
    """Return PTX or the assembly language of a CPU, whose ``.loc`` directives give lines."""
    lines = text.splitlines()
    files = {m[1]: m[3] for m in map(_FILE.match, lines) if m}
    return Listing(name, tuple(_located(lines, files)))


def _located(lines: Sequence[str], files: dict[str, str]) -> Iterator[Line]:
    origin: Origin = None
    for line in lines:
        if location := _LOCATION.match(line):
            number = int(location[2])
            origin = (files[location[1]], number) if number and location[1] in files else None
        elif _is_instruction_or_label(line):
            yield Line(line.rstrip(), origin)


def _is_instruction_or_label(line: str) -> bool:
    """Return whether a line is no directive for debuggers or linkers, and not empty."""
    stripped = line.strip()
    is_local_label = re.fullmatch(r"\.L(VL|F[BE]|BB|BE|text|etext|[A-Z]*func_)\w*:", stripped)
    kept = (".reg", ".param", ".shared", ".local", ".visible", ".entry", ".func")
    is_directive = stripped.startswith(".") and not stripped.endswith(":")
    return bool(stripped) and not is_local_label and (not is_directive or stripped.startswith(kept))
