"""The page of compile errors: a section for each code."""

from __future__ import annotations

from generators.tables import cell
from pycu2c.base.diagnostics import error_codes, rule
from pycu2c.cli import error_catalog

ERRORS = """# Compile errors

Each error message of the compiler begins with a code. The section of a code shows programs that
break its rule, the message, and the corrected programs. `pycu2c errors CODE` prints the section.
The tests run all of these programs.

| class | meaning |
|---|---|
| `CompileError` | the kernel does not compile; one exception reports all errors of the kernel |
| `CompileWarning` | the kernel compiles, but is probably wrong |
| `LaunchError`, a `ValueError` | the arguments or the configuration of a launch are invalid |
| `CheckError`, a `LaunchError` | a [checked](../guide/finding_mistakes.md) launch has findings |

A `CompileError` is also an instance of the exception that Python raises for its first mistake:
`NameError` for an unknown name, `TypeError` for a wrong type, `ValueError` for a wrong value.

| code | rule |
|---|---|
"""


def page() -> str:
    """Return the page of compile errors, with a section for each code."""
    codes = error_codes()
    rows = "".join(f"| [`{code}`](#{code}) | {cell(rule(code))} |\n" for code in codes)
    return ERRORS + rows + "\n" + "\n".join(map(error_catalog.as_markdown, codes))
