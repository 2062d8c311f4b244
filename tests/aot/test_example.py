"""The example of a project that ships a kernel, and the page that shows its files."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from aot.conftest import run
from support.paths import ROOT

EXAMPLE = ROOT / "examples/ship"


def test_example_builds_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("build"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    lines = run("make", "-s", "-C", project, f"PYTHON={sys.executable}").splitlines()
    assert lines[-3:] == ["C:      43.038300", "C++:    43.038300", "Python: 43.038300"]


def test_page_shows_the_files() -> None:
    page = (ROOT / "docs/guide/shipping.md").read_text()
    blocks = re.findall(r"```(?:py|c|cpp|cmake)\n(?:# \w+\.py\n)?(.*?)```", page, re.S)
    for name in ("kernels.py", "main.c", "main.cpp", "CMakeLists.txt", "use.py", "use_torch.py"):
        assert (EXAMPLE / name).read_text() in blocks, name
