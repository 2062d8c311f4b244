"""Run the cells of a notebook in Jupyter's kernel or in IPython, and return what each shows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence

import pytest

_TIMEOUT = 300  # seconds; it only ends a hang

_IN_IPYTHON = """
import contextlib, io, json, sys
from IPython.core.interactiveshell import InteractiveShell
shell, printed = InteractiveShell.instance(colors="nocolor"), []
for cell in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        shell.run_cell(cell, store_history=True)
    printed.append(out.getvalue())
print(json.dumps(printed))
"""

_IN_JUPYTER = """
import json, sys, warnings
import nbclient, nbformat
warnings.simplefilter("ignore")
cells = [nbformat.v4.new_code_cell(cell) for cell in json.load(sys.stdin)]
notebook = nbformat.v4.new_notebook(cells=cells)
nbclient.NotebookClient(notebook, allow_errors=True, timeout=240).execute()
def text(output):
    data = output.get("data", {})
    if data:
        return data.get("text/html") or data["text/plain"]
    return output.get("text") or f"{output.get('ename')}: {output.get('evalue')}"
print(json.dumps(["".join(map(text, cell.outputs)) for cell in notebook.cells]))
"""


def in_ipython(*cells: str) -> list[str]:
    pytest.importorskip("IPython")
    return _run(_IN_IPYTHON, cells)


def in_jupyter(*cells: str) -> list[str]:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    return _run(_IN_JUPYTER, cells)


def _run(program: str, cells: Sequence[str]) -> list[str]:
    ran = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT,
    )
    assert ran.returncode == 0, ran.stderr
    printed: list[str] = json.loads(ran.stdout.splitlines()[-1])
    return printed


RUNNERS: list[Callable[..., list[str]]] = [in_ipython, in_jupyter]
