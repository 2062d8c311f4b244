"""Map errors of ptxas from PTX lines to lines of the CUDA C source.

The source is compiled again with line information, whose ``.loc`` directives give the source line
of each PTX line. For inline assembly they give the first line of the statement.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

# compiles the text again with line information; returns the binary or None, and the log
Recompile: TypeAlias = Callable[[Literal["cubin", "ptx"]], tuple[bytes | None, str]]

_ERROR = re.compile(r"(?m)^ptxas application ptx input, line (\d+); error\s*: (.*)$")
_UNSUPPORTED = re.compile(r"'([^']+)' (?:not supported on|requires) \.target")
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]+)"')
_INLINE = re.compile(r"^\s*// (begin|end) inline asm")


def has_ptxas_errors(log: str) -> bool:
    """Return whether a log contains errors of ptxas."""
    return _ERROR.search(log) is not None


def unsupported_instruction(log: str) -> str | None:
    """Return the first instruction that the architecture does not have, or None."""
    found = _UNSUPPORTED.search(log)
    return found[1] if found else None


def map_to_source(log: str, name: str, text: str, recompile: Recompile) -> str:
    """Return the log with source lines, such as ``k.cu(3): error: …``.

    Returns the original log if the lines are not found. ``name`` is the file name of the text.
    """
    _, new_log = recompile("cubin")
    ptx, _ = recompile("ptx")
    errors = _ERROR.findall(new_log)
    if ptx is None or not errors:
        return log
    lines = ptx.decode(errors="replace").splitlines()
    files = {found[1]: found[2] for found in map(_FILE.match, lines) if found}
    out = []
    for number, message in errors:
        file, line = _source_line(lines, int(number) - 1, files)
        if os.path.basename(file) == os.path.basename(name):
            line += _asm_line_offset(lines, int(number) - 1, text.splitlines()[line - 1 :])
        if file:
            out.append(f"{file}({line}): error: {message}")
    return "\n".join(out) or log


def _source_line(lines: Sequence[str], index: int, files: dict[str, str]) -> tuple[str, int]:
    """Return the source file and line of a PTX line."""
    for line in reversed(lines[: index + 1]):
        found = _LOC.match(line)
        if found:
            return files.get(found[1], ""), int(found[2])
    return "", 0


def _asm_line_offset(lines: Sequence[str], index: int, source: Sequence[str]) -> int:
    """Return the offset of an instruction from the first source line of its inline assembly.

    Returns 0 if the source line at that offset does not contain the instruction.
    """
    offset = 0
    while index - offset > 0 and not _INLINE.match(lines[index - offset]):
        offset += 1
    tokens = [token for token in lines[index].split() if token[:1] != "@"]
    source_offset = max(offset - 1, 0)
    marker = _INLINE.match(lines[index - offset])
    if (
        marker
        and marker[1] == "begin"
        and tokens
        and source_offset < len(source)
        and tokens[0] in source[source_offset]
    ):
        return source_offset
    return 0
