"""Diagnostics of kernels: the rules, the errors and warnings, and their rendering.

A rendered diagnostic has a title (the rule), labels (what the program has, with carets) and a hint
(what to write).
"""

from __future__ import annotations

import linecache
import sys
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from pycu2c.base.records import dataclass
from pycu2c.base.source import Span

RULES: dict[str, str] = {
    "argument-count": "a call gives every parameter one argument",
    "argument-type": "an argument has a type that the parameter accepts",
    "array-assign": "a variable refers to arrays of one dtype and rank",
    "barrier-recursion": "a function with a barrier can be inlined into its caller",
    "call": "a kernel calls functions that can be compiled",
    "cluster": "a kernel with clusters says how large they are",
    "constant-needed": "this must be known when the kernel is compiled",
    "constant-range": "a constant fits the type that it is converted to",
    "dtype": "a dtype has a known name",
    "index-count": "an element takes one index per axis",
    "index-range": "a constant index lies inside its axis",
    "index-type": "an array is indexed by an integer",
    "join": "a variable has one type where branches join",
    "maybe-undefined": "a variable is assigned on every path that leads to a read of it",
    "name": "a name is defined before it is used",
    "no-source": "a kernel's source text can be read",
    "inline-c": "inline C compiles: its text, its types and the linked files",
    "operand-type": "an operator is applied to types that have it",
    "global-value": "a global of a kernel is a number, a string, a tuple, an array or a function",
    "slice-assign": "a slice is assigned one value, or as many elements in the same order",
    "recursion": "a device function that calls itself has a signature",
    "reshape": "a contiguous array is reshaped to as many elements",
    "return-type": "a function returns one type; a kernel returns nothing",
    "shape": "the shape of a shared or local array is a constant",
    "signature": "a signature gives every parameter a type",
    "store-type": "a complex number, vector or record is stored in a type that holds all its parts",
    "subset": "a kernel is written in the part of Python that compiles",
    "type-needed": "a value has the required kind: a number, an array, a record",
    "unpack": "a tuple is unpacked into as many names as it has items",
    # Python that is not in the subset
    "assignment-target": "a value is assigned to a name, an element, or a tuple of these",
    "async": "a kernel runs from start to end without waiting",
    "class": "classes and types are defined outside of a kernel",
    "comparison": "values are compared with == and <, in a tuple with `in`, with None by `is`",
    "comprehension": "a comprehension makes a tuple",
    "context-manager": "a kernel has no `with` statement",
    "delete": "`del` deletes names",
    "dict-set": "data is in variables and arrays",
    "exceptions": "an exception ends its thread: nothing catches it",
    "generator": "a function returns its result once",
    "global-statement": "a kernel assigns to its own variables and to elements of arrays",
    "iterable": "a loop runs over a range, a tuple or an array",
    "import": "modules are imported outside of a kernel",
    "match": "a case matches numbers, strings and tuples",
    "matmul": "an operator works on numbers, not on whole arrays",
    "nested-function": "a nested function is a plain function",
    "parameter-kind": "the parameters of a function are known when the kernel is compiled",
    "slice": "a subscript takes one index or slice for each axis",
    "starred": "`*` unpacks a tuple, in a call or another tuple",
    "string": "strings are known when the kernel is compiled",
    "unused-value": "a statement has an effect",
}


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
        return RULES[self.code]


class CompileError(Exception):
    """A kernel is outside the supported language; ``str()`` renders all diagnostics.

    ``code``, ``file`` and ``line`` are those of the first diagnostic; ``diagnostics`` holds all.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        first = self.diagnostics[0]
        self.code: str = first.code
        self.file: str = first.labels[0].span.file if first.labels else ""
        self.line: int = first.labels[0].span.line if first.labels else 0
        super().__init__("\n\n".join(render(d) for d in self.diagnostics))


class CompileWarning(UserWarning):
    """A kernel compiles, but is probably wrong."""


class LaunchError(Exception):
    """A launch was rejected before it ran: arguments, grid, block or device are invalid."""


class DeadlockError(LaunchError):
    """A launch was aborted because its threads wait for each other."""


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
            Label(span, "this has an expression or statement that is nested too deeply"),
            hint="cut long chains of operators or `elif` into several statements or functions",
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
