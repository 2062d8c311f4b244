"""Render the error catalog: wrong programs with their messages, and corrected versions.

The programs are in ``base/error_pages/CODE.md``; ``«»`` mark the expected carets. The messages are
not stored: the compiler produces them when the page is rendered.
"""

from __future__ import annotations

import linecache
import re
import warnings
from typing import Any

from pycu2c.base.diagnostics import ERROR_PAGES, CompileError, CompileWarning, rule
from pycu2c.base.records import dataclass

_CASE = re.compile(
    r"(?P<remark>.*?)```python wrong\n(?P<wrong>.*?)```\s*"
    r"```python corrected\n(?P<corrected>.*?)```\s*",
    re.S,
)
_MARKS = str.maketrans("", "", "«»")


@dataclass(frozen=True, slots=True)
class CatalogCase:
    """A wrong program with marks, and its corrected version."""

    remark: str
    marked: str
    corrected: str

    @property
    def wrong(self) -> str:
        return self.marked.translate(_MARKS)


def cases(code: str) -> list[CatalogCase]:
    """Return the cases of an error code, most common first."""
    _, _, text = (ERROR_PAGES / f"{code}.md").read_text(encoding="utf-8").partition("\n\n")
    catalog_cases = [
        CatalogCase(m["remark"].strip(), m["wrong"], m["corrected"]) for m in _CASE.finditer(text)
    ]
    assert _CASE.sub("", text) == "", f"{code}.md contains text outside of programs"
    return catalog_cases


def run(text: str, file: str) -> dict[str, Any]:
    """Run a program under a file name and return its namespace."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": file.removesuffix(".py")}
    exec(compile(text, file, "exec"), namespace)
    return namespace


def message(text: str) -> str:
    """Return the error or warning that a program causes; empty if none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run(text, "wrong.py")
        except CompileError as error:
            return str(error)
    return "\n\n".join(str(w.message) for w in caught if w.category is CompileWarning)


def as_text(code: str) -> str:
    """Render a catalog page for a terminal."""
    parts = [f"{code}: {rule(code)}"]
    for case in cases(code):
        parts += [case.remark] if case.remark else []
        parts += [_indent(case.wrong), message(case.wrong), "Instead:", _indent(case.corrected)]
    return "\n\n".join(parts)


def _indent(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.rstrip().splitlines())
