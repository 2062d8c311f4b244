"""Files of benchmark results, which gpu_summary.py and the documentation read."""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import json
import os
import platform
from pathlib import Path

from pycu2c.cuda_driver import driver
from pycu2c.toolchain.cc import cc
from pycu2c.toolchain.nvrtc import program as nvrtc

FOLDER = "BENCHMARK_RESULTS"  # environment variable: the folder of the files; unset: none
PACKAGES = (
    "numpy",
    "numba",
    "numba-cuda",
    "numba-cuda-mlir",
    "cupy-cuda13x",
    "warp-lang",
    "taichi",
    "torch",
    "triton",
    "pocl-binary-distribution",
)
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
        text = json.dumps({"about": about(), "results": results}, indent=1, ensure_ascii=False)
        _file(Path(folder), benchmark).write_text(text + "\n", encoding="utf-8")


def about() -> dict[str, str]:
    """Return the date, the machine, and the versions of the packages that may be compared."""
    facts = {
        "date": datetime.date.today().isoformat(),
        "processor": f"{_processor()}, {os.cpu_count()} threads",
        "compiler": cc.find_compiler().version.partition("\n")[0],
        "Python": platform.python_version(),
    }
    if driver.available():
        facts["GPU"] = driver.device().name
        facts["NVRTC"] = ".".join(map(str, nvrtc.version()))
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            facts[package] = importlib.metadata.version(package)
    return facts


def _processor() -> str:
    """Return the name of the processor."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def load(folder: Path, benchmark: str) -> Results:
    """Return the results of a benchmark; empty if it did not finish."""
    file = _file(folder, benchmark)
    if not file.exists():
        return {}
    results: Results = json.loads(file.read_text(encoding="utf-8"))["results"]
    return results


def _file(folder: Path, benchmark: str) -> Path:
    return folder / f"{benchmark}.json"
