"""Kernels of programs that are no files: ``python -c``, and standard input."""

from __future__ import annotations

import subprocess
import sys

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
    page_breaks = "# \f \u2028 are in a line, not between lines"
    ran = run_program(page_breaks + PROGRAM.replace("scale(2)", "undefined"))
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
