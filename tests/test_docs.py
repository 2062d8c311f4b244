"""The documents: their Python runs, their tables are up to date, their links are valid."""

from __future__ import annotations

import builtins
import cmath
import importlib
import math
import operator
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pycu2c import cuda
from support.kernels_from_text import module_from, module_from_file, python_blocks

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
# pages that building the site generates are not in the repository
GENERATED = {DOCS / "benchmarks", DOCS / "gallery", DOCS / "reference" / "intrinsics"}
WRITTEN = sorted(p for p in DOCS.rglob("*.md") if p.parent not in GENERATED)
PAGES = [*sorted(ROOT.glob("*.md")), *WRITTEN]
NEED_OTHERS = {"dask.md", "jax.md", "pytorch.md", "ray.md"}  # tests/jax/test_page.py and others
WITH_PYTHON = [p for p in PAGES if "```python\n" in p.read_text() and p.name not in NEED_OTHERS]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda p: str(p.relative_to(ROOT)))
def test_python_runs(page: Path, tmp_path: Path) -> None:
    module_from(python_blocks(page), tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.S)
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
        target = (page.parent / link).resolve()
        assert target.exists() or target.parent in GENERATED, link


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_sentences_have_at_most_30_words(page: Path) -> None:
    text = re.sub(r"```.*?```|<!--.*?-->", "", page.read_text(), flags=re.S)
    text = re.sub(r"`[^`]*`", "code", text)
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*] |\d+\. |\|))", text):
        for sentence in re.split(r"(?<=[.:;!?])\W*\s", paragraph):
            assert sentence.startswith("|") or len(sentence.split()) <= 30


@pytest.fixture
def generators(monkeypatch: pytest.MonkeyPatch) -> None:
    if "CI" not in os.environ:  # make gpu installs nothing
        pytest.importorskip("grimp")
    monkeypatch.syspath_prepend(str(DOCS))


@pytest.mark.usefixtures("generators")
def test_tables_are_generated() -> None:
    pages = module_from_file(DOCS / "generate.py").PAGES
    for name, text in pages.items():
        assert (DOCS / name).read_text() == text(), "run python docs/generate.py"


def test_files_named_in_contributing_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for name in re.findall(r"`((?:src|tests|docs)/[\w/.]+)`", text):
        assert (ROOT / name).exists(), name


def test_every_target_of_the_makefile_has_its_help() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in ("demo", "test", "test-all", "check", "golden", "docs", "gpu", "sanitize"):
        assert re.search(rf"^make {name}\b.*\w", done.stdout, re.M)


@pytest.mark.usefixtures("generators")
def test_pages_of_intrinsics_name_functions_that_exist() -> None:
    intrinsics = importlib.import_module("generators.intrinsics")
    pages = dict(intrinsics.pages())
    listed = (DOCS / "reference" / "intrinsics" / "index.md").read_text()
    assert {f"{name}.md" for name in re.findall(r"^\w+$", listed, re.M)} == pages.keys()
    names = re.findall(r"^\| `([\w.]+)`|\{py:\w+\} ([\w.]+)", "\n".join(pages.values()), re.M)
    assert len(names) > 500
    modules = {"cuda": cuda, "math": math, "cmath": cmath, "np": np, "operator": operator}
    for name in map("".join, names):
        if not name.startswith("cuda.cg."):  # members of groups
            assert eval(name, {**modules, **vars(builtins)}) is not None, name


def test_every_environment_variable_is_documented() -> None:
    page = (DOCS / "reference" / "environment.md").read_text()
    sources = "\n".join(path.read_text() for path in (ROOT / "src" / "pycu2c").rglob("*.py"))
    read = set(re.findall(r"environ\w*(?:\.get)?[(\[]\"(PYCU2C_\w+)", sources))
    assert len(read) > 10
    for name in read:
        assert f"`{name}`" in page, name
