"""The documents: their Python runs, their tables are up to date, their links are valid."""

from __future__ import annotations

import builtins
import cmath
import importlib.util
import math
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pycu2c import cuda
from support.kernels_from_text import module_from, python_blocks

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
NEED_OTHERS = {"jax.md", "pytorch.md"}  # tests/jax/test_page.py, tests/pytorch/test_page.py
WITH_PYTHON = [p for p in PAGES if "```python\n" in p.read_text() and p.name not in NEED_OTHERS]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda p: p.name)
def test_python_runs(page: Path, tmp_path: Path) -> None:
    module_from(python_blocks(page), tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.S)
    for link in re.findall(r"\]\(([^)#:]+)\)", prose):
        assert (page.parent / link).exists(), link


def test_tables_are_generated() -> None:
    if "CI" not in os.environ:  # make gpu installs nothing
        pytest.importorskip("grimp")
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    for name, text in generate.PAGES.items():
        assert (ROOT / "docs" / name).read_text() == text(), "run python docs/generate.py"


def test_files_named_in_contributing_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for name in re.findall(r"`((?:src|tests|docs)/[\w/.]+)`", text):
        assert (ROOT / name).exists(), name


def test_every_target_of_the_makefile_has_its_help() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in ("demo", "test", "test-all", "check", "golden", "docs", "gpu", "sanitize"):
        assert re.search(rf"^make {name}\b.*\w", done.stdout, re.M)


def test_functions_in_tables_exist() -> None:
    """What the tables name can be written as it stands there."""
    page = (ROOT / "docs" / "intrinsics.md").read_text().partition("## Groups of threads")[0]
    names = re.findall(r"^\| `([\w.]+)` \|", page, re.M)
    assert len(names) > 500
    modules = {"cuda": cuda, "math": math, "cmath": cmath, "numpy": np, **vars(builtins)}
    for name in names:
        assert eval(name, modules) is not None, name
