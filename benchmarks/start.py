"""What the first launch of a process costs: import, decoration, first call, second call.

    python benchmarks/start.py [runs]

Each figure is the median over fresh processes, in milliseconds. *First of all*: nothing is cached
on disk. *New kernel*: what all kernels share is cached, this one is not. *Known kernel*: it has run
before on this machine. Python's bytecode is cached, as pip leaves it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

KERNEL = """
import time
at = [time.perf_counter()]
import numpy as np
at.append(time.perf_counter())
from pycu2c import cuda, kernel
at.append(time.perf_counter())

@kernel(backend="cpu")
def saxpy(y, x, a):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = a * x[i] + y[i] + {number}

y, x = np.ones(256, np.float32), np.ones(256, np.float32)
at.append(time.perf_counter())
saxpy[1, 256](y, x, 2.0)
at.append(time.perf_counter())
saxpy[1, 256](y, x, 2.0)
at.append(time.perf_counter())
assert y[0] == 1 + 2 * (2 + {number})
print(*(1000 * (b - a) for a, b in zip(at, at[1:])))
"""

COLUMNS = ("numpy", "pycu2c", "decorate", "first call", "second call", "all but numpy")


def run(folder: Path, number: int) -> list[float]:
    """The milliseconds of a process that launches the kernel of a number."""
    file = folder / "saxpy.py"
    file.write_text(KERNEL.format(number=number))
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment |= {
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
        "PYCU2C_CACHE_DIR": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, str(file)], env=environment, capture_output=True, text=True, check=True
    )
    times = [float(word) for word in done.stdout.split()]
    return [*times, sum(times[1:4])]


def fresh_cache(folder: Path) -> None:
    for file in sorted((folder / "cache").rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(folder, 0)
        rows: dict[str, list[list[float]]] = {
            "first of all": [],
            "new kernel": [],
            "known kernel": [],
        }
        for number in range(1, runs + 1):
            rows["new kernel"].append(run(folder, 1000 + number))
            rows["known kernel"].append(run(folder, 1000 + number))
            fresh_cache(folder)
            rows["first of all"].append(run(folder, number))
        print("| |", " | ".join(COLUMNS), "|")
        print("|---|" + "---|" * len(COLUMNS))
        for what, times in rows.items():
            medians = (statistics.median(column) for column in zip(*times))
            print(f"| {what} |", " | ".join(f"{m:.1f}" for m in medians), "|")


if __name__ == "__main__":
    main()
