"""The gallery and the demo: programs run, pass their own checks, and draw pictures with labels."""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if "CI" not in os.environ:  # make gpu installs nothing
    pytest.importorskip("matplotlib")

import matplotlib
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent.parent / "examples"
EXAMPLES = sorted((FOLDER / "gallery").glob("*.py"))
DEMO = ("edges", "heat", "reduction")


@pytest.fixture(autouse=True)
def pictures_in_memory() -> Iterator[None]:
    with matplotlib.rc_context({"backend": "agg"}):
        yield
        plt.close("all")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example: Path) -> None:
    runpy.run_path(str(example), run_name="__main__")
    assert plt.get_fignums()
    for number in plt.get_fignums():
        assert_labelled(plt.figure(number))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_has_no_findings(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No data race, index out of bounds or missing barrier."""
    monkeypatch.setenv("PYCU2C_CHECK", "1")
    runpy.run_path(str(example), run_name="__main__")


def assert_labelled(figure: Any) -> None:
    """Assert that the figure fits the page, nothing is cut off, and texts say what is drawn."""
    width, height = figure.get_size_inches()
    assert width <= 6.4
    figure.canvas.draw()
    x0, y0, x1, y1 = figure.get_tightbbox().extents
    assert min(x0, y0) >= -0.02, "a text is cut off"
    assert max(x1 - width, y1 - height) <= 0.02, "a text is cut off"
    assert figure.get_suptitle() or any(ax.get_title() for ax in figure.axes)
    for ax in figure.axes:
        shares_y = len(ax.get_shared_y_axes().get_siblings(ax)) > 1
        is_colour_bar = hasattr(ax, "_colorbar")
        assert ax.get_xlabel() or is_colour_bar, ax.get_title()
        assert ax.get_ylabel() or shares_y, ax.get_title()


@pytest.fixture
def demo_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))


@pytest.mark.parametrize("name", DEMO)
def test_demo_writes_a_picture(name: str, demo_modules: None, tmp_path: Path) -> None:
    out = tmp_path / "out" / f"{name}.png"
    importlib.import_module(name).main(["--size", "100", "--out", str(out)])
    assert plt.imread(out).shape[2] == 4


def test_rows(demo_modules: None, capsys: pytest.CaptureFixture[str]) -> None:
    importlib.import_module("rows").main(["--size", "3"])
    assert capsys.readouterr().out.count("checked") == 6


def test_edges_of_a_picture(demo_modules: None, tmp_path: Path) -> None:
    """8-bit pixels of a PNG file, which Matplotlib reads as floats."""
    edges, photo = importlib.import_module("edges"), importlib.import_module("photo")
    pixels = photo.landscape(50)
    plt.imsave(tmp_path / "input.png", pixels)
    assert (edges.photograph(tmp_path / "input.png", 0) == pixels).all()


def test_demo_without_matplotlib(
    demo_modules: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    importlib.import_module("heat").main(["--size", "64", "--steps", "2"])
    output = capsys.readouterr().out
    assert "no picture: install Matplotlib" in output
    assert "checked: temperature after 2 steps" in output
