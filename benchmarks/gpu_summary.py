"""Compare the results of the GPU benchmarks with their limits.

usage: python benchmarks/gpu_summary.py FOLDER

FOLDER has the results of launch.py, gpu.py, graphs.py, startup_gpu.py, cupy_kernels.py,
irregular_kernels.py, products.py and algorithms.py, and pytest's report tests.xml. The exit status
is 1 if a test failed or one of these files is missing.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from results import Results, load

C_LOOP = "C loop over cuLaunchKernel"
TYPED = "pycu2c: k[grid, block](…)"
LAUNCHES = (
    (TYPED, 1.7),
    ("pycu2c: configured before", 1.5),
)
OTHERS = (
    "CuPy: RawKernel",
    "CuPy: ElementwiseKernel",
    "PyCUDA: prepared_call",
    "Warp: launch",
    "Warp: recorded",
    "numba-cuda: k[grid, block](…)",
)


@dataclass(frozen=True)
class Limit:
    """A number computed from the results of a benchmark, and its maximum (None: only printed)."""

    what: str
    benchmark: str
    compute: Callable[[Results], float]
    maximum: float | None = None


def ratio(row: str, base: str, column: str) -> Callable[[Results], float]:
    return lambda f: f[row][column] / f[base][column]


def slowest_to_hand_written(results: Results) -> float:
    """Return the largest ratio of a kernel to hand-written CUDA C."""
    return max(row["pycu2c"] / row["hand-written"] for row in results.values())


def irregular_ratios(results: Results) -> list[float]:
    return [row["pycu2c"] / row["by hand"] for row in results.values()]


def slowest_algorithm(other: str) -> Callable[[Results], float]:
    """Compute the largest ratio of an algorithm to that of another library."""
    return lambda f: max(row["pycu2c"] / row[other] for row in f.values() if other in row)


def slowest_to_cupy(*, launches: bool) -> Callable[[Results], float]:
    """Compute the largest ratio to CuPy of its custom kernels, or of their launches."""

    def compute(results: Results) -> float:
        rows = [row for name, row in results.items() if name.endswith("µs") == launches]
        return max(row["pycu2c"] / row["CuPy"] for row in rows)

    return compute


def launches() -> list[Limit]:
    """Return the limits of launches, with five arguments where the name gives no number."""
    many = Limit(
        "a launch with 12 arguments − one with 3, µs",
        "launch",
        lambda f: f[TYPED]["12"] - f[TYPED]["3"],
        1.0,
    )
    by_hand = [Limit(f"{n} ÷ C loop", "launch", ratio(n, C_LOOP, "5"), m) for n, m in LAUNCHES]
    others = [Limit(f"{TYPED} ÷ {n}", "launch", ratio(TYPED, n, "5"), 1.0) for n in OTHERS]
    return [*by_hand, many, *others]


LIMITS = (
    *launches(),
    Limit("a graph of 100 kernels ÷ by C, one", "graphs", ratio("a graph", "C", "1"), 1.05),
    Limit(
        "a graph of 100 kernels ÷ by C, 50 in a row", "graphs", ratio("a graph", "C", "50"), 1.05
    ),
    Limit("kernels ÷ CUDA C by hand, the worst", "gpu", slowest_to_hand_written, 1.05),
    Limit(
        "irregular kernels ÷ CUDA C by hand, geometric mean",
        "irregular_kernels_gpu",
        lambda f: statistics.geometric_mean(irregular_ratios(f)),
        1.03,
    ),
    Limit("  the worst", "irregular_kernels_gpu", lambda f: max(irregular_ratios(f)), 1.1),
    Limit("CuPy's kernels ÷ CuPy, the worst", "cupy_kernels", slowest_to_cupy(launches=False), 1.0),
    Limit("  their calls ÷ CuPy's, the worst", "cupy_kernels", slowest_to_cupy(launches=True), 1.0),
    Limit("products ÷ cuBLAS, the worst", "products", slowest_algorithm("cuBLAS"), 1.08),
    Limit("attention ÷ FlashAttention", "products", slowest_algorithm("FlashAttention"), 1.34),
    Limit("algorithms ÷ CUB, the worst", "algorithms", slowest_algorithm("CUB"), 1.11),
    Limit("  ÷ cuSPARSE", "algorithms", slowest_algorithm("cuSPARSE"), 1.11),
    Limit("  ÷ PyTorch", "algorithms", slowest_algorithm("PyTorch"), 1.0),
    Limit(  # the import of the package (60 ms), the first call (30 ms), and what the script does
        "a cached kernel's first result − a context alone, ms",
        "startup_gpu",
        lambda f: f["cached kernel"]["median"] - f["context"]["median"],
        100,
    ),
    Limit("  a context alone, ms", "startup_gpu", lambda f: f["context"]["median"]),
    Limit("tests failed", "tests", lambda f: f["tests"]["failed"], 0),
    Limit("  passed", "tests", lambda f: f["tests"]["passed"]),
    Limit("  skipped", "tests", lambda f: f["tests"]["skipped"]),
)


def test_counts(file: Path) -> Results:
    """Return how many tests passed, failed and were skipped, from pytest's report."""
    if not file.exists():
        return {}
    count = {"tests": 0, "failed": 0, "skipped": 0}
    for suite in ElementTree.parse(file).getroot().iter("testsuite"):
        count["tests"] += int(suite.get("tests", 0))
        count["failed"] += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        count["skipped"] += int(suite.get("skipped", 0))
    passed = count["tests"] - count["failed"] - count["skipped"]
    return {"tests": {**count, "passed": passed}}


def line(limit: Limit, results: Results) -> tuple[str, str, str, str]:
    """Return the cells of a limit: name, maximum, value, and whether the limit is met."""
    maximum = "" if limit.maximum is None else f"{limit.maximum:g}"
    try:
        value = limit.compute(results)
    except (KeyError, ValueError):
        return limit.what, maximum, "", "not measured"
    verdict = "" if limit.maximum is None else "yes" if value <= limit.maximum else "NO"
    digits = 3 if value < 100 and value != int(value) else 0
    return limit.what, maximum, f"{value:.{digits}f}", verdict


def table(lines: Sequence[tuple[str, str, str, str]]) -> str:
    cells = [("on the GPU", "at most", "measured", "met"), *lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        f"{a.ljust(widths[0])} | {b.rjust(widths[1])} | {c.rjust(widths[2])} | {d}"
        for a, b, c, d in cells
    )


def main(folder: Path) -> int:
    names = dict.fromkeys(limit.benchmark for limit in LIMITS)
    results = {name: load(folder, name) for name in names} | {
        "tests": test_counts(folder / "tests.xml")
    }
    print(table([line(limit, results[limit.benchmark]) for limit in LIMITS]))
    absent = [name for name in names if not results[name]]
    if absent:
        print(f"did not finish: {', '.join(absent)}")
    return 1 if absent or results["tests"]["tests"]["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
