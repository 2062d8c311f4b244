"""Generate parts of the page on migration: the tables, each after a comment with its name, and the
output of ``pycu2c migrate`` for the example program on the page."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from pycu2c.base.types import (
    WEAK_FLOAT,
    WEAK_INT,
    Scalar,
    complex64,
    float32,
    int16,
    int32,
    int64,
    promote,
    uint8,
    uint64,
)
from pycu2c.cli.main import main
from pycu2c.compat.migrate.name_map import HOST_FUNCTIONS, MOVED_MODULES
from pycu2c.compat.migrate.remarks import KINDS
from pycu2c.compat.migrate.string_references import ENVIRONMENT_VARIABLES
from pycu2c.ops.operators import ADD, DIV, FLOORDIV, MUL, POW, Operator

PAGE = Path(__file__).parents[1] / "coming_from" / "migrating.md"
PROGRAM = "brightness.py"

Row = tuple[str, str, Operator | None, Scalar, Scalar]
TYPES: tuple[Row, ...] = (
    ("x * 2.0", "float64", MUL, float32, WEAK_FLOAT),
    ("x * 2", "float64", MUL, float32, WEAK_INT),
    ("x * i", "float64", MUL, float32, WEAK_INT),
    ("x * k", "float64", MUL, float32, WEAK_FLOAT),
    ("x ** 2", "float32", POW, float32, WEAK_INT),
    ("x * n", "float64", MUL, float32, int32),
    ("x * h", "float32", MUL, float32, int16),
    ("z * 2.0", "complex128", MUL, complex64, WEAK_FLOAT),
    ("min(x, 0.0)", "float64", None, float32, WEAK_FLOAT),
    ("s = 0.0; s += x", "float64", None, WEAK_FLOAT, float32),
    ("n / 2", "float64", DIV, int32, WEAK_INT),
    ("b + b", "uint64", ADD, uint8, uint8),
    ("b + 1", "int64", ADD, uint8, WEAK_INT),
    ("b // 2", "int64", FLOORDIV, uint8, WEAK_INT),
    ("h * h", "int64", MUL, int16, int16),
    ("n + 1", "int64", ADD, int32, WEAK_INT),
    ("n * i", "int64", MUL, int32, WEAK_INT),
    ("i + 1", "int64", ADD, WEAK_INT, WEAK_INT),
    ("u + 1", "int64", ADD, uint64, WEAK_INT),
    ("u + m", "int64", ADD, uint64, int64),
)
"""An expression, numba's type of its result, and its operator and operands; without an operator,
the values are those of one variable or of ``min``."""


def types() -> str:
    """Return the table of result types in numba and in pycu2c."""
    lines = []
    for text, numba, op, a, b in TYPES:
        here = promote(a, b) if op is None else op.operands(a, b)
        assert here is not None
        pycu2c = str(Scalar(here.dtype))
        lines.append(f"| `{text}` | {numba} | {pycu2c if pycu2c == numba else f'**{pycu2c}**'} |")
    return "| expression | numba | pycu2c |\n|---|---|---|\n" + "\n".join(lines)


def kinds() -> str:
    """Return the table of remarks."""
    rows = [f"| `{kind.severity.value}[{kind.name}]` | {kind.title} |" for kind in KINDS]
    return "| remark | meaning |\n|---|---|\n" + "\n".join(rows)


def variables() -> str:
    """Return the table of environment variables."""
    rows = [f"| `{name}` | {_with_code(hint)} |" for name, hint in ENVIRONMENT_VARIABLES.items()]
    return "| numba | pycu2c |\n|---|---|\n" + "\n".join(rows)


def _with_code(text: str) -> str:
    return re.sub(r"(?<!`)\b((?:PYCU2C_\w+(?:=\w+)?)|(?:[\w.]+\([^)]*\)+))", r"`\1`", text)


def modules() -> str:
    """Return the table of modules that have moved."""
    rows = [f"| `{numba}` | `{pycu2c}` |" for numba, pycu2c in MOVED_MODULES.items()]
    return "| numba | pycu2c |\n|---|---|\n" + "\n".join(rows)


def host() -> str:
    """Return the table of functions that stay in numba."""
    rows = [f"| `{name}` | {why} |" for name, why in HOST_FUNCTIONS.items()]
    return "| function | reason |\n|---|---|\n" + "\n".join(rows)


TABLES: dict[str, Callable[[], str]] = {
    "types": types,
    "kinds": kinds,
    "variables": variables,
    "modules": modules,
    "host": host,
}


def page() -> str:
    """Return the page with its tables and the output of the example regenerated."""
    text = PAGE.read_text()
    for name, table in TABLES.items():
        before, mark, after = text.partition(f"<!-- {name} -->\n")
        rest = re.sub(r"\A(?:\|.*\n)*", "", after)
        text = f"{before}{mark}{table()}\n{rest}"
    program = re.findall(r"```py\n(.*?)```", text, re.S)[0]
    diff, remarks_text = _run(program)
    text = _in_block(text, "diff", diff)
    return _in_block(text, "text", remarks_text)


def _run(program: str) -> tuple[str, str]:
    """Return the standard output and error of the command for a program."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path(PROGRAM).write_text(program)
        done = CliRunner().invoke(main, ["migrate", PROGRAM])
    return done.stdout, done.stderr


def _in_block(text: str, language: str, content: str) -> str:
    head, mark, rest = text.partition(f"```{language}\n")
    return f"{head}{mark}{content.rstrip()}\n```{rest.partition('```')[2]}"
