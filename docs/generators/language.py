"""The page of the language: constructs that compile, and those that do not."""

from __future__ import annotations

import importlib
import sys
from itertools import groupby
from pathlib import Path

from generators.tables import cell, code
from pycu2c.frontend.subset import unsupported_syntax
from pycu2c.frontend.subset.unsupported_syntax import UnsupportedSyntax

TESTS = Path(__file__).parents[2] / "tests"

LANGUAGE = """# The language

This page lists the Python constructs that kernels support, each with an example. [Kernel
semantics](../reference/semantics.md) defines types and results.

The tests run every example in the reference interpreter, on the CPU and, if available, on a GPU.
They compare the results with those of plain Python with numpy scalars. The examples use these
names:

| name | meaning |
|---|---|
| `a`, `b` | arrays of float32 and of int32, with one axis |
| `m` | an array of float64 with two axes |
| `out` | the output, an array of float64 |
| `n`, `x` | the numbers 5 and 2.5 |
| `i` | the index of the thread |
"""

UNSUPPORTED = """
## Unsupported constructs

Each construct raises a `CompileError` when the kernel is defined.

| error | construct | instead |
|---|---|---|
"""


def page() -> str:
    """Return the page of constructs that compile, by section, and of those that do not."""
    sys.path.insert(0, str(TESTS))
    constructs = importlib.import_module("support.language_constructs").CONSTRUCTS
    text = LANGUAGE
    for section, rows in groupby(constructs, key=lambda row: row.section):
        text += f"\n## {section}\n\n| construct | example |\n|---|---|\n"
        text += "".join(f"| {cell(row.title)} | {code(row.body)} |\n" for row in rows)
    found = [r for r in vars(unsupported_syntax).values() if isinstance(r, UnsupportedSyntax)]
    for table in (unsupported_syntax.STATEMENTS, unsupported_syntax.EXPRESSIONS):
        found += table.values()
    unique = {(r.code, r.text): r for r in found}
    rows = [f"| `{r.code}` | {cell(r.text)} | {cell(r.hint)} |" for _, r in sorted(unique.items())]
    return text + UNSUPPORTED + "\n".join(rows) + "\n"
