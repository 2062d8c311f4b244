"""Kernels of programs that are no files: ``python -c``, and notebook cells with ``%%time``."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda

PROGRAM = """
import numpy as np
from pycu2c import kernel

@kernel(backend="cpu")
def doubled(a):
    i = cuda.grid(1)
    a[i] *= scale(2)

from pycu2c import cuda, device
scale = device(lambda x: x + 1)
a = np.ones(3)
doubled[1, 3](a)
print(a.tolist())
"""


def run_program(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_a_program_of_the_command_line() -> None:
    ran = run_program(PROGRAM)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "[3.0, 3.0, 3.0]\n"


def test_errors_show_lines_of_the_program() -> None:
    ran = run_program(PROGRAM.replace("scale(2)", "undefined"))
    assert "a[i] *= undefined" in ran.stderr
    assert "<string>:8:13" in ran.stderr


def test_code_of_exec_in_a_program_is_not_taken_for_it() -> None:
    inner = PROGRAM.replace("scale(2)", "scale(7)")
    ran = run_program(f"{PROGRAM}\nexec({inner!r})")
    assert "the source of doubled is not available" in ran.stderr


def test_a_program_on_standard_input() -> None:
    """Python keeps no text of it; no file has changed."""
    ran = subprocess.run([sys.executable], input=PROGRAM, capture_output=True, text=True)
    assert "the source of doubled is not available (<stdin>)" in ran.stderr


def execute_timed(body: str, history: list[str]) -> dict[str, Any]:
    """Execute a cell as IPython's ``%%time`` does; ``In`` has the texts of the cells."""
    names: dict[str, Any] = {"cuda": cuda, "In": history}
    exec(compile(body, "<timed exec>", "exec", dont_inherit=True), names)
    return names


CELL = "@cuda.jit\ndef halved(a):\n    i = cuda.grid(1)\n    a[i] /= 2\n"


def test_a_timed_cell() -> None:
    names = execute_timed(CELL, ["", f"%%time\n{CELL}"])
    a = np.ones(2)
    names["halved"][1, 2](a)
    assert a.tolist() == [0.5, 0.5]


def test_a_timed_cell_with_another_text() -> None:
    with pytest.raises(CompileError, match="the source of halved is not available"):
        execute_timed(CELL.replace("2", "5"), ["", "%%time\n" + CELL.replace("2", "3")])
