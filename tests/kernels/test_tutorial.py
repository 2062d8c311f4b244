"""The tutorial notebook runs in Jupyter's kernel, and its cells show tables, messages and pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.notebooks import in_jupyter

TUTORIAL = Path(__file__).parents[2] / "examples" / "tutorial.ipynb"


@pytest.mark.slow
def test_tutorial() -> None:
    cells = json.loads(TUTORIAL.read_text())["cells"]
    assert not any(cell.get("outputs") for cell in cells), "outputs are not stored: they change"
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    first, error, costs, page, finding, array, matrix, devices, last = in_jupyter(*sources)
    assert first == last == "True"
    assert 'font-weight: bold">error[' in error
    assert "^" in error
    assert "cost[stride]" in costs
    assert page.startswith("<iframe")
    assert "CUDA C" in page
    assert "out-of-bounds" in finding
    assert "('a', (1000,), (1000,))" in finding
    assert "<td" in array
    assert "0.0" in array
    assert "strides of (320, 8) bytes" in matrix
    assert "399.0" not in matrix
    assert "<table>" in devices
    assert "Stream" in devices
    assert "GiB used" in devices
