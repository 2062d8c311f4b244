"""How long until a first kernel has run: imports and first calls of pycu2c and its peers.

usage: python benchmarks/start.py [--rounds N]

Every time is that of a new Python process that has imported numpy; medians of the rounds, in
milliseconds. The calls: a first one where nothing is cached, one of a kernel that is not cached
where another is, one of a kernel that is, and the call after that.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROUNDS = 5
FIRST_CALL = Path(__file__).with_name("first_call.py")
MODULES = ("pycu2c", "numba", "taichi", "warp")
CACHES = (
    "PYCU2C_CACHE_DIR",
    "NUMBA_CACHE_DIR",
    "TI_OFFLINE_CACHE_FILE_PATH",
    "WARP_CACHE_PATH",
)
# what imports compile is kept for all processes, as in an installed package
BYTECODE = tempfile.TemporaryDirectory(prefix="pycu2c-bench-")
COLUMNS = ("import", "empty cache", "new kernel", "cached", "next call")


def times(module: str, kernel: str, cache: str) -> list[float]:
    """Of the import, the first and the second call, in a process of their own."""
    own = {"PYTHONPYCACHEPREFIX": BYTECODE.name, "PYTHONDONTWRITEBYTECODE": ""}
    ran = subprocess.run(
        (sys.executable, FIRST_CALL, module, kernel),
        env={**os.environ, **dict.fromkeys(CACHES, cache), **own},
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(word) for word in ran.stdout.splitlines()[-1].split()]


def one_round(module: str) -> list[float]:
    """What the columns say."""
    with tempfile.TemporaryDirectory(prefix="pycu2c-bench-") as cache:
        imported, empty, _ = times(module, "add", cache)
        _, new, _ = times(module, "scale", cache)
        _, cached, after = times(module, "scale", cache)
    return [imported, empty, new, cached, after]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    here = [module for module in MODULES if find_spec(module)]
    found = {module: [] for module in here}
    for module in here:
        one_round(module)
    for _ in range(rounds):
        for module in here:
            found[module].append(one_round(module))
    print(" | ".join(("ms     ", *COLUMNS)))
    for module, rows in found.items():
        medians = [statistics.median(column) for column in zip(*rows, strict=True)]
        cells = (f"{m:>{len(c)}.3g}" for m, c in zip(medians, COLUMNS, strict=True))
        print(" | ".join((module.ljust(7), *cells)))


if __name__ == "__main__":
    main()
