"""What the assembler has against PTX, said of the lines of the text that it was made from.

It counts lines of PTX that nobody has seen. Made again with the lines of the source, that PTX tells
what each is from.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, TypeAlias

# makes the text once more, with line information
Again: TypeAlias = Callable[[Literal["cubin", "ptx"]], tuple[bytes | None, str]]

_ERROR = re.compile(r"(?m)^ptxas application ptx input, line (\d+); error\s*: (.*)$")
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]+)"')


def are_in(log: str) -> bool:
    """Whether a log counts lines of PTX."""
    return _ERROR.search(log) is not None


def in_source(log: str, again: Again) -> str:
    """A log whose errors name the lines of the source, as a compiler does: ``k.cu(3): error: …``;
    as it was, if that cannot be found."""
    _, told = again("cubin")
    ptx, _ = again("ptx")
    errors = _ERROR.findall(told)
    if ptx is None or not errors:
        return log
    lines = ptx.decode(errors="replace").splitlines()
    files = {number: name for number, name in map(_file, lines) if number}
    placed = [(_place(lines, int(number) - 1, files), text) for number, text in errors]
    return "\n".join(f"{place}: error: {text}" for place, text in placed if place) or log


def _file(line: str) -> tuple[str, str]:
    found = _FILE.match(line)
    return (found[1], found[2]) if found else ("", "")


def _place(lines: list[str], number: int, files: dict[str, str]) -> str:
    for line in reversed(lines[: number + 1]):
        found = _LOC.match(line)
        if found:
            return f"{files.get(found[1], '')}({found[2]})"
    return ""
