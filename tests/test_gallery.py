"""The examples of the gallery: they run, pass their own checks, and their pictures have labels."""

from __future__ import annotations

import os
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if "CI" not in os.environ:  # make gpu installs nothing
    pytest.importorskip("matplotlib")

import matplotlib
import matplotlib.pyplot as plt

EXAMPLES = sorted((Path(__file__).parent.parent / "examples" / "gallery").glob("*.py"))


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
    """Assert that the figure fits the page and that titles and labels say what is drawn."""
    assert figure.get_figwidth() <= 6.4
    assert figure.get_suptitle() or any(ax.get_title() for ax in figure.axes)
    for ax in figure.axes:
        shares_y = len(ax.get_shared_y_axes().get_siblings(ax)) > 1
        is_colour_bar = hasattr(ax, "_colorbar")
        assert ax.get_xlabel() or is_colour_bar, ax.get_title()
        assert ax.get_ylabel() or shares_y, ax.get_title()
