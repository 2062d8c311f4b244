"""Test that the benchmarks run and compute correct results."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "benchmarks"))

import cpu_cases  # noqa: E402
import gpu_summary  # noqa: E402
import irregular  # noqa: E402
import results  # noqa: E402
from implementations import IMPLEMENTATIONS, Task  # noqa: E402
from pycu2c.toolchain.nvrtc import nvrtc  # noqa: E402
from pycu2c.toolchain.toolchain_errors import ToolchainError  # noqa: E402

WITHOUT_NUMPY = ("nbody-fast", "shuffle", "shared-histogram")  # numpy has one form of both cases


def output(*words: str, **environment: str) -> str:
    """Return what a benchmark prints."""
    path = os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)])
    ran = subprocess.run(
        (sys.executable, ROOT / "benchmarks" / words[0], *words[1:]),
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


def prepared(name: str, row: Any) -> Any:
    implementation = IMPLEMENTATIONS[name]
    task = Task(row, row.small, row.problem(row.small))
    module = importlib.import_module(implementation.module)
    return task.problem, module.prepare(task, implementation.option)


@pytest.mark.parametrize("row", cpu_cases.CASES, ids=lambda row: row.name)
@pytest.mark.parametrize("name", ["pycu2c", "hand-written", "numpy"])
def test_cases_are_computed(name: str, row: Any) -> None:
    problem, run = prepared(name, row)
    if run is None:
        assert name == "numpy"
        assert row.name in WITHOUT_NUMPY
        return
    before = problem.disagreement()
    run.call()
    run.fetch()
    assert before
    assert not problem.disagreement()


def test_the_table() -> None:
    words = ("--cases", "saxpy,tiny", "--rounds", "2", "--only", "pycu2c,hand-written", "--small")
    ran = output("cpu.py", *words)
    head, saxpy, tiny = ran.splitlines()[-3:]
    assert "pycu2c/hand-written (best)" in head
    assert "failed" not in saxpy + tiny
    assert saxpy.startswith("saxpy 2^24, ms")
    assert tiny.startswith("tiny launch, µs")


def test_a_product_by_tensor_cores_is_right_on_the_cpu() -> None:
    assert output("products.py", "--cpu").count("right on the CPU") == 5


def test_mini_apps_are_right_on_the_cpu() -> None:
    ran = output("mini_app_kernels.py", "--cpu")
    assert ran.count("right on the CPU") == 15


BENCHMARK_OF_NUMBA = """
from benchmark_utils import selected
import numpy as np
assert selected() == "numba-cuda-mlir"
from numba_cuda_mlir import cuda
from numba_cuda_mlir.numba_cuda import types

@cuda.jit
def double_numba_cuda_mlir(x):
    x[cuda.grid(1)] *= types.float32(2)

def test_double():
    x = cuda.to_device(np.ones(4, np.float32))
    double_numba_cuda_mlir[1, 4](x)
    assert x.copy_to_host().tolist() == [2] * 4

def test_double_benchmark(benchmark_runner):
    raise AssertionError
"""


def test_benchmarks_of_numba_run_on_the_cpu(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "benchmarks"
    (folder / "double").mkdir(parents=True)
    (folder / "double" / "test_double.py").write_text(BENCHMARK_OF_NUMBA)
    utilities = "import sys\ndef selected():\n    return sys.argv[2]\n"
    (folder / "benchmark_utils.py").write_text(utilities)
    ran = output("numba_kernels.py", "--cpu", "--sources", str(tmp_path))
    assert ran.splitlines() == ["double: test_double passed"]


@pytest.mark.slow
def test_the_table_of_launches(tmp_path: Path) -> None:
    ran = output("launch.py", "--cpu", "--rounds", "1", BENCHMARK_RESULTS=str(tmp_path))
    *_, head, first = ran.partition("launches on the CPU")[2].splitlines()[:3]
    assert head.split(" | ")[1:] == ["3 arguments", "5 arguments", "12 arguments"]
    assert first.count("1.00×") == 3
    assert ran.splitlines()[-1].startswith("pycu2c: configured before")
    result = results.load(tmp_path, "launch")
    assert {name for name, _ in gpu_summary.LAUNCHES} < set(result)
    assert all(set(result[name]) == {"3", "5", "12"} for name, _ in gpu_summary.LAUNCHES)


def test_the_table_of_graphs(tmp_path: Path) -> None:
    ran = output("graphs.py", "--rounds", "1", BENCHMARK_RESULTS=str(tmp_path))
    _, head, *rows = ran.partition("graphs on")[2].splitlines()
    assert head.startswith("µs of 100 kernels")
    assert rows[0].count("1.000×") == 2
    assert rows[-1].startswith("one by one")
    assert set(results.load(tmp_path, "graphs")["a graph"]) == {"1", "50"}


@pytest.mark.slow
def test_cupys_kernels() -> None:
    ran = output("cupy_kernels.py", "--cpu", "--small", "--rounds", "1")
    rows = [line.split("|") for line in ran.splitlines() if line.count("|") == 3]
    assert len(rows) == 6
    assert all(float(cell) > 0 for row in rows[1:] for cell in row[1:])


@pytest.mark.parametrize(
    "names",
    [("reduce", "transpose", "product"), pytest.param((), marks=pytest.mark.slow, id="all")],
)
def test_results_of_algorithms_agree(names: tuple[str, ...], tmp_path: Path) -> None:
    words = "algorithms.py", "--cpu", "--small", "--rounds", "1", *names
    ran = output(*words, BENCHMARK_RESULTS=str(tmp_path))
    assert "failed" not in ran
    rows = results.load(tmp_path, "algorithms_cpu")
    assert len(rows) >= max(len(names), 1)
    assert all(len(row) == 2 and "pycu2c" in row for row in rows.values())


@pytest.mark.parametrize(
    "names",
    [
        ("spmv_csr", "gray", "thomas"),
        pytest.param((), marks=pytest.mark.slow, id="all"),
    ],
)
def test_results_of_irregular_kernels_agree(names: tuple[str, ...], tmp_path: Path) -> None:
    environment = {"PYCU2C_BACKEND": "cpu", "BENCHMARK_RESULTS": str(tmp_path)}
    ran = output("irregular_kernels.py", "--rounds", "1", *names, **environment)
    assert ran.splitlines()[-1].startswith("geometric mean")
    result = results.load(tmp_path, "irregular_kernels")
    assert len(result) == len(irregular.cases(names))
    assert all(set(row) - {"numba"} == {"by hand", "pycu2c"} for row in result.values())
    loops = {case.name for case in irregular.cases(names) if case.numba_loop}
    assert {name for name, row in result.items() if "numba" in row} == loops


@pytest.mark.slow
@pytest.mark.parametrize("case", irregular.cases(), ids=lambda case: case.name)
def test_irregular_kernels_by_hand_are_cuda_c(case: irregular.Case) -> None:
    try:
        nvrtc.version()
    except ToolchainError as error:
        pytest.skip(str(error))
    assert nvrtc.compile(case.text(".cu"), case.name, "sm_90", cache=False).data


def test_checked_launches(tmp_path: Path) -> None:
    recorded = str(tmp_path / "plain.json")
    output("checked.py", "--rounds", "1", "--checks", "none", "--json", recorded, "matmul")
    ran = output("checked.py", "--rounds", "1", "--add", f"again={recorded}", "matmul")
    *_, head, _, row, mean = ran.splitlines()
    assert head == "| kernel | ms | memory | all | again |"
    assert row.startswith("| matmul | ")
    assert [float(cell) > 0 for cell in mean.split("|")[3:6]] == [True] * 3


def test_startup_process() -> None:
    ran = output("startup_process.py", "pycu2c", "scale")
    assert all(float(word) > 0 for word in ran.split())
    assert len(ran.split()) == 4


# ---- limits of the GPU benchmarks -------------------------------------------------------------

MEASURED = {
    "launch": {
        gpu_summary.C_LOOP: {"3": 2.0, "5": 2.0, "12": 2.0},
        gpu_summary.TYPED: {"3": 2.5, "5": 3.0, "12": 4.0},
        "pycu2c: configured before": {"5": 2.2},
        "Warp: launch": {"5": 2.5},
    },
    "graphs": {"C": {"1": 200.0, "50": 100.0}, "a graph": {"1": 210.0, "50": 110.0}},
    "gpu": {
        "saxpy": {"hand-written": 1.0, "pycu2c": 0.9},
        "nbody": {"hand-written": 4.0, "pycu2c": 4.1},
    },
    "irregular_kernels_gpu": {
        "spmv_csr": {"by hand": 1.0, "pycu2c": 0.9},
        "gray": {"by hand": 1.0, "pycu2c": 1.21},
        "bfs": {"by hand": 1.0, "pycu2c": 1.0, "numba": 2.0},
    },
    "cupy_kernels": {
        "saxpy": {"pycu2c": 0.3, "CuPy": 0.32},
        "L2 norm": {"pycu2c": 0.11, "CuPy": 0.1},
        "reduction, µs": {"pycu2c": 5.0, "CuPy": 10.0},
    },
    "algorithms": {
        "scan": {"pycu2c": 1.0, "CUB": 1.0},
        "sort": {"pycu2c": 1.5, "CUB": 1.2},
        "spmv": {"pycu2c": 0.9, "cuSPARSE": 1.0},
    },
    "products": {"float32": {"pycu2c": 1.0, "cuBLAS": 0.8}},
    "startup_gpu": {"cached kernel": {"median": 250.4}, "context": {"median": 200.4}},
}
REPORT = """<testsuites>
<testsuite name="pytest" errors="{}" failures="0" skipped="2" tests="9" time="1.0"/>
</testsuites>"""


def summary(folder: Path, capsys: Any) -> tuple[int, dict[str, list[str]]]:
    """The exit status and the rows of the table."""
    status = gpu_summary.main(folder)
    cells = [[cell.strip() for cell in x.split("|")] for x in capsys.readouterr().out.splitlines()]
    return status, {row[0]: row[1:] for row in cells}


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHMARK_RESULTS", str(tmp_path))
    for benchmark, rows in MEASURED.items():
        results.save(benchmark, rows)
    (tmp_path / "tests.xml").write_text(REPORT.format(0))
    return tmp_path


def test_limits_and_measured_values(measured: Path, capsys: Any) -> None:
    status, rows = summary(measured, capsys)
    assert status == 0
    typed = gpu_summary.TYPED
    assert rows[f"{typed} ÷ C loop"] == ["1.7", "1.500", "yes"]
    assert rows["pycu2c: configured before ÷ C loop"] == ["1.5", "1.100", "yes"]
    assert rows["a launch with 12 arguments − one with 3, µs"] == ["1", "1.500", "NO"]
    assert rows[f"{typed} ÷ Warp: launch"] == ["1", "1.200", "NO"]
    assert rows[f"{typed} ÷ PyCUDA: prepared_call"] == ["1", "", "not measured"]
    assert rows["a graph of 100 kernels ÷ by C, one"] == ["1.05", "1.050", "yes"]
    assert rows["a graph of 100 kernels ÷ by C, 50 in a row"] == ["1.05", "1.100", "NO"]
    assert rows["kernels ÷ CUDA C by hand, the worst"] == ["1.05", "1.025", "yes"]
    irregular_mean = rows["irregular kernels ÷ CUDA C by hand, geometric mean"]
    assert irregular_mean == ["1.03", "1.029", "yes"]
    assert rows["the worst"] == ["1.1", "1.210", "NO"]
    assert rows["CuPy's kernels ÷ CuPy, the worst"] == ["1", "1.100", "NO"]
    assert rows["their calls ÷ CuPy's, the worst"] == ["1", "0.500", "yes"]
    assert rows["products ÷ cuBLAS, the worst"] == ["1.08", "1.250", "NO"]
    assert rows["attention ÷ FlashAttention"] == ["1.34", "", "not measured"]
    assert rows["algorithms ÷ CUB, the worst"] == ["1.11", "1.250", "NO"]
    assert rows["÷ cuSPARSE"] == ["1.11", "0.900", "yes"]
    assert rows["÷ PyTorch"] == ["1", "", "not measured"]
    assert rows["a cached kernel's first result − a context alone, ms"] == ["100", "50", "yes"]
    assert rows["tests failed"] == ["0", "0", "yes"]
    assert (rows["passed"][1], rows["skipped"][1]) == ("7", "2")


def test_a_failed_test_or_benchmark_is_a_failure(measured: Path, capsys: Any) -> None:
    (measured / "tests.xml").write_text(REPORT.format(1))
    status, rows = summary(measured, capsys)
    assert (status, rows["tests failed"]) == (1, ["0", "1", "NO"])
    (measured / "tests.xml").write_text(REPORT.format(0))
    (measured / "graphs.json").unlink()
    status, rows = summary(measured, capsys)
    assert (status, "did not finish: graphs" in rows) == (1, True)
    (measured / "tests.xml").unlink()
    assert summary(measured, capsys)[0] == 1


def test_the_summary_calls_launches_as_the_benchmark_does() -> None:
    folder = ROOT / "benchmarks" / "launchers"
    text = "".join(file.read_text() for file in folder.glob("*.py"))
    for name in (gpu_summary.C_LOOP, *gpu_summary.OTHERS):
        assert f'"{name}"' in text
