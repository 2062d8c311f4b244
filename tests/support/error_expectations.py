"""What the files under ``tests/errors`` say must be reported, and what is.

A comment ``# E[code]: text`` expects, on its line, a diagnostic of that code whose first label
has ``text`` under its carets. Two on one line are two comments.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import TypeAlias

from pycu2c.base.diagnostics import CompileError, Diagnostic
from pycu2c.base.source import Source, source_of

Check: TypeAlias = Callable[[Source], list[Diagnostic]]

_COMMENT = re.compile(r"# E\[(?P<code>[a-z-]+)\]: (?P<text>.*?)\s*(?=# E\[|$)")


@dataclass(frozen=True, order=True)
class Expectation:
    line: int
    code: str
    text: str  # what stands above the carets


def expectations(path: Path) -> set[Expectation]:
    """What the comments of a file ask for."""
    return {
        Expectation(number, result["code"], result["text"])
        for number, line in enumerate(_lines(path), start=1)
        for result in _COMMENT.finditer(line)
    }


def as_expectations(path: Path, diagnostics: Iterable[Diagnostic]) -> set[Expectation]:
    """Diagnostics of a file in the form of its comments."""
    lines = _lines(path)
    return {
        Expectation(d.labels[0].span.line, d.code, _above_carets(d, lines)) for d in diagnostics
    }


def diagnostics_of(path: Path, check: Check) -> list[Diagnostic]:
    """All that a file's functions are reported for.

    A decorated function is reported by its decorator, with a CompileError. So that each is seen,
    the file is run once for each, without the other decorated ones that it does not name. Plain
    functions are given to ``check``.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    result: list[Diagnostic] = []
    for function in functions:
        others = [f for f in functions if f is not function and not _names(function, f.name)]
        try:
            space = _run(_without(tree, others), path)
        except CompileError as error:
            result += error.diagnostics
            continue
        value = space.get(function.name)
        if isinstance(value, FunctionType) and not function.decorator_list:
            result += check(source_of(value))
    return result


def _names(function: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(function))


def _without(tree: ast.Module, left_out: Sequence[ast.stmt]) -> ast.Module:
    kept = [node for node in tree.body if node not in left_out or not node.decorator_list]
    return ast.Module(kept, tree.type_ignores)


def _run(tree: ast.Module, path: Path) -> dict[str, object]:
    code: CodeType = compile(tree, str(path), "exec")
    space: dict[str, object] = {"__name__": path.stem, "__file__": str(path)}
    exec(code, space)
    return space


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _above_carets(diagnostic: Diagnostic, lines: list[str]) -> str:
    span = diagnostic.labels[0].span
    line = lines[span.line - 1]
    end = span.end_column if span.end_line == span.line else len(line)
    return line[span.column : end].partition("# E[")[0].rstrip()
