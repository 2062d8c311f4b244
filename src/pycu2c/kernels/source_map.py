"""Map lines of generated text to lines of Python, for errors of C and CUDA compilers.

The text is generated a second time, with comments that give source positions, only after an error.
Errors in inline C of the user become ``CompileError`` at the line of the user's file.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pycu2c.base.diagnostics import CompileError, Diagnostic, Label
from pycu2c.base.spans import Span
from pycu2c.codegen.inline_c import INLINE_C_MARK
from pycu2c.codegen.statements import POSITION_MARK, Comments
from pycu2c.toolchain.toolchain_errors import (
    CompilerDiagnostic,
    RejectedCodeError,
    UndefinedFunctionError,
)

_LINK_HINT = (
    'add a file that defines it: @kernel(link=["functions.cu"]), or link=… at its declaration; '
    "a GPU accepts .ptx and .cubin, the CPU .c and .so, both accept .cu, .o and .a"
)
_GENERATED_SUFFIXES = (".c", ".cu")  # with line information, compilers name files of Python


@contextmanager
def errors_at_source_lines(generate: Callable[[Comments], str]) -> Iterator[None]:
    """Add the location in the kernel to compiler errors about the text of ``generate``."""
    try:
        yield
    except RejectedCodeError as error:
        annotated = generate("positions")
        diagnostics = _inline_c_diagnostics(error, positions_of(generate("none"), annotated))
        if diagnostics:
            raise CompileError(diagnostics) from None
        positions = positions_of(error.text, annotated)
        if 0 < error.line <= len(positions):
            error.origin = _with_source(positions[error.line - 1].removeprefix(POSITION_MARK))
        raise
    except UndefinedFunctionError as error:
        plain = generate("none")
        positions = positions_of(plain, generate("positions"))
        diagnostics = _undefined_function_diagnostics(error, plain.splitlines(), positions)
        if diagnostics:
            raise CompileError(diagnostics) from None
        raise


def _undefined_function_diagnostics(
    error: UndefinedFunctionError, lines: list[str], positions: list[str]
) -> list[Diagnostic]:
    """Return an error for each undefined function, at the first line of inline C that names it."""
    diagnostics = []
    for name in error.names:
        name_pattern = re.compile(rf"\b{re.escape(name)}\b")
        calls = (
            p
            for line, p in zip(lines, positions)
            if p.startswith(INLINE_C_MARK) and name_pattern.search(line)
        )
        position = next(calls, "").removeprefix(INLINE_C_MARK)
        if position:
            label = Label(_span(position), f"no linked file defines {name}")
            diagnostics.append(Diagnostic("inline-c", (label,), _LINK_HINT))
    return diagnostics


def _inline_c_diagnostics(error: RejectedCodeError, positions: list[str]) -> list[Diagnostic]:
    """Return the errors in inline C, one for each line."""
    inline = {p.removeprefix(INLINE_C_MARK) for p in positions if p.startswith(INLINE_C_MARK)}
    messages: dict[str, dict[str, None]] = {}
    hint = f"this is what {error.compiler.split('/')[-1]} says of it"
    if error.compiler != "NVRTC":
        hint += "; on the CPU it is cpu=…, else its Python body, else the same text as on a GPU"
    for diagnostic in error.diagnostics:
        position = _inline_c_position(diagnostic, positions, inline)
        if position:
            message = diagnostic.text.partition(" [-W")[0]  # without the name of a warning
            messages.setdefault(position, {})[message] = None
    return [
        Diagnostic("inline-c", (Label(_span(position), "; ".join(texts)),), hint)
        for position, texts in messages.items()
    ]


def _inline_c_position(
    diagnostic: CompilerDiagnostic, positions: list[str], inline: set[str]
) -> str:
    """Return the position of a diagnostic in inline C; empty if it is in other text."""
    if diagnostic.file.endswith(_GENERATED_SUFFIXES):
        position = positions[diagnostic.line - 1] if diagnostic.line <= len(positions) else ""
        return position.removeprefix(INLINE_C_MARK) if position.startswith(INLINE_C_MARK) else ""
    line = f"{diagnostic.file}:{diagnostic.line}"
    return next((position for position in inline if position.rpartition(":")[0] == line), "")


def _span(position: str) -> Span:
    """Return the span from a position to the end of its line."""
    file, line, column = position.rsplit(":", 2)
    length = len(linecache.getline(file, int(line)).rstrip())
    return Span(file, int(line), int(column) - 1, int(line), max(length, int(column)))


def positions_of(text: str, annotated: str) -> list[str]:
    """Return the position comment that precedes each line of a text; none if the texts differ."""
    position, lines = "", text.splitlines()
    positions: list[str] = []
    for line in annotated.splitlines():
        comment = line.lstrip().removeprefix("// ")
        is_comment = line.lstrip().startswith("// ")
        if is_comment and comment.startswith((POSITION_MARK, INLINE_C_MARK)):
            position = comment
            continue
        if len(positions) >= len(lines) or lines[len(positions)] != line:
            return []
        positions.append(position)
    return positions


def _with_source(position: str) -> str:
    """Return a position with the line of Python there."""
    file, _, line = position.rpartition(":")[0].rpartition(":")
    source = linecache.getline(file, int(line)).strip() if line.isdigit() else ""
    return f"{position}: {source}" if source else position
