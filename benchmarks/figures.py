"""Figures that a benchmark leaves for gpu_summary.py. Knows nothing of what they mean."""

from __future__ import annotations

import json
import os
from pathlib import Path

FOLDER = "BENCHMARK_FIGURES"  # a variable of the environment: where they are kept, if at all
Figures = dict[str, dict[str, float]]  # row -> column -> number


def table_of(times: dict[tuple[str, int], float]) -> Figures:
    """Times by row and column, as a table."""
    found: Figures = {}
    for (row, column), time in times.items():
        found.setdefault(row, {})[str(column)] = time
    return found


def keep(benchmark: str, figures: Figures) -> None:
    if folder := os.environ.get(FOLDER):
        text = json.dumps(figures, indent=1, ensure_ascii=False)
        _file(Path(folder), benchmark).write_text(text, encoding="utf-8")


def kept(folder: Path, benchmark: str) -> Figures:
    """What a benchmark has left; nothing if it has not come to its end."""
    file = _file(folder, benchmark)
    figures: Figures = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return figures


def _file(folder: Path, benchmark: str) -> Path:
    return folder / f"{benchmark}.json"
