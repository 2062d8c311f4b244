"""The table of names on the page for users of numba."""

from __future__ import annotations

import inspect
from pathlib import Path

from generators.tables import cell
from pycu2c import cuda
from pycu2c.ops.names.host_names import HOST_NAMES, MODULES
from pycu2c.ops.names.numba_names import HINTS

PAGE = Path(__file__).parents[1] / "coming_from" / "numba.md"

NAMES = """## Names

The table lists the names of `cuda` for the host.
[Intrinsics](../reference/intrinsics/index.md) lists those for kernels. Types also have numba's
names, in `pycu2c`, `cuda` and `types`: `float32`, `f4`, `intp`, `void`, `UniTuple`.

| name | meaning |
|---|---|
"""

MISSING = """
These names of numba do not exist. The error message suggests the same replacement:

| name | instead |
|---|---|
"""


def page() -> str:
    """Return the page for users of numba, with its tables of names regenerated."""
    prose, _, _ = PAGE.read_text().partition("## Names\n")
    present = sorted([*HOST_NAMES, *MODULES], key=str.lower)
    rows = "".join(f"| `cuda.{name}` | {cell(_first_line(name))} |\n" for name in present)
    hints = {n: h for n, h in HINTS.items() if n not in (*HOST_NAMES, *MODULES)}
    absent = "".join(f"| `cuda.{name}` | {cell(hint)} |\n" for name, hint in sorted(hints.items()))
    return prose + NAMES + rows + MISSING + absent


def _first_line(name: str) -> str:
    """Return the first sentence of the documentation of a host name."""
    found = getattr(cuda, name)
    text = inspect.getdoc(found) or ""
    return text.split("\n\n")[0].replace("\n", " ").replace("``", "`")
