"""``pytest --pycu2c-check``, in processes of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import ROOT

TESTS = """
import numpy as np
import pytest
import conftest  # decorates the kernel


def launch(threads):
    conftest.fill[1, threads](np.zeros(4))


@pytest.fixture
def launched():
    launch(6)


def test_in_bounds():
    launch(4)


def test_out_of_bounds():
    launch(5)


def test_caught():
    with pytest.raises(ValueError):
        launch(6)


def test_fixture(launched):
    pass
"""
CONFTEST = """
from pycu2c import cuda, kernel


@kernel(backend="cpu")
def fill(a):
    a[cuda.grid(1)] = 1
"""


def ran(folder: Path, *words: str) -> tuple[int, str]:
    """Run pytest in a folder; return the exit code and the output."""
    program = [sys.executable, "-m", "pytest", "-p", "pytest_pycu2c", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), *sys.path))}
    environment.pop("PYCU2C_CHECK", None)
    done = subprocess.run(
        [*program, *words], cwd=folder, env=environment, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("words", [("--pycu2c-check", "."), (".", "--pycu2c-check=memory,sync")])
def test_findings_fail_tests(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_kernels.py").write_text(TESTS)
    code, output = ran(tmp_path, *words)
    assert code == 1
    summary = set(re.findall(r"^(FAILED|ERROR) \S+::(\w+)", output, re.M))
    failed = {("FAILED", "test_out_of_bounds"), ("FAILED", "test_caught")}
    assert summary == {*failed, ("ERROR", "test_fixture")}
    assert "1 passed" in output
    sections = re.findall(r"-- pycu2c findings -+\n(.*)", output)
    assert len(sections) == 3
    assert all(text.startswith("out-of-bounds: thread (4, 0, 0)") for text in sections)


def test_nothing_is_imported_without_the_option(tmp_path: Path) -> None:
    text = "import sys\ndef test_imports():\n    assert 'pycu2c' not in sys.modules\n"
    (tmp_path / "test_imports.py").write_text(text)
    code, output = ran(tmp_path)
    assert code == 0, output


def test_wrong_group(tmp_path: Path) -> None:
    code, output = ran(tmp_path, "--pycu2c-check=memroy")
    assert code == 4
    assert "ERROR: --pycu2c-check: " in output
    assert "some of memory, race" in output
