"""Convert the logs of C++ compilers and NVRTC to diagnostics with the line and carets."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from typing import NoReturn

from pycu2c.base.diagnostics import CompileError, Diagnostic, Label
from pycu2c.base.spans import Span
from pycu2c.compat.cuda_text.parse.tokens import CLOSING, OPENING, Token
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.toolchain.toolchain_errors import ToolchainError

_MAX_DIAGNOSTICS = 8
# NVRTC: "k.cu(3): error: …"; gcc and clang: "k.cu:3:5: error: …"
_ERROR = re.compile(
    r"^(?P<file>[^:(\n]+)[:(](?P<line>\d+)\)?(?::(?P<column>\d+))?:?\s*"
    r"(?:fatal |catastrophic )?error:?\s*(?P<text>.*)$"
)
_WARNING = re.compile(r"^(?P<file>[^:(\n]+):\d+:\d+: warning: .*$")  # of gcc and clang
_FOOTER = "<stdin>"  # the generated code after the source
_CARET = re.compile(r"^\s*\^")
_WORD = re.compile(r"\w+|.")
_TEXTURE_REFERENCE = re.compile(r"\b(texture|surface)\s*<|pycuda-helpers\.hpp")
TEXTURE_OBJECTS = (
    "CUDA 12 has removed texture and surface references: declare a parameter cudaTextureObject_t "
    "or cudaSurfaceObject_t, and pass pycu2c.cuda.texture(array) or pycu2c.cuda.surface(array)"
)


def raise_compile_error(log: str, text: CudaSource, compiler: str) -> NoReturn:
    """Raise CompileError from a compiler log; ToolchainError if the log names no line."""
    diagnostics = list(_diagnostics(log, compiler))
    in_source = [d for d in diagnostics if d.labels[0].span.file != _FOOTER]
    diagnostics = [*_unclosed_brackets(text), *in_source] or diagnostics
    if diagnostics:
        raise CompileError(diagnostics[:_MAX_DIAGNOSTICS]) from None
    raise ToolchainError(f"{compiler} does not compile {text.name}:\n{log.strip()}")


def warnings_in_source(log: str) -> str:
    """Return the warnings in a log of gcc or clang that are about the user's source."""
    found = (_WARNING.match(line) for line in log.splitlines())
    return "".join(f"{m[0]}\n" for m in found if m and m["file"] != _FOOTER)


def _unclosed_brackets(text: CudaSource) -> Iterator[Diagnostic]:
    """Yield a diagnostic for the last unclosed bracket; compilers report it far from there."""
    if any(token.kind == "directive" and "if" in token.text for token in text.tokens):
        return  # a bracket may close in each branch of an #if
    open_brackets: list[Token] = []
    for token in text.tokens:
        if token.kind != "punctuator":
            continue
        if token.text in OPENING:
            open_brackets.append(token)
        elif token.text in CLOSING and open_brackets:
            if OPENING.index(open_brackets[-1].text) != CLOSING.index(token.text):
                break
            open_brackets.pop()
    if open_brackets:
        label = Label(text.span(open_brackets[-1]), "this bracket is not closed")
        yield Diagnostic("inline-c", (label,), "add the closing bracket")


def _diagnostics(log: str, compiler: str) -> Iterator[Diagnostic]:
    lines = log.splitlines()
    for number, line in enumerate(lines):
        found = _ERROR.match(line)
        if found is None:
            continue
        file, line_number, next_lines = found["file"], int(found["line"]), lines[number + 1 :]
        column = (
            int(found["column"]) - 1 if found["column"] else _column(next_lines, file, line_number)
        )
        span = _span(file, line_number, column)
        is_reference = _TEXTURE_REFERENCE.search(linecache.getline(file, line_number))
        hint = TEXTURE_OBJECTS if is_reference else f"{compiler} reported this error"
        message = " ".join(_message_lines(found["text"], next_lines))
        yield Diagnostic("inline-c", (Label(span, message.partition(" [-W")[0]),), hint)


def _message_lines(message: str, next_lines: list[str]) -> Iterator[str]:
    """Yield the message, which NVRTC splits over lines before the source excerpt."""
    yield message
    for line in next_lines[:2]:
        if not line.startswith("          ") or _CARET.match(line):
            return
        yield line.strip()


def _column(next_lines: list[str], file: str, line: int) -> int:
    """Return the column of NVRTC's caret; NVRTC indents the excerpt."""
    caret = next((i for i, text in enumerate(next_lines[:4]) if _CARET.match(text)), None)
    source = linecache.getline(file, line).rstrip("\n")
    if not caret or source.strip() not in next_lines[caret - 1]:
        return len(source) - len(source.lstrip())
    return max(0, next_lines[caret].index("^") - (len(next_lines[caret - 1]) - len(source)))


def _span(file: str, line: int, column: int) -> Span:
    source = linecache.getline(file, line).rstrip("\n")
    word = _WORD.match(source, column)
    return Span(file, line, column, line, word.end() if word else column + 1)
