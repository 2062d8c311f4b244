"""Diagnostics of kernels: the error codes, the errors and warnings, and their rendering.

``error_pages/CODE.md`` declares an error code: its heading is the rule, then follow programs that
break the rule, with the text at fault in ``«»``, and corrected programs.

A rendered diagnostic has a title (the rule), labels (source lines with carets) and a hint
(what to write).
"""

from __future__ import annotations

import linecache
import sys
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NoReturn

from pycu2c.base.errors import Error
from pycu2c.base.lazy_imports import lazy_method
from pycu2c.base.records import dataclass
from pycu2c.base.source import Span

ERROR_PAGES = Path(__file__).with_name("error_pages")


def error_codes() -> list[str]:
    """Return the codes of all compile errors, sorted."""
    return sorted(page.stem for page in ERROR_PAGES.iterdir())


@cache
def rule(code: str) -> str:
    """Return the rule that an error code stands for: the heading of its page."""
    with (ERROR_PAGES / f"{code}.md").open(encoding="utf-8") as page:
        return page.readline().removeprefix("# ").rstrip()


@dataclass(frozen=True, slots=True)
class Label:
    """A span of the user's program, and what is wrong there."""

    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One violation of one rule."""

    code: str
    labels: tuple[Label, ...]
    hint: str = ""
    severity: str = "error"

    @property
    def title(self) -> str:
        return rule(self.code)


# the exceptions that Python, numba or CuPy raise for the same mistake
_EXCEPTIONS: dict[str, tuple[type[Exception], ...]] = {
    "argument-count": (TypeError,),
    "argument-type": (TypeError, ValueError),  # types, and values that a parameter does not accept
    "call": (TypeError,),
    "comparison": (TypeError,),
    "constant-needed": (TypeError,),
    "constant-range": (OverflowError,),
    "dtype": (TypeError,),
    "index-count": (IndexError,),
    "index-range": (IndexError,),
    "index-type": (TypeError,),
    "iterable": (TypeError,),
    "name": (NameError,),
    "operand-type": (TypeError,),
    "recursion": (ValueError,),
    "reshape": (ValueError,),
    "return-type": (TypeError,),
    "store-type": (TypeError,),
    "unpack": (ValueError,),
}


class CompileError(Error):
    """A kernel is outside the supported language; ``str()`` renders all diagnostics.

    The error is also an instance of the exception that Python raises for such a mistake, if there
    is one: ``NameError`` for an unknown name, ``TypeError`` for a wrong type.

    Attributes
    ----------
    diagnostics : tuple of Diagnostic
        All errors of the kernel.
    code, file : str
        The code and the file of the first diagnostic.
    line : int
        Its line, from 1; 0 if there is none.
    """

    def __new__(cls, diagnostics: Sequence[Diagnostic], *_: object, **__: object) -> CompileError:
        if cls is not CompileError:
            return super().__new__(cls)
        return super().__new__(_error_class(_EXCEPTIONS.get(diagnostics[0].code, ())))

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        first = self.diagnostics[0]
        self.code: str = first.code
        self.file: str = first.labels[0].span.file if first.labels else ""
        self.line: int = first.labels[0].span.line if first.labels else 0
        super().__init__("\n\n".join(render(d) for d in self.diagnostics))

    def __reduce__(self) -> tuple[object, ...]:
        return CompileError, (self.diagnostics,)

    _repr_html_ = lazy_method("pycu2c.base.output.message_styles", "as_html")


@cache
def _error_class(exceptions: tuple[type[Exception], ...]) -> type[CompileError]:
    """Return the compile error that is also an instance of ``exceptions``."""
    if not exceptions:
        return CompileError
    return type("CompileError", (CompileError, *exceptions), {"__module__": __name__})


class CompileWarning(UserWarning):
    """A kernel compiles, but is probably wrong."""


class LaunchError(Error, ValueError):
    """A launch was rejected before it ran: arguments, grid, block or device are invalid."""


class LaunchWarning(UserWarning):
    """A launch ran, but part of its output is missing."""


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning at the innermost caller outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("pycu2c."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def fail(code: str, *labels: Label, hint: str) -> NoReturn:
    """Raise a CompileError with one diagnostic: the rule, the evidence and a hint."""
    raise CompileError([Diagnostic(code, labels, hint)])


@contextmanager
def reporting_recursion_limit(span: Span) -> Iterator[None]:
    """Report a RecursionError as a CompileError at ``span``.

    The compiler is recursive, so deeply nested syntax exceeds Python's recursion limit.
    """
    try:
        yield
    except RecursionError:
        fail(
            "subset",
            Label(span, "this has an expression, statement or calls that are nested too deeply"),
            hint="cut long chains of operators or `elif` into several statements or functions, and "
            "merge device functions that call each other in a chain",
        )


def render(diagnostic: Diagnostic) -> str:
    """Return a diagnostic as text: title, each label's line with carets, then the hint."""
    title = f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.title}"
    return "\n".join(render_excerpts(title, diagnostic.labels, diagnostic.hint))


def render_excerpts(title: str, labels: tuple[Label, ...], hint: str) -> list[str]:
    """Return the lines of a message: title, source lines with carets, and the hint."""
    out = [title]
    width = max((len(str(label.span.line)) for label in labels), default=1) + 2
    previous = ""
    for label in labels:
        span = label.span
        if span.file != previous or not previous:
            out.append(f"{' ' * (width - 1)}--> {span}")
        previous = span.file
        out += _excerpt(span, label.text, width)
    if hint:
        out.append(f"{' ' * width} = help: {hint}")
    return out


def _excerpt(span: Span, text: str, width: int) -> list[str]:
    line = linecache.getline(span.file, span.line).rstrip("\n")
    if not line:
        return [f"{' ' * width} = {text}"] if text else []
    end = span.end_column if span.end_line == span.line else len(line)
    # keep tabs, so that the carets align at any tab width
    indent = "".join(c if c == "\t" else " " * _display_width(c) for c in line[: span.column])
    carets = "^" * max(1, _display_width(line[span.column : end]))
    return [
        f"{span.line:>{width}} | {line}",
        f"{' ' * width} | {indent}{carets} {text}".rstrip(),
    ]


def _display_width(text: str) -> int:
    """Return the number of terminal columns of a text: wide characters take two, accents none."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)
