"""Translate compiler errors of generated text to diagnostics of the user's text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pycu2c.base.diagnostics import CompileError, Diagnostic, Label
from pycu2c.base.spans import Span
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.toolchain.toolchain_errors import CompilerDiagnostic, RejectedCode

_MAX_DIAGNOSTICS = 8


@contextmanager
def translate_errors(written: Mapping[str, str], name: str) -> Iterator[None]:
    """Raise CompileError for compiler errors; ``written``: the user's texts by role."""
    try:
        yield
    except RejectedCode as error:
        raise CompileError(_diagnostics(error, written, name)) from None


def _diagnostics(error: RejectedCode, written: Mapping[str, str], name: str) -> list[Diagnostic]:
    compiler = error.compiler.split("/")[-1].split()[0]
    hint = f"the error message is of {compiler}"
    lines = error.text.splitlines()
    labels: dict[Span, list[str]] = {}
    others: list[str] = []
    for diagnostic in error.diagnostics:
        line = lines[diagnostic.line - 1] if diagnostic.line <= len(lines) else ""
        span = _span(line, written, name)
        if span is not None:
            labels.setdefault(span, []).append(_message(diagnostic))
        else:
            others.append(f"{_message(diagnostic)}: {line.strip()}")
    located = [
        Diagnostic("inline-c", (Label(span, "; ".join(dict.fromkeys(messages))),), hint)
        for span, messages in labels.items()
    ]
    if located:
        return located[:_MAX_DIAGNOSTICS]
    messages = [f"      {each}" for each in dict.fromkeys(others)] or [f"      {error.error}"]
    summary = f"correct the text of {name}; {compiler} reports"
    return [Diagnostic("inline-c", (), "\n".join([summary, *messages]))]


def _message(diagnostic: CompilerDiagnostic) -> str:
    """Return a message without the name of the warning option."""
    return diagnostic.text.partition(" [-W")[0]


def _span(line: str, written: Mapping[str, str], name: str) -> Span | None:
    """Return the user's line that a generated line is or contains; the longest match."""
    best: tuple[int, Span] | None = None
    for role, text in written.items():
        file = f"<{role} of {name}>"
        for number, user_line in enumerate(text.splitlines(), 1):
            code = user_line.strip().rstrip(";")
            if code and code in line and (best is None or len(code) > best[0]):
                CudaSource(text, file, {file: text})  # registers the text for the diagnostic
                column = len(user_line) - len(user_line.lstrip())
                best = len(code), Span(file, number, column, number, column + len(code))
    return best[1] if best else None
