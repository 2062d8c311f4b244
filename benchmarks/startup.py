"""Time the start of a process: import, decoration, first and second call.

usage: python benchmarks/startup.py [--rounds N] [--only NAME,…]

Each figure is the median over fresh processes that have imported numpy, in milliseconds. *Empty
cache*: nothing is cached on disk. *New kernel*: only what all kernels share is cached.
*Cached kernel*: it has run before on this machine. Python's bytecode is cached, as after pip.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

ROUNDS = 9
PROCESS = Path(__file__).with_name("startup_process.py")
MODULES = ("pycu2c", "numba", "taichi", "warp")
CACHES = (
    "PYCU2C_CACHE_DIR",
    "NUMBA_CACHE_DIR",
    "TI_OFFLINE_CACHE_FILE_PATH",
    "WARP_CACHE_PATH",
)
STATES = ("empty cache", "new kernel", "cached kernel")
COLUMNS = ("import", "decorate", "first call", "total", "second call")


def times(module: str, kernel: str, cache: str, bytecode: str) -> list[float]:
    """Return the milliseconds of a process that launches a kernel twice."""
    settings = {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    ran = subprocess.run(
        (sys.executable, PROCESS, module, kernel),
        env={**os.environ, **dict.fromkeys(CACHES, cache), **settings},
        capture_output=True,
        text=True,
        check=True,
    )
    imported, decorated, first, second = map(float, ran.stdout.splitlines()[-1].split())
    return [imported, decorated, first, imported + decorated + first, second]


def one_round(module: str, bytecode: str) -> list[list[float]]:
    """Return the columns for each state of the cache."""
    with tempfile.TemporaryDirectory(prefix="pycu2c-bench-") as cache:
        return [times(module, kernel, cache, bytecode) for kernel in ("add", "scale", "scale")]


def table(measured: dict[str, list[list[list[float]]]]) -> str:
    lines = [" | ".join((f"{'ms':20}", *COLUMNS))]
    for module, rounds in measured.items():
        for state, rows in zip(STATES, zip(*rounds, strict=True), strict=True):
            medians = [statistics.median(column) for column in zip(*rows, strict=True)]
            lines.append(_line(f"{module}, {state}", medians))
    return "\n".join(lines)


def _line(title: str, medians: Sequence[float]) -> str:
    cells = (f"{m:>{len(c)}.3g}" for m, c in zip(medians, COLUMNS, strict=True))
    return " | ".join((title.ljust(20), *cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default=",".join(MODULES), help=", ".join(MODULES))
    options = parser.parse_args()
    installed = [module for module in options.only.split(",") if find_spec(module)]
    measured: dict[str, list[list[list[float]]]] = {module: [] for module in installed}
    with tempfile.TemporaryDirectory(prefix="pycu2c-bench-") as bytecode:
        for module in installed:
            one_round(module, bytecode)
        for _ in range(options.rounds):
            for module in installed:
                measured[module].append(one_round(module, bytecode))
    print(table(measured))


if __name__ == "__main__":
    main()
