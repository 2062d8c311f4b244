"""The plug-in of coverage.py: kernels are covered as the same functions run by Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from support.paths import ROOT
from support.targets import ON_GPU

if "CI" not in os.environ:  # make gpu installs nothing
    pytest.importorskip("coverage")

PROGRAM = ROOT / "tests" / "data" / "coverage" / "program.py"
CONFIGURATION = """
[tool.coverage.run]
plugins = ["pycu2c.coverage"]
source = ["."]
"""
MODULE = """
from pycu2c import device

@device
def sign(x):
    if x > 0:
        return 1
    return -1
"""
SCRIPT = """
import sys
sys.path.append("outside")
import numpy as np
from pycu2c import cuda, kernel
from package.signs import sign
from other import half

@kernel(backend="cpu", check=True)
def signs(a, out):
    i = cuda.grid(1)
    if i < 3:
        out[i] = sign(a[i]) + half(a[i])

signs[1, 4](np.ones(3, np.int64), np.zeros(3))
"""


def coverage(folder: Path, *words: str, **environment: str) -> str:
    """Run coverage.py in a folder; return what it prints."""
    paths = os.pathsep.join((str(ROOT / "src"), *sys.path))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "coverage", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def report(folder: Path) -> dict[str, Any]:
    """Return what ``coverage json`` reports of each file."""
    coverage(folder, "json", "--quiet", "--show-contexts", "-o", "report.json")
    files: dict[str, Any] = json.loads((folder / "report.json").read_text())["files"]
    return files


@cache
def covered(folder: Path, mode: str, *words: str) -> dict[str, Any]:
    """Return what a run of the program covers of it."""
    folder = folder / "_".join((mode, *words)).replace("/", "_")
    folder.mkdir()
    text = CONFIGURATION.replace('["."]', json.dumps([str(PROGRAM.parent)]))
    (folder / "pyproject.toml").write_text(text)
    arguments = [word for word in words if not word.startswith("-")]
    options = [word for word in words if word.startswith("-")]
    backend = {"PYCU2C_BACKEND": "cpu"} if mode == "numba" else {}
    coverage(folder, "run", *options, str(PROGRAM), mode, *arguments, **backend)
    files = {Path(name).name: file for name, file in report(folder).items()}
    return files[PROGRAM.name]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("coverage")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("cpu", ("--branch",)),
        ("cpu", ()),
        ("cpu", ("--branch", "checked")),
        ("cpu-resumable", ("--branch",)),
        ("numba", ("--branch",)),
        *(pytest.param(*p.values, ("--branch",), marks=p.marks) for p in ON_GPU),
    ],
)
def test_same_lines_and_branches_as_python(
    target: str, words: tuple[str, ...], folder: Path
) -> None:
    kernels, plain = covered(folder, target, *words), covered(folder, "plain", *words[:1])
    for key in ("executed_lines", "missing_lines", "executed_branches", "missing_branches"):
        assert kernels.get(key) == plain.get(key), key
    assert ("executed_branches" in plain) == bool(words)
    assert 0 < plain["summary"]["missing_lines"] < plain["summary"]["num_statements"] / 3


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a script, a package that it measures and a module that it does not."""
    (tmp_path / "package").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "signs.py").write_text(MODULE)
    (tmp_path / "outside" / "other.py").write_text(MODULE.replace("sign", "half"))
    (tmp_path / "script.py").write_text(SCRIPT)
    return tmp_path


@pytest.mark.parametrize("source", ['source = ["package"]', 'omit = ["outside/*", "script.py"]'])
def test_only_measured_files(source: str, project: Path) -> None:
    text = CONFIGURATION.replace('source = ["."]', source) + "relative_files = true\n"
    (project / "pyproject.toml").write_text(text)
    coverage(project, "run", "script.py")
    files = {name: f for name, f in report(project).items() if str(ROOT) not in str(project / name)}
    assert files.pop("package/__init__.py")["summary"]["num_statements"] == 0
    assert [(name, f["missing_lines"]) for name, f in files.items()] == [("package/signs.py", [8])]


def test_contexts(project: Path) -> None:
    """Lines of a kernel are in the context of the function that launches it."""
    text = SCRIPT.replace("\nsigns[", "\ndef test_launch():\n    signs[") + "\ntest_launch()\n"
    (project / "script.py").write_text(text)
    dynamic = 'dynamic_context = "test_function"\n'
    (project / "pyproject.toml").write_text(CONFIGURATION + dynamic)
    coverage(project, "run", "script.py")
    contexts = report(project)["script.py"]["contexts"]
    launched = ["__main__.test_launch"]
    assert [contexts[str(line)] for line in (10, 11, 12)] == [[""], launched, launched]


def test_launches_of_other_processes(project: Path) -> None:
    text = "import subprocess, sys\nsubprocess.run([sys.executable, 'script.py'], check=True)\n"
    (project / "parent.py").write_text(text)
    (project / "pyproject.toml").write_text(CONFIGURATION + 'patch = ["subprocess"]\n')
    coverage(project, "run", "parent.py")
    coverage(project, "combine")
    assert report(project)["script.py"]["missing_lines"] == []


def test_nothing_is_recorded_without_the_plug_in(project: Path) -> None:
    (project / "pyproject.toml").write_text(CONFIGURATION.replace("plugins", "# plugins"))
    coverage(project, "run", "script.py")
    assert report(project)["script.py"]["missing_lines"] == [11, 12, 13]
