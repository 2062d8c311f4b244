"""What the assembler has against PTX, said of the lines of the text that it was made from.

It counts lines of PTX that nobody has seen. Made again with the lines of the source, that PTX tells
what each is from: of inline assembly, the line where it begins.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

# makes the text once more, with line information
Again: TypeAlias = Callable[[Literal["cubin", "ptx"]], tuple[bytes | None, str]]

_ERROR = re.compile(r"(?m)^ptxas application ptx input, line (\d+); error\s*: (.*)$")
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]+)"')
_INLINE = re.compile(r"^\s*// (begin|end) inline asm")


def are_in(log: str) -> bool:
    """Whether a log counts lines of PTX."""
    return _ERROR.search(log) is not None


def in_source(log: str, name: str, text: str, again: Again) -> str:
    """A log whose errors name the lines of the source, as a compiler does: ``k.cu(3): error: …``;
    as it was, if that cannot be found. ``name`` is that of the text's file."""
    _, told = again("cubin")
    ptx, _ = again("ptx")
    errors = _ERROR.findall(told)
    if ptx is None or not errors:
        return log
    lines = ptx.decode(errors="replace").splitlines()
    files = {found[1]: found[2] for found in map(_FILE.match, lines) if found}
    out = []
    for number, said in errors:
        file, line = _place(lines, int(number) - 1, files)
        if os.path.basename(file) == os.path.basename(name):
            line += _lines_into(lines, int(number) - 1, text.splitlines()[line - 1 :])
        if file:
            out.append(f"{file}({line}): error: {said}")
    return "\n".join(out) or log


def _place(lines: Sequence[str], index: int, files: dict[str, str]) -> tuple[str, int]:
    """The file and line that a line of PTX is from."""
    for line in reversed(lines[: index + 1]):
        found = _LOC.match(line)
        if found:
            return files.get(found[1], ""), int(found[2])
    return "", 0


def _lines_into(lines: Sequence[str], index: int, source: Sequence[str]) -> int:
    """How many lines after its first an instruction of inline assembly stands in the source: as
    many as in PTX, if that line of the source has the instruction."""
    offset = 0
    while index - offset > 0 and not _INLINE.match(lines[index - offset]):
        offset += 1
    words = [word for word in lines[index].split() if word[:1] != "@"]
    at = max(offset - 1, 0)
    begins = _INLINE.match(lines[index - offset])
    if begins and begins[1] == "begin" and words and at < len(source) and words[0] in source[at]:
        return at
    return 0
