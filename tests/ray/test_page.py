"""The page about Ray: its Python runs. Most other pages are in tests/test_docs.py."""

from __future__ import annotations

from pathlib import Path

from support.kernels_from_text import module_from, python_blocks

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "ray.md"


def test_python_runs(tmp_path: Path) -> None:
    module_from(python_blocks(PAGE), tmp_path)
