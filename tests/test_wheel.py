"""The wheel has the C extension, and works without a checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = ("src", "setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE")

pytestmark = pytest.mark.slow

PROGRAM = """
import numpy as np
import pycu2c
from pycu2c import cuda, kernel
from pycu2c.native import extension

@kernel(backend="cpu")
def scale(out, a, x):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * x

out = np.zeros(5)
for x in (1, 2, 3):
    scale[1, 8](out, np.arange(5.0), x)
print(out.tolist(), scale.launcher.dispatch_table.take_latest() is not None, extension.UNAVAILABLE)
print(pycu2c.__file__)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what a wheel is made of, without anything that was built."""
    if not os.environ.get("CI"):  # there it must be installed
        pytest.importorskip("setuptools", minversion="77")
    folder = tmp_path / "checkout"
    folder.mkdir()
    built = shutil.ignore_patterns("*.so", "*.egg-info", "__pycache__")
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=built)
        else:
            shutil.copy(source, folder / name)
    return folder


def wheel_of(checkout: Path, **environment: str) -> Path:
    """The wheel, built by the interpreter's own setuptools: nothing is downloaded."""
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    words += ["--no-build-isolation", "--wheel-dir", str(checkout.parent), "."]
    subprocess.run(words, cwd=checkout, env={**os.environ, **environment}, check=True)
    (result,) = checkout.parent.glob("*.whl")
    return result


def launched_from(wheel: Path, folder: Path) -> list[str]:
    """What a program prints in a virtual environment with the wheel. All other packages are those
    that this interpreter finds, in its own folders or by PYTHONPATH."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    inside = [str(folder / "bin" / "python")]
    (paths,) = (folder / "lib").glob("python*/site-packages")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(paths)
    own = {ROOT, ROOT / "src", ROOT / "tests"}
    others = [entry for entry in sys.path if Path(entry).is_dir() and Path(entry) not in own]
    (paths / "others.pth").write_text("\n".join(others) + "\n")
    program = folder / "program.py"
    program.write_text(PROGRAM)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    clean["PYCU2C_CACHE_DIR"] = str(folder / "cache")
    words = [*inside, str(program)]
    ran = subprocess.run(words, cwd=folder, env=clean, capture_output=True, text=True, check=True)
    said, where = ran.stdout.splitlines()
    assert where.startswith(str(paths))
    return said.split("] ")


def test_a_wheel_has_the_extension(checkout: Path, tmp_path: Path) -> None:
    wheel = wheel_of(checkout)
    assert "-cp311-abi3-" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.startswith("pycu2c/native/_dispatch.abi3") for name in names)
    assert {"pycu2c/native/_dispatch.pyi", "pycu2c/native/launch_header.h"} <= set(names)
    assert launched_from(wheel, tmp_path / "venv") == ["[0.0, 3.0, 6.0, 9.0, 12.0", "True "]


def test_without_a_compiler_a_wheel_takes_the_slow_path(checkout: Path, tmp_path: Path) -> None:
    wheel = wheel_of(checkout, CC="/bin/false", LDSHARED="/bin/false")
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if "abi3" in name]
    said, rest = launched_from(wheel, tmp_path / "venv")
    assert said == "[0.0, 3.0, 6.0, 9.0, 12.0"
    assert rest.startswith("False ")
    assert "_dispatch" in rest
