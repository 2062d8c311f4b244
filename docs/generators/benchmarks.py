"""The page of benchmarks, from the JSON files that the programs in ``benchmarks`` write.

``conf.py`` writes it, and draws the plots. To renew the files, run the programs with
``BENCHMARK_RESULTS=docs/benchmarks``.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt

FOLDER = Path(__file__).parents[1] / "benchmarks"
Table = dict[str, dict[str, float]]
HEAD = """# Benchmarks

All figures of a row are from one run, in which the implementations took turns. A ratio below 1
means that pycu2c is faster. The programs are in the folder `benchmarks` of the repository; each
compares the results before it measures times.
"""


@dataclass(frozen=True)
class Benchmark:
    """A section: a file of results, and the column that others are divided by.

    ``base``: None for the fastest of a row's other columns.
    ``transposed``: the rows of the file are implementations.
    """

    file: str
    title: str
    text: str
    base: str | None
    unit: str
    scale: float = 1.0  # from the unit of the file
    transposed: bool = False


BENCHMARKS = (
    Benchmark(
        "gpu",
        "Kernels on a GPU",
        "The same algorithm in Python and in CUDA C by hand; NVRTC compiles both with the same "
        "flags. Times are of the kernel alone, by events (`benchmarks/gpu.py`).",
        "hand-written",
        "ms",
    ),
    Benchmark(
        "irregular_kernels_gpu",
        "Irregular kernels on a GPU",
        "Kernels with data-dependent loops, gathers, trees and graphs "
        "(`benchmarks/irregular_kernels.py --gpu`). [Irregular "
        "kernels](../how_it_works/irregular_kernels.md) describes them.",
        "by hand",
        "ms",
        scale=1000,
    ),
    Benchmark(
        "products",
        "Matrix products and attention",
        "Kernels in Python with TMA and wgmma, of 100 to 150 lines, beside the libraries that "
        "PyTorch calls, and Triton with autotuning. Matrices are square; attention has 16 heads of "
        "128 bfloat16 numbers, and 16,384 positions in all (`benchmarks/products.py`).",
        None,
        "ms",
    ),
    Benchmark(
        "algorithms",
        "Algorithms",
        "[`pycu2c.algorithms`](../guide/algorithms.md) and the kernels of `examples/rows.py` "
        "beside CUB, which nvcc compiles, cuSPARSE and PyTorch (`benchmarks/algorithms.py`).",
        None,
        "ms",
    ),
    Benchmark(
        "algorithms_cpu",
        "Algorithms on a CPU",
        "The same algorithms and a product with register tiles, beside NumPy and libstdc++'s "
        "parallel sort (`benchmarks/algorithms.py --cpu`).",
        None,
        "ms",
    ),
    Benchmark(
        "mini_apps",
        "Mini-apps",
        "CUDA C++ of [Oak Ridge National Laboratory](https://github.com/tdehoff/Mojo-workloads) "
        "at commit 2c438c0, compiled by nvcc with the flags of its makefiles, and the same kernels "
        "in Python (`benchmarks/mini_app_kernels.py --sources DIR`). The original of miniBUDE "
        "loads packed records byte by byte. BabelStream's copy and mul take 3 % longer than with "
        "`blockDim.x * blockIdx.x`, for which ptxas reads `blockIdx` earlier; but with that order, "
        "the stencils take 3 to 7 % longer.",
        "CUDA C++",
        "ms",
    ),
    Benchmark(
        "numba_kernels",
        "numba-cuda-mlir's benchmark kernels",
        "Kernels of [numba-cuda-mlir](https://github.com/NVIDIA/numba-cuda-mlir) at commit "
        "10ece76, of which pycu2c compiles those for numba-cuda-mlir after a change of the imports "
        "(`benchmarks/numba_kernels.py --sources DIR`). Those that numba-cuda does not compile are "
        "left out.",
        "numba-cuda",
        "ms",
    ),
    Benchmark(
        "cupy_kernels",
        "CuPy's custom kernels",
        "`pycu2c.cupy` beside CuPy (`benchmarks/cupy_kernels.py`).",
        "CuPy",
        "ms, or µs where noted",
    ),
    Benchmark(
        "launch",
        "Launches",
        "The time of a launch of an empty kernel from Python, by its number of arguments, beside a "
        "loop in C (`benchmarks/launch.py`).",
        "C loop over cuLaunchKernel",
        "µs",
        transposed=True,
    ),
    Benchmark(
        "cpu",
        "Kernels on a CPU",
        "Beside C by hand with OpenMP and other packages (`benchmarks/cpu.py`).",
        "hand-written",
        "ms, or µs where noted",
    ),
)


def write() -> None:
    """Write the page and its plots."""
    parts = [HEAD]
    for benchmark in BENCHMARKS:
        if not (FOLDER / f"{benchmark.file}.json").exists():
            continue  # it requires files of other projects
        content = json.loads((FOLDER / f"{benchmark.file}.json").read_text(encoding="utf-8"))
        rows = _transposed(content["results"]) if benchmark.transposed else content["results"]
        rows = {t: row for t, row in rows.items() if benchmark.base in (None, *row)}
        _plot(benchmark, rows)
        parts += _section(benchmark, content["about"], rows)
    text = "\n".join(parts)
    page = FOLDER / "index.md"
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def _transposed(table: Table) -> Table:
    result: Table = {}
    for name, row in table.items():
        for column, value in row.items():
            result.setdefault(f"{column} arguments", {})[name] = value
    return result


def _section(benchmark: Benchmark, about: dict[str, str], rows: Table) -> Iterator[str]:
    machine = "; ".join(f"{name} {value}" for name, value in about.items() if name != "date")
    yield f"## {benchmark.title}\n\n{benchmark.text}\n\n{about['date']}: {machine}.\n"
    yield f"![Ratios of times: {benchmark.title}]({benchmark.file}.svg)\n"
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    heads = [f"`{name}`" if "[" in name else name for name in names]
    yield f"| {benchmark.unit} | {' | '.join(heads)} | pycu2c ÷ {_base_title(benchmark)} |"
    yield "|---" * (len(names) + 2) + "|"
    for title, row in rows.items():
        scale = benchmark.scale
        cells = [f"{row[name] * scale:.3g}" if name in row else "–" for name in names]
        yield f"| {title} | {' | '.join(cells)} | {_ratio(benchmark, row):.2f} |"
    ratios = [_ratio(benchmark, row) for row in rows.values()]
    mean = statistics.geometric_mean(ratios)
    yield f"\nThe geometric mean of the ratios is {mean:.2f}, the greatest {max(ratios):.2f}.\n"


def _ratio(benchmark: Benchmark, row: dict[str, float]) -> float:
    own = _own(row)
    base = row[benchmark.base] if benchmark.base else min(row[n] for n in row if n != own)
    return row[own] / base


def _base_title(benchmark: Benchmark) -> str:
    return benchmark.base or "the fastest other"


def _own(row: dict[str, float]) -> str:
    return next(name for name in row if name.startswith("pycu2c"))


def _plot(benchmark: Benchmark, rows: Table) -> None:
    """Draw how long pycu2c takes relative to the base."""
    titles, ratios = list(rows), [_ratio(benchmark, row) for row in rows.values()]
    figure, axes = plt.subplots(figsize=(7, 0.9 + 0.24 * len(titles)), layout="constrained")
    axes.barh(titles, ratios, color="#2a788e")
    axes.axvline(1, color="black", linewidth=1)
    axes.invert_yaxis()
    axes.set_xlabel(f"time of pycu2c ÷ {_base_title(benchmark)}")
    axes.tick_params(axis="y", labelsize=8)
    figure.savefig(FOLDER / f"{benchmark.file}.svg", metadata={"Date": None})
    plt.close(figure)
