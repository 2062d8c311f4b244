"""Every error with programs that are wrong and the same programs cured.

The programs stand in ``errors/CODE.md``, with ``«»`` around what gets the carets. A message is not
written there: it is what the compiler says of the program, which is run for it.
"""

from __future__ import annotations

import linecache
import re
import warnings
from importlib import resources
from typing import Any

from pycu2c.base.diagnostics import RULES, CompileError, CompileWarning
from pycu2c.base.records import dataclass

_CASE = re.compile(
    r"(?P<remark>.*?)```python wrong\n(?P<wrong>.*?)```\s*```python cured\n(?P<cured>.*?)```\s*",
    re.S,
)
_MARKS = str.maketrans("", "", "«»")


@dataclass(frozen=True, slots=True)
class Case:
    """A mistake as a program, marked, and the program without it."""

    remark: str
    marked: str
    cured: str

    @property
    def wrong(self) -> str:
        return self.marked.translate(_MARKS)


def cases(code: str) -> list[Case]:
    """The mistakes that a code has in the catalogue, the most common first."""
    text = (
        resources.files("pycu2c")
        .joinpath("base", "error_pages", f"{code}.md")
        .read_text(encoding="utf-8")
    )
    found = [Case(m["remark"].strip(), m["wrong"], m["cured"]) for m in _CASE.finditer(text)]
    assert _CASE.sub("", text) == "", f"{code}.md ends with text that belongs to no program"
    return found


def run(text: str, file: str) -> dict[str, Any]:
    """Run a program as if ``file`` held it; give its names."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {"__name__": file.removesuffix(".py")}
    exec(compile(text, file, "exec"), space)
    return space


def message(text: str) -> str:
    """What pycu2c says of a program: its error, or its warning; empty if nothing."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            run(text, "wrong.py")
        except CompileError as error:
            return str(error)
    return "\n\n".join(str(w.message) for w in said if w.category is CompileWarning)


def as_text(code: str) -> str:
    """A page of the catalogue for a terminal."""
    parts = [f"{code}: {RULES[code]}"]
    for case in cases(code):
        parts += [case.remark] if case.remark else []
        parts += [_indented(case.wrong), message(case.wrong), "Instead:", _indented(case.cured)]
    return "\n\n".join(parts)


def as_markdown(code: str) -> str:
    """A section of the page of all errors."""
    parts = [f"## {code}", f"{RULES[code][0].upper()}{RULES[code][1:]}."]
    for case in cases(code):
        parts += [case.remark] if case.remark else []
        parts.append(f"```py\n{case.wrong}```")
        parts.append(f"```text\n{message(case.wrong)}\n```")
        parts += ["Instead:", f"```py\n{case.cured}```"]
    return "\n\n".join(parts) + "\n"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.rstrip().splitlines())
