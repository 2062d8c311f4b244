"""The house itself: who imports whom, what an import costs, what it drags in."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "src" / "pycu2c"

# a module imports from its own floor or lower ones; rooms of floor 4 do not import each other
FLOORS: dict[str, int] = {
    "dtypes": 0, "types": 0, "source": 0, "diagnostics": 0, "digests": 0, "lazy": 0, "extents": 0,
    "limits": 0, "nearest": 0, "spans": 0, "foreign": 0,
    "annotations": 0, "collecting": 0, "parameters": 0,
    "records": 0, "vectors": 0, "vector_types": 0,
    "csyntax": 1,
    "values": 2, "operators": 2, "intrinsics": 2, "signatures": 2, "options": 2, "linked": 2,
    "ir": 3,
    "frontend": 4, "passes": 4, "emit": 4, "explain": 4,
    "toolchain": 5, "runtime": 5,
    "targets": 6, "compiler": 6, "explaining": 6, "origins": 6, "specialization": 6,
    "launching": 6, "building": 6, "surroundings": 6, "remembering": 6, "keeping": 6, "kernel": 6,
    "allowed": 6, "entries": 6,
    "configured": 6, "open_grids": 6, "ported": 6, "core": 6, "np": 6, "forall": 6,
    "own_c": 6, "pycuda": 6, "cupy": 6,
    "cudac": 6, "catalogue": 6, "cache_command": 6, "devices": 6, "doctor": 6, "cli": 6, "cuda": 6,
    "migrating": 6, "migrate_command": 6,
    "__init__": 6, "__main__": 6,
}  # fmt: skip
ROOMS = ("frontend", "passes", "emit", "explain")
FILES = sorted(ROOT.rglob("*.py"))


def room_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imports(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pycu2c"):
            module = node.module or ""
            found += [f"{module}.{a.name}" for a in node.names] if module == "pycu2c" else [module]
        elif isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name.startswith("pycu2c.")]
    return found


def rooms(tree: ast.Module) -> list[str]:
    """What is imported by its room's name, ``from pycu2c.transforms import rounds``."""
    found = [n for n in tree.body if isinstance(n, ast.ImportFrom)]
    return [f"{node.module}.{a.name}" for node in found for a in node.names]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_floors(path: Path) -> None:
    room = room_of(path)
    for name in imports(ast.parse(path.read_text())):
        other = name.split(".")[1]
        assert FLOORS[other] <= FLOORS[room], f"{room} imports {name}, which is above it"
        apart = room in ROOMS and other in ROOMS and room != other
        assert not apart, f"{room} imports {name}: rooms of one floor do not know each other"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_import_of_the_package_inside_a_function(path: Path) -> None:
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert imports(function) == []


def test_no_cycle() -> None:
    names = {".".join(("pycu2c", *p.relative_to(ROOT).with_suffix("").parts)): p for p in FILES}
    trees = {name: ast.parse(path.read_text()) for name, path in names.items()}
    graph = {n: [i for i in (*imports(t), *rooms(t)) if i in names] for n, t in trees.items()}
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path, name))
        if name not in done:
            for other in graph[name]:
                visit(other, (*path, name))
            done.add(name)

    for name in graph:
        visit(name, ())


IMPORTED = """
import sys
import numpy
before = set(sys.modules)
import pycu2c
new = set(sys.modules) - before
heavy = {"cuda", "astor", "cffi", "pycparser", "setuptools", "distutils", "click", "numba"}
later = {"pycu2c.kernels.launcher", "pycu2c.runtime.arguments.arguments", "pycu2c.runtime.runner"}
print(len(new), sorted({m.split(".")[0] for m in new} & heavy | later & new))
"""


def test_import_takes_few_modules() -> None:
    """No CUDA, astor, compiler or module of launches. Time is for benchmarks/start.py."""
    words = [sys.executable, "-c", IMPORTED]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    count, others = ran.stdout.strip().split(maxsplit=1)
    assert others == "[]"
    assert int(count) <= 40
