"""The structure of the package: layers, imports, folders, and the vocabulary of names and prose."""

from __future__ import annotations

import ast
import graphlib
import importlib
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "pycu2c"
FILES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = sorted({path.parent for path in FILES})


def python_files(directory: str) -> list[Path]:
    """Return the files of a directory of the repository, without programs that tests read."""
    files = sorted((ROOT / directory).rglob("*.py"))
    apart = {ROOT / "docs" / "gallery"}  # copies of examples
    files = [path for path in files if path.parent not in apart]
    return [path for path in files if not {"data", "regressions"} & set(path.parts)]


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def test_layers() -> None:
    """The contracts of ``[tool.importlinter]`` in pyproject.toml."""
    if "CI" not in os.environ:  # make gpu installs nothing
        pytest.importorskip("importlinter")
    cli = importlib.import_module("importlinter.cli")
    config = str(ROOT / "pyproject.toml")
    assert cli.lint_imports(config_filename=config, no_cache=True) == cli.EXIT_STATUS_SUCCESS


def imports(tree: ast.AST) -> list[str]:
    """The modules of this package that a syntax tree imports."""
    result = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    result += [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    return [name for name in result if name.split(".")[0] == "pycu2c"]


def imported_modules(path: Path, modules: set[str]) -> set[str]:
    """The modules that a module names in an import, anywhere in its text."""
    tree = ast.parse(path.read_text())
    result: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            result |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            result |= names & modules or {node.module or ""}
    return result & modules


def test_imports_have_no_cycles() -> None:
    """Imports under TYPE_CHECKING are counted."""
    parts = {path: path.relative_to(PACKAGE.parent).with_suffix("").parts for path in FILES}
    names = {path: ".".join(p[:-1] if p[-1] == "__init__" else p) for path, p in parts.items()}
    modules = set(names.values())
    graph = {name: imported_modules(path, modules) - {name} for path, name in names.items()}
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError


def test_functions_import_nothing_of_the_package() -> None:
    for path in FILES:
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                assert imports(function) == [], f"{name_of(path)}: {function.name}"


def test_folders() -> None:
    sizes = Counter(path.parent for path in FILES)
    assert sizes[PACKAGE] <= 8
    assert [name_of(folder) for folder in FOLDERS if sizes[folder] > 25] == []
    bare = [f for f in FOLDERS if not ast.get_docstring(ast.parse((f / "__init__.py").read_text()))]
    assert [name_of(folder) for folder in bare] == []


IMPORTED = """
import sys
import numpy
import pycu2c
optional = {"cuda", "astor", "cffi", "pycparser", "setuptools", "click", "numba", "coverage"}
compiler = {"analysis", "codegen", "compiler", "ir", "pipeline", "transforms"}
print(sorted({m.split(".")[0] for m in sys.modules} & optional))
print(sorted({m.split(".")[1] for m in sys.modules if m.startswith("pycu2c.")} & compiler))
print("pycu2c.frontend.function_builder" in sys.modules)
"""


def test_import_opens_neither_the_compiler_nor_optional_packages() -> None:
    program = [sys.executable, "-c", IMPORTED]
    ran = subprocess.run(program, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["[]", "[]", "False"]


# class names that two modules use: those of PyCUDA and CuPy, beside this package's own
SHARED = {
    "Context",
    "ElementwiseKernel",
    "Event",
    "Function",
    "LaunchError",
    "Module",
    "ReductionKernel",
    "Stream",
}


def test_class_names_are_unique() -> None:
    trees = [ast.parse(path.read_text()) for path in FILES]
    nodes = [n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
    count = Counter(node.name for node in nodes)
    assert {name for name, n in count.items() if n > 1} == SHARED
    assert len(SHARED) <= 10


# words of our own that standard terms have replaced: none may come back, in the names of modules,
# classes, functions, parameters and local variables
BANNED_WORDS = """
alive blaming cure cures door doors doubts gathered gift gifts house idle keeping lately leaving
looking marking meet meeting meetings meets nobody noted ordinary pace paces parking ported refusal
refusals refuse refused refuses remembering rooms scene surroundings tells told walks
"""
BANNED_IN_PROSE = re.compile(
    r"threads? (that )?(meet|come together)|where (they|threads) meet|past (the )?caches"
    r"|asks? (the memory|early|ahead)|\bdoors?\b|\bcures?\b|no particular (number|order)",
    re.IGNORECASE,
)


CODE = [*FILES, *(p for d in ("tests", "docs", "benchmarks", "examples") for p in python_files(d))]


def test_names_use_standard_terms() -> None:
    banned = set(BANNED_WORDS.split())
    for path in CODE:
        found = {name for name in defined_names(path) if banned & words_of(name)}
        assert found - {"keep_alive"} == set(), path.relative_to(ROOT)


def defined_names(path: Path) -> set[str]:
    """Return the names that a file defines, and its own name."""
    names = {path.stem}
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.arg():
                names.add(node.arg)
            case ast.Name(ctx=ast.Store()):
                names.add(node.id)
    return names


def words_of(name: str) -> set[str]:
    return {word.lower() for word in re.split(r"_+|(?<=[a-z0-9])(?=[A-Z])", name)}


def test_prose_uses_standard_terms() -> None:
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                result = BANNED_IN_PROSE.search(ast.get_docstring(node) or "")
                assert result is None, f"{path.relative_to(ROOT)}: {result}"
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        assert BANNED_IN_PROSE.search(text) is None, page.name
