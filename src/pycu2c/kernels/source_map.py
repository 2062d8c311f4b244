"""Which line of Python a line of generated text is from. Found by generating the text once more,
with comments that say it, so that nothing has to be kept of all texts that are never asked about.

What a compiler has against C of the user's own is the user's to mend: an error in that line.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pycu2c.base.diagnostics import CompileError, Diagnostic, Label
from pycu2c.base.spans import Span
from pycu2c.codegen.inline_c import OWN_C
from pycu2c.codegen.statements import PLACE, Comments
from pycu2c.toolchain.toolchain_errors import (
    CompilerDiagnostic,
    RejectedCode,
    UndefinedFunctionError,
)

_HOW_TO_LINK = (
    'add the file that does: @kernel(link=["functions.cu"]), or link=… where it is declared; '
    "a GPU takes .cu, .ptx, .cubin, the CPU .c, .so, both .o, .a"
)
_TEXTS = (".c", ".cu")  # of generated files; with line information, files of Python are named


@contextmanager
def naming_origins(generate: Callable[[Comments], str]) -> Iterator[None]:
    """A refusal of the text that ``generate`` makes says what in the kernel it is about."""
    try:
        yield
    except RejectedCode as error:
        marked = generate("places")
        found = _in_own_c(error, _places(generate("none"), marked))
        if found:
            raise CompileError(found) from None
        error.origin = _shown(_place(error.text, marked, error.line))
        raise
    except UndefinedFunctionError as error:
        marked, plain = generate("places"), generate("none")
        missing = _calls(error, plain.splitlines(), _places(plain, marked))
        if missing:
            raise CompileError(missing) from None
        raise


def _calls(error: UndefinedFunctionError, lines: list[str], places: list[str]) -> list[Diagnostic]:
    """For each function that is not there, the first line of the user's own C that names it."""
    found = []
    for name in error.names:
        word = re.compile(rf"\b{re.escape(name)}\b")
        own = (p for t, p in zip(lines, places) if p.startswith(OWN_C) and word.search(t))
        place = next(own, "").removeprefix(OWN_C)
        if place:
            label = Label(_span(place), f"no file that is linked defines {name}")
            found.append(Diagnostic("inline-c", (label,), _HOW_TO_LINK))
    return found


def _in_own_c(error: RejectedCode, places: list[str]) -> list[Diagnostic]:
    """The errors in lines of the user's own C, one for each line."""
    own = {place.removeprefix(OWN_C) for place in places if place.startswith(OWN_C)}
    found: dict[str, dict[str, None]] = {}
    hint = f"this is what {error.compiler.split('/')[-1]} says of it"
    if error.compiler != "NVRTC":
        hint += "; on the CPU it is cpu=…, else its Python body, else the same text as on a GPU"
    for diagnostic in error.diagnostics:
        place = _own_place(diagnostic, places, own)
        if place:
            found.setdefault(place, {})[_plain(diagnostic.text)] = None
    return [
        Diagnostic("inline-c", (Label(_span(p), "; ".join(t)),), hint) for p, t in found.items()
    ]


def _own_place(diagnostic: CompilerDiagnostic, places: list[str], own: set[str]) -> str:
    if diagnostic.file.endswith(_TEXTS):
        said = places[diagnostic.line - 1] if diagnostic.line <= len(places) else ""
        return said.removeprefix(OWN_C) if said.startswith(OWN_C) else ""
    line = f"{diagnostic.file}:{diagnostic.line}"
    return next((place for place in own if place.rpartition(":")[0] == line), "")


def _plain(text: str) -> str:
    """Without what a compiler adds of itself."""
    return text.partition(" [-W")[0]


def _span(place: str) -> Span:
    """From there to the end of the line."""
    file, line, column = place.rsplit(":", 2)
    length = len(linecache.getline(file, int(line)).rstrip())
    return Span(file, int(line), int(column) - 1, int(line), max(length, int(column)))


def _places(text: str, marked: str) -> list[str]:
    """For each line of a text without comments, the last place that was said before it; none, if
    the texts differ."""
    found, lines = "", text.splitlines()
    out: list[str] = []
    for shown in marked.splitlines():
        mark = shown.lstrip().removeprefix("// ")
        if mark.startswith((PLACE, OWN_C)) and shown.lstrip().startswith("// "):
            found = mark
            continue
        if len(out) >= len(lines) or lines[len(out)] != shown:
            return []
        out.append(found)
    return out


def _place(text: str, marked: str, line: int) -> str:
    places = _places(text, marked)
    said = places[line - 1] if 0 < line <= len(places) else ""
    return said.removeprefix(PLACE)


def _shown(place: str) -> str:
    file, _, row = place.rpartition(":")[0].rpartition(":")
    source = linecache.getline(file, int(row)).strip() if row.isdigit() else ""
    return f"{place}: {source}" if source else place
