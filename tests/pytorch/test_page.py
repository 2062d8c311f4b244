"""The page about PyTorch: its Python runs. The other pages are in tests/test_docs.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.kernels_from_text import module_from, python_blocks

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "pytorch.md"
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")]


def test_python_runs(tmp_path: Path) -> None:
    module_from(python_blocks(PAGE), tmp_path)
