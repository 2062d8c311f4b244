"""Files of benchmark results, which gpu_summary.py reads."""

from __future__ import annotations

import json
import os
from pathlib import Path

FOLDER = "BENCHMARK_RESULTS"  # environment variable: the folder of the files; unset: none
Results = dict[str, dict[str, float]]  # row -> column -> number


def table_of(times: dict[tuple[str, int], float]) -> Results:
    """Return times by row and column as a table."""
    table: Results = {}
    for (row, column), time in times.items():
        table.setdefault(row, {})[str(column)] = time
    return table


def save(benchmark: str, results: Results) -> None:
    """Write the results of a benchmark, if the environment variable names a folder."""
    if folder := os.environ.get(FOLDER):
        text = json.dumps(results, indent=1, ensure_ascii=False)
        _file(Path(folder), benchmark).write_text(text, encoding="utf-8")


def load(folder: Path, benchmark: str) -> Results:
    """Return the results of a benchmark; empty if it did not finish."""
    file = _file(folder, benchmark)
    results: Results = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return results


def _file(folder: Path, benchmark: str) -> Path:
    return folder / f"{benchmark}.json"
