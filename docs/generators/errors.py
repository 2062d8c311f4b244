"""The page of errors: the classes, and a section for each code of compile errors."""

from __future__ import annotations

import pycu2c
from generators.tables import cell
from pycu2c.base.diagnostics import error_codes, rule
from pycu2c.cli import error_catalog

ERRORS = """# Errors

`pycu2c.Error` is the base class of the errors that pycu2c defines. Most derive from a class of
Python, too: `except ValueError` catches a `LaunchError`. Wrong arguments of functions of the host
raise `TypeError` and `ValueError`, as in NumPy.

| class | also a | meaning |
|---|---|---|
"""
COMPILE_ERRORS = """
A [checked](../guide/finding_mistakes.md) launch raises `CheckError`.

## Compile errors

Each error message of the compiler begins with a code. The section of a code shows programs that
break its rule, the message, and the corrected programs. `pycu2c errors CODE` prints the section.
The tests run all of these programs.

A `CompileError` is also an instance of the exception that Python raises for its first mistake:
`NameError` for an unknown name, `TypeError` for a wrong type, `ValueError` for a wrong value.

| code | rule |
|---|---|
"""


def page() -> str:
    """Return the page of errors, with a section for each code of compile errors."""
    codes = error_codes()
    rows = "".join(f"| [`{code}`](#{code}) | {cell(rule(code))} |\n" for code in codes)
    return ERRORS + _classes() + COMPILE_ERRORS + rows + "\n" + "\n".join(map(_section, codes))


def _section(code: str) -> str:
    """Return the section of a code: programs, their messages, and the corrected programs."""
    parts = [f"## {code}", f"{rule(code)[0].upper()}{rule(code)[1:]}."]
    for case in error_catalog.cases(code):
        parts += [case.remark] if case.remark else []
        parts.append(f"```py\n{case.wrong}```")
        parts.append(f"```text\n{error_catalog.message(case.wrong)}\n```")
        parts += ["Instead:", f"```py\n{case.corrected}```"]
    return "\n\n".join(parts) + "\n"


def _classes() -> str:
    """Return a row for each public error class: its bases, and the summary of its docstring."""
    public = {getattr(pycu2c, name) for name in pycu2c.__all__}
    classes = [c for c in public if isinstance(c, type) and issubclass(c, pycu2c.Error)]
    rows = ""
    for cls in sorted(classes, key=lambda c: c.__name__):
        bases = ", ".join(f"`{b.__name__}`" for b in cls.__bases__ if b is not pycu2c.Error)
        summary = (cls.__doc__ or "").split("\n\n")[0].replace("``", "`")
        rows += f"| `{cls.__name__}` | {bases} | {cell(' '.join(summary.split()))} |\n"
    return rows
