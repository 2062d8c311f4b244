"""What is promised of a GPU and what was measured, from the figures that the benchmarks left.

usage: python benchmarks/gpu_summary.py FOLDER

FOLDER holds the figures of launch.py, gpu.py, graphs.py, start_gpu.py and cupy_kernels.py, and
tests.xml, which pytest has written. The exit status is 1 if a test failed or one of these files is
missing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from figures import Figures, kept

C_LOOP = "C loop over cuLaunchKernel"
TYPED = "pycu2c: k[grid, block](…)"
LAUNCHES = (
    (TYPED, 1.7),
    ("pycu2c: configured before", 1.5),
    ("pycu2c: prepared", 1.3),
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
class Promise:
    """A figure that a benchmark leaves, and what it may be at most."""

    what: str
    benchmark: str
    figure: Callable[[Figures], float]
    most: float | None = None


def ratio(row: str, base: str, column: str) -> Callable[[Figures], float]:
    return lambda f: f[row][column] / f[base][column]


def of_hand(found: Figures) -> float:
    """Of the kernel that is furthest from hand-written CUDA C."""
    return max(row["pycu2c"] / row["hand"] for row in found.values())


def of_cupy(*, launches: bool) -> Callable[[Figures], float]:
    """Of CuPy's custom kernels, or of their launches, the one that is furthest from CuPy."""

    def worst(found: Figures) -> float:
        rows = [row for name, row in found.items() if name.endswith("µs") == launches]
        return max(row["pycu2c"] / row["CuPy"] for row in rows)

    return worst


def launches() -> list[Promise]:
    """Of kernels with five arguments, unless they say otherwise."""
    many = Promise(
        "a launch with 12 arguments − one with 3, µs",
        "launch",
        lambda f: f[TYPED]["12"] - f[TYPED]["3"],
        1.0,
    )
    by_hand = [Promise(f"{n} ÷ C loop", "launch", ratio(n, C_LOOP, "5"), m) for n, m in LAUNCHES]
    others = [Promise(f"{TYPED} ÷ {n}", "launch", ratio(TYPED, n, "5"), 1.0) for n in OTHERS]
    return [*by_hand, many, *others]


PROMISES = (
    *launches(),
    Promise("a graph of 100 kernels ÷ by C, one", "graphs", ratio("a graph", "C", "1"), 1.05),
    Promise(
        "a graph of 100 kernels ÷ by C, 50 in a row", "graphs", ratio("a graph", "C", "50"), 1.05
    ),
    Promise("kernels ÷ CUDA C by hand, the worst", "gpu", of_hand, 1.05),
    Promise("CuPy's kernels ÷ CuPy, the worst", "cupy_kernels", of_cupy(launches=False), 1.0),
    Promise("  their calls ÷ CuPy's, the worst", "cupy_kernels", of_cupy(launches=True), 1.0),
    Promise(  # the import of the package (60 ms), the first call (30 ms), and what the script does
        "a known kernel's first result − a context alone, ms",
        "start_gpu",
        lambda f: f["known kernel"]["median"] - f["context"]["median"],
        100,
    ),
    Promise("  a context alone, ms", "start_gpu", lambda f: f["context"]["median"]),
    Promise("tests failed", "tests", lambda f: f["tests"]["failed"], 0),
    Promise("  passed", "tests", lambda f: f["tests"]["passed"]),
    Promise("  skipped", "tests", lambda f: f["tests"]["skipped"]),
)


def tests(file: Path) -> Figures:
    """How many tests passed, failed and were skipped, by pytest's report."""
    if not file.exists():
        return {}
    count = {"tests": 0, "failed": 0, "skipped": 0}
    for suite in ElementTree.parse(file).getroot().iter("testsuite"):
        count["tests"] += int(suite.get("tests", 0))
        count["failed"] += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        count["skipped"] += int(suite.get("skipped", 0))
    passed = count["tests"] - count["failed"] - count["skipped"]
    return {"tests": {**count, "passed": passed}}


def line(promise: Promise, found: Figures) -> tuple[str, str, str, str]:
    """The cells of a promise: what, at most, measured, and whether it is kept."""
    most = "" if promise.most is None else f"{promise.most:g}"
    try:
        figure = promise.figure(found)
    except (KeyError, ValueError):
        return promise.what, most, "", "not measured"
    verdict = "" if promise.most is None else "yes" if figure <= promise.most else "NO"
    digits = 3 if figure < 100 and figure != int(figure) else 0
    return promise.what, most, f"{figure:.{digits}f}", verdict


def table(lines: Sequence[tuple[str, str, str, str]]) -> str:
    cells = [("on the GPU", "at most", "measured", "kept"), *lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        f"{a.ljust(widths[0])} | {b.rjust(widths[1])} | {c.rjust(widths[2])} | {d}"
        for a, b, c, d in cells
    )


def main(folder: Path) -> int:
    names = dict.fromkeys(promise.benchmark for promise in PROMISES)
    found = {name: kept(folder, name) for name in names} | {"tests": tests(folder / "tests.xml")}
    print(table([line(promise, found[promise.benchmark]) for promise in PROMISES]))
    absent = [name for name in names if not found[name]]
    if absent:
        print(f"did not come to an end: {', '.join(absent)}")
    return 1 if absent or found["tests"]["tests"]["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
