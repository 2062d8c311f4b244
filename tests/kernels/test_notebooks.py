"""Kernels in notebooks, with errors in cells: in IPython, and in Jupyter's kernel by nbclient."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from support.notebooks import RUNNERS

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("run_cells", RUNNERS)]

KERNELS = """
import numpy as np
from pycu2c import cuda, device, kernel
from pycu2c.cupy import jit

@device
def step(x):
    return x * 2

@kernel(backend="cpu")
def k(out):
    i = cuda.grid(1)
    for x in (1, 2.5):
        out[i] += step(x)
"""
LATER_KERNELS = """
@cuda.jit(device=True)
def positive(x):
    x + 1
    if x > 0:
        return x

@cuda.jit
def of_numba(out):
    out[cuda.grid(1)] = positive(2.5)

@jit.rawkernel()
def of_cupy(out):
    for _ in jit.range(3, unroll=True):
        out[jit.threadIdx.x] -= 1
"""
LAUNCH = "out = np.zeros(2); k[1, 2](out); print(out)"
ERRORS = [
    "1 / 0",
    "np.linalg.inv(np.zeros(3))",  # the traceback has lines of a long file
    "k() +* 2",
    "k[1](out)",
    "k[1, 2]('text')",
    "@kernel\ndef wrong(out):\n    out[0] = unknown\nwrong[1, 1](np.zeros(1))",
]
NAMES = [
    "ZeroDivisionError",
    "LinAlgError",
    "SyntaxError",
    "LaunchError",
    "CompileError",
    "CompileError",
]

Cells = Callable[..., list[str]]


def test_a_function_and_a_global_of_another_cell_are_defined_again(run_cells: Cells) -> None:
    """The launch says so; a cell that runs again without a change is no change."""
    function = "@device\ndef step(x):\n    return x * SCALE\n"
    tripled, scale = function.replace("SCALE", "3"), "SCALE = 2.5"
    first, last = KERNELS.split("@device")[0], KERNELS[KERNELS.index("\n@kernel") :]
    start = [first, function, scale, last]
    cells = [*start, *[LAUNCH, function, scale] * 3, LAUNCH, "SCALE = 2", LAUNCH, LAUNCH]
    printed = run_cells(*cells)
    assert {*printed[4:14:3], printed[-1]} == {"[8.75 8.75]\n"}
    assert "LaunchWarning: `SCALE` changed after k was compiled" in printed[-2]
    changed = [*start, *[LAUNCH] * 4, tripled, LAUNCH, "k.recompile()", *[LAUNCH] * 4]
    *_, warned, _, a, b, c, d = run_cells(*changed)
    assert "LaunchWarning: `step` changed after k was compiled" in warned
    assert {a, b, c, d} == {"[10.5 10.5]\n"}


EDITED = """
import importlib, sys
import numpy as np
sys.path.insert(0, {folder!r})

def write(n):
    with open({folder!r} + "/edited_module.py", "w") as file:
        file.write({text!r}.replace("N", str(n)))

write(3)
import edited_module
out = np.zeros(1)
"""
MODULE = """
from pycu2c import cuda, kernel

@kernel(backend="cpu")
def k(out):
    out[cuda.grid(1)] = N
"""


def test_a_module_is_edited_and_reloaded(run_cells: Cells, tmp_path: Path) -> None:
    launch = "edited_module.k[1, 1](out); print(out)"
    reload = "importlib.reload(edited_module); " + launch
    start = [EDITED.format(folder=str(tmp_path), text=MODULE), launch]
    *_, first, _, _, last = run_cells(*start, "1 / 0", "write(45)", reload)
    assert (first, last) == ("[3.]\n", "[45.]\n")
    automatic = ["%load_ext autoreload", "%autoreload 2", "write(678)", launch]
    assert run_cells(*start, *automatic)[-1] == "[678.]\n"


def test_launches_after_errors(run_cells: Cells) -> None:
    """The first launch with new types, and later ones, also of kernels defined after the errors."""
    launches = [LAUNCH, "k[1, 2](out := np.zeros(2, np.float32)); print(out)"]
    later = [f"{name}[1, 2](out := np.zeros(2)); print(out)" for name in ("of_numba", "of_cupy")]
    cells = [KERNELS, *ERRORS, *launches, *ERRORS, LATER_KERNELS, *launches, *later]
    _, *printed = run_cells(*cells)
    errors, results = printed[:6] + printed[8:14], printed[6:8] + printed[15:]
    for name, text in zip(NAMES + NAMES, errors):
        assert name in text
    assert results == ["[7. 7.]\n"] * 4 + ["[2.5 2.5]\n", "[-3. -3.]\n"]


MAGICS = ["%%time", "\n%%time\n\n# comment\n", "%%prun -q", "%%capture printed\n%%time"]


def test_cells_with_magics(run_cells: Cells) -> None:
    """IPython executes the rest of these cells under a name that is no file."""
    first, later = KERNELS.replace("import numpy", "!echo\nimport numpy"), "del k"
    cells = [f"{magic}\n{first}\n{LAUNCH}" for magic in MAGICS]
    printed = run_cells(*(text for cell in cells for text in (cell, LAUNCH, later)))
    assert printed[1::3] == ["[7. 7.]\n"] * len(MAGICS)


def test_code_of_exec_in_a_cell_with_a_magic(run_cells: Cells) -> None:
    """It has the same name as the text of the cell."""
    other = KERNELS.replace("2.5", "3.5")
    ran, printed = run_cells(f"%%prun -q\n{KERNELS}\nexec({other!r})", LAUNCH)
    assert "the source of step is not available (<string>)" in ran + printed
