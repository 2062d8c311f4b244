"""What compilers have against a user's CUDA C, as errors of this package: the line, with carets."""

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

_MOST = 8
# NVRTC: "k.cu(3): error: …"; gcc and clang: "k.cu:3:5: error: …"
_ERROR = re.compile(
    r"^(?P<file>[^:(\n]+)[:(](?P<line>\d+)\)?(?::(?P<column>\d+))?:?\s*"
    r"(?:fatal |catastrophic )?error:?\s*(?P<text>.*)$"
)
_BEHIND = "<stdin>"  # where the text ends, and what runs its kernels follows
_CARET = re.compile(r"^\s*\^")
_WORD = re.compile(r"\w+|.")


def raise_compile_error(log: str, text: CudaSource, compiler: str) -> NoReturn:
    """Raise the CompileError that a log tells; a ToolchainError where it names no line."""
    found = list(_diagnostics(log, compiler))
    of_theirs = [each for each in found if each.labels[0].span.file != _BEHIND]
    found = [*_unclosed(text), *of_theirs] or found
    if found:
        raise CompileError(found[:_MOST]) from None  # the log is in it
    raise ToolchainError(f"{compiler} does not compile {text.name}:\n{log.strip()}")


def _unclosed(text: CudaSource) -> Iterator[Diagnostic]:
    """The bracket that nothing closes, which compilers find far behind it."""
    if any(token.kind == "directive" and "if" in token.text for token in text.tokens):
        return  # what begins in one branch may end in each
    open_ones: list[Token] = []
    for token in text.tokens:
        if token.kind != "mark":
            continue
        if token.text in OPENING:
            open_ones.append(token)
        elif token.text in CLOSING and open_ones:
            if OPENING.index(open_ones[-1].text) != CLOSING.index(token.text):
                break
            open_ones.pop()
    if open_ones:
        label = Label(text.span(open_ones[-1]), "nothing closes it")
        yield Diagnostic("own-c", (label,), "write the bracket that ends what this one begins")


def _diagnostics(log: str, compiler: str) -> Iterator[Diagnostic]:
    lines = log.splitlines()
    hint = f"this is what {compiler} says of it"
    for number, line in enumerate(lines):
        found = _ERROR.match(line)
        if found is None:
            continue
        file, row, after = found["file"], int(found["line"]), lines[number + 1 :]
        column = int(found["column"]) - 1 if found["column"] else _column(after, file, row)
        span = _span(file, row, column)
        said = " ".join(_continued(found["text"], after))
        yield Diagnostic("own-c", (Label(span, said.partition(" [-W")[0]),), hint)


def _continued(said: str, after: list[str]) -> Iterator[str]:
    """What NVRTC says over several lines, before it shows the place."""
    yield said
    for line in after[:2]:
        if not line.startswith("          ") or _CARET.match(line):
            return
        yield line.strip()


def _column(after: list[str], file: str, line: int) -> int:
    """By the caret of NVRTC, which stands two columns further than the line."""
    caret = next((i for i, text in enumerate(after[:4]) if _CARET.match(text)), None)
    source = linecache.getline(file, line).rstrip("\n")
    if not caret or source.strip() not in after[caret - 1]:
        return len(source) - len(source.lstrip())
    return max(0, after[caret].index("^") - (len(after[caret - 1]) - len(source)))


def _span(file: str, line: int, column: int) -> Span:
    source = linecache.getline(file, line).rstrip("\n")
    word = _WORD.match(source, column)
    return Span(file, line, column, line, word.end() if word else column + 1)
