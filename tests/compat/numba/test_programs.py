"""Programs for numba, run with nothing changed but what is imported. The texts beside them are what
they print; numba's simulator prints the same where it has what they use."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pycu2c.cuda_driver import driver
from support.paths import DATA

PROGRAMS = sorted((DATA / "numba_programs").glob("*.py"))
BACKENDS = ["cpu", "cpu-resumable", "python", *(["auto"] if driver.available() else [])]
# which the simulator does not have, or has otherwise: the whole grid meets, max_registers, …
BEYOND = ["dispatch", "grid_sync", "host_side", "reductions"]


def printed(path: Path, **settings: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **settings}
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_a_program(path: Path, backend: str, tmp_path: Path) -> None:
    text, count = re.subn(r"\bnumba\b", "pycu2c", path.read_text())
    assert count
    migrated = tmp_path / path.name
    migrated.write_text(text)
    assert printed(migrated, PYCU2C_BACKEND=backend) == path.with_suffix(".txt").read_text()


@pytest.mark.parametrize(
    "path", [p for p in PROGRAMS if p.stem not in BEYOND], ids=lambda p: p.stem
)
def test_numba_prints_the_same(path: Path) -> None:
    pytest.importorskip("numba")
    assert printed(path, NUMBA_ENABLE_CUDASIM="1") == path.with_suffix(".txt").read_text()
