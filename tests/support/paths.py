"""The directories that tests read files from."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent.parent
ROOT = TESTS.parent  # of the repository
DATA = TESTS / "data"
