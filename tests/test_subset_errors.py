"""Everything outside the subset is refused where it stands, all of a function's at once."""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path
from types import FunctionType

import pytest

from pycu2c.frontend.early import early_problems
from pycu2c.source import source_of

FOLDER = Path(__file__).parent / "errors"
FILES = sorted(FOLDER.glob("*.py"))
CASES = [
    (path, node.name)
    for path in FILES
    for node in ast.parse(path.read_text()).body
    if isinstance(node, ast.FunctionDef)
]


def function_of(path: Path, name: str) -> FunctionType:
    scope: dict[str, object] = {"__name__": path.stem}
    with warnings.catch_warnings():  # `is not 3` is what we are about to refuse
        warnings.simplefilter("ignore", SyntaxWarning)
        exec(compile(path.read_text(), str(path), "exec"), scope)
    found = scope[name]
    assert isinstance(found, FunctionType)
    return found


def expected(path: Path, name: str) -> set[tuple[int, str, str]]:
    (node,) = (
        n
        for n in ast.parse(path.read_text()).body
        if isinstance(n, ast.FunctionDef) and n.name == name
    )
    lines = path.read_text().splitlines()
    found = set()
    for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
        note = re.search(r"# E\[([\w-]+)\]: (.*)$", lines[number - 1])
        if note:
            found.add((number, note[1], note[2]))
    return found


@pytest.mark.parametrize(("path", "name"), CASES, ids=lambda v: v if isinstance(v, str) else v.stem)
def test_refused(path: Path, name: str) -> None:
    source = source_of(function_of(path, name))
    shown = set()
    for problem in early_problems(source):
        span = problem.labels[0].span
        text = source.lines[span.line - 1]
        end = span.end_column if span.end_line == span.line else len(text)
        shown.add((span.line, problem.code, text[span.column : end]))
        assert problem.help or problem.code == "name"
    assert shown == expected(path, name)
