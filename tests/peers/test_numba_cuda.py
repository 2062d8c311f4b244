"""The test suite of numba-cuda, with the names of pycu2c in place of numba's.

It runs if PYCU2C_NUMBA_CUDA is the folder of a checkout. ``numba_cuda.txt`` is the table that
``numba_cuda.py`` prints with NUMBA_ENABLE_CUDASIM=1 and PYCU2C_BACKEND=cpu; a file must not pass
fewer tests than the table says.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = os.environ.get("PYCU2C_NUMBA_CUDA", "")
HERE = Path(__file__).parent


def recorded() -> dict[str, int]:
    """Return the number of tests that passed, by file."""
    rows = [line.split() for line in (HERE / "numba_cuda.txt").read_text().splitlines()]
    return {row[0]: int(row[1]) for row in rows if "/" in row[0]}


@pytest.mark.slow
@pytest.mark.skipif(not SUITE, reason="PYCU2C_NUMBA_CUDA is not the folder of numba-cuda")
@pytest.mark.parametrize("path", recorded() if SUITE else ["no suite"])
def test_passes_as_many_tests_as_recorded(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    monkeypatch.setenv("PYCU2C_BACKEND", "cpu")
    numba_cuda = __import__("numba_cuda")
    outcomes = numba_cuda.run_in_process(Path(SUITE).resolve(), path)
    failures = {name: o.text for name, o in outcomes.items() if o.kind == "failed"}
    passed = sum(outcome.kind == "passed" for outcome in outcomes.values())
    assert passed >= recorded()[path], failures


PROGRAM = """
import sys
from pathlib import Path

import numba_cuda

numba_cuda.put_names_in_place(Path("."))

import numba.cuda.core.ir as ir
from numba import cuda, njit
from numba.cuda import types
from numba.cuda.core.errors import TypingError

import pycu2c

assert cuda.grid is pycu2c.cuda.grid
assert njit is pycu2c.njit
assert TypingError is pycu2c.CompileError
assert types.float32 is pycu2c.float32
assert isinstance(ir.Block, numba_cuda.AbsentName)
"""


def test_names_of_numba_are_those_of_pycu2c() -> None:
    """A process of its own maps the names, because the mapping is global."""
    paths = os.pathsep.join([str(HERE), *sys.path])
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert ran.returncode == 0, ran.stderr
