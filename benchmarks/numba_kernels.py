"""Time the benchmark kernels of numba-cuda-mlir on CUDA device 0: pycu2c beside both of numba's.

usage: python benchmarks/numba_kernels.py --sources DIR [--cpu] [NAME …]

DIR is a checkout of https://github.com/NVIDIA/numba-cuda-mlir (Apache licence), whose
tests/benchmarks have each kernel for numba-cuda and for numba-cuda-mlir. pycu2c compiles those for
numba-cuda-mlir after a change of the imports. Compilers that are not installed are left out.

The launches of a benchmark are recorded and repeated. CUDA events time them alternately, behind a
kernel that waits until all launches are queued, so that launch overheads do not count. The results
of the compilers are compared. A time is the median of the repeats.

--cpu runs the tests of the benchmarks with pycu2c on the CPU, without timing them.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gpu_timer import Timer
from mini_app_kernels import run
from pycu2c import cuda, kernel
from results import Results, save

OURS, NUMBA, MLIR = "pycu2c", "numba-cuda", "numba-cuda-mlir"
REPEATS = 11
BATCH_MS = 1.0  # launches that take less in total are repeated
LAUNCH_MS = 0.05  # an upper bound of the time to queue a launch
FOLDER = Path("tests", "benchmarks")
Launch = tuple[Callable[..., object], tuple[Any, ...]]


class Recording:
    """Launches of a benchmark, and its arrays with their contents before the launches."""

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self.arrays: dict[int, tuple[Any, np.ndarray]] = {}

    def launch(self, configured: Callable[..., object], arguments: tuple[Any, ...]) -> None:
        for a in arguments:
            if hasattr(a, "copy_to_host") and id(a) not in self.arrays:
                self.arrays[id(a)] = a, a.copy_to_host()
        self.launches.append((configured, arguments))
        configured(*arguments)

    def reset(self) -> None:
        for array, contents in self.arrays.values():
            array.copy_to_device(contents)

    def repeat(self) -> None:
        for configured, arguments in self.launches:
            configured(*arguments)

    def results(self) -> list[np.ndarray]:
        return [array.copy_to_host() for array, _ in self.arrays.values()]


class Recorder:
    """A kernel whose launches are recorded."""

    def __init__(self, kernel: Any) -> None:
        self.kernel, self.recording = kernel, Recording()

    def compile(self, signature: str) -> None:
        """Do nothing: the first launch compiles the kernel."""

    def __getitem__(self, configuration: Any) -> Callable[..., None]:
        configured = self.kernel[configuration]
        return lambda *arguments: self.recording.launch(configured, arguments)


@contextlib.contextmanager
def benchmark_folder(sources: Path, compiler: str) -> Iterator[Path]:
    """Yield the folder of the benchmarks, whose imports are of ``compiler``."""
    with tempfile.TemporaryDirectory(prefix="pycu2c-bench-") as folder:
        for file in (sources / FOLDER).rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            if compiler == OURS:
                text = text.replace("from numba_cuda_mlir.numba_cuda import", "from pycu2c import")
                text = text.replace("from numba_cuda_mlir import", "from pycu2c import")
            copy = Path(folder, file.relative_to(sources / FOLDER))
            copy.parent.mkdir(exist_ok=True)
            copy.write_text(text, encoding="utf-8")
        path = sys.path.copy()
        sys.path.insert(0, folder)
        try:
            yield Path(folder)
        finally:
            sys.path[:] = path
            for name in ("conftest", "benchmark_utils"):
                sys.modules.pop(name, None)


def load(file: Path, backend: str) -> ModuleType:
    """Import a benchmark for one of its back ends."""
    name = f"{file.stem}_{backend.replace('-', '_')}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec
    assert spec.loader
    module, arguments = importlib.util.module_from_spec(spec), sys.argv
    sys.argv = [str(file), "--backend", backend]
    try:
        spec.loader.exec_module(module)
    finally:
        sys.argv = arguments
    return module


def recordings(file: Path, backend: str) -> dict[str, Recording]:
    """Run a benchmark, and return the launches of each of its variants."""
    module, found = load(file, backend), {}
    recorders = []
    for name, value in list(vars(module).items()):
        if hasattr(value, "__getitem__") and hasattr(value, "compile"):
            recorders.append(Recorder(value))
            setattr(module, name, recorders[-1])
    for variant in "main", "scalar", "vectorized":
        if run := getattr(module, f"run_benchmark_{variant}", None):
            recording = Recording()
            for recorder in recorders:
                recorder.recording = recording
            with contextlib.redirect_stdout(io.StringIO()):
                run(backend=backend)
            title = file.stem.removeprefix("test_")
            found[title if variant == "main" else f"{title} ({variant})"] = recording
    return found


def check_on_cpu(sources: Path, name: str) -> None:
    """Run the tests of a benchmark."""
    with benchmark_folder(sources, OURS) as folder:
        module = load(next(folder.rglob(f"test_{name}.py")), MLIR)
        tests = {n: f for n, f in vars(module).items() if n.startswith("test_")}
        for test, function in tests.items():
            if not test.endswith("_benchmark"):
                with contextlib.redirect_stdout(io.StringIO()):
                    function()
                print(f"{name}: {test} passed", flush=True)


def installed() -> list[str]:
    """Return the compilers that can be imported."""
    np.row_stack = getattr(np, "row_stack", np.vstack)  # numba-cuda 0.x requires it
    found = [OURS]
    for compiler, module in ((NUMBA, "numba.cuda"), (MLIR, "numba_cuda_mlir")):
        try:
            importlib.import_module(module)
            found.append(compiler)
        except ImportError as error:
            print(f"without {compiler}: {error}")
    return found


def measure(sources: Path, name: str, compilers: Sequence[str]) -> Results:
    """Return the milliseconds of each variant of a benchmark by each compiler."""
    by_compiler: dict[str, dict[str, Recording]] = {}
    for compiler in compilers:
        with benchmark_folder(sources, compiler) as folder:
            file = next(folder.rglob(f"test_{name}.py"))
            try:
                by_compiler[compiler] = recordings(file, NUMBA if compiler == NUMBA else MLIR)
            except Exception as error:
                if compiler == OURS:
                    raise
                print(f"{name}: {compiler}: {str(error).splitlines()[:1]}", flush=True)
    variants = by_compiler[OURS]
    return {
        title: compare(title, {c: found[title] for c, found in by_compiler.items()})
        for title in variants
    }


def compare(title: str, by_compiler: dict[str, Recording]) -> dict[str, float]:
    """Return the milliseconds of each compiler; print which results differ."""
    timer, counts = Timer(), {}
    expected: list[np.ndarray] = []
    for compiler, recording in by_compiler.items():
        recording.reset()
        recording.repeat()
        results = recording.results()
        expected = expected or results
        for a, b in zip(expected, results, strict=True):
            if not np.allclose(a, b, rtol=1e-3, atol=1e-5 * np.abs(a).max()):
                raise AssertionError(f"{title}: {compiler} and {OURS} differ")
        recording.reset()
        counts[compiler] = max(1, int(BATCH_MS / queued_milliseconds(timer, recording, 1)))
    samples: dict[str, list[float]] = {compiler: [] for compiler in by_compiler}
    for _ in range(REPEATS):
        for compiler, recording in by_compiler.items():
            recording.reset()
            samples[compiler].append(queued_milliseconds(timer, recording, counts[compiler]))
    return {compiler: statistics.median(times) for compiler, times in samples.items()}


def queued_milliseconds(timer: Timer, recording: Recording, count: int) -> float:
    """Return the time of the launches, the mean of ``count``, without launch overheads."""
    queue_ms = LAUNCH_MS * len(recording.launches) * count
    wait[1, 1](int(1e6 * queue_ms))
    return timer.milliseconds(recording.repeat, count)


@kernel
def wait(nanoseconds: int) -> None:
    """Wait, while launches are queued."""
    start = cuda.globaltimer()
    while cuda.globaltimer() - start < nanoseconds:
        pass


def table(measured: Results) -> str:
    compilers = list(next(iter(measured.values())))
    others = compilers[1:]
    heads = [f"{c} ms" for c in compilers] + [f"{c} ÷ {OURS}" for c in others]
    lines = [f"{'kernel':<28}" + "".join(f"{head:>26}" for head in heads)]
    for title, times in measured.items():
        cells = [f"{times[c]:.4f}" if c in times else "–" for c in compilers]
        cells += [f"{times[c] / times[OURS]:.3f}" if c in times else "–" for c in others]
        lines.append(f"{title:<28}" + "".join(f"{cell:>26}" for cell in cells))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="of benchmarks; by default all")
    parser.add_argument("--sources", type=Path, required=True, help="the repository's folder")
    parser.add_argument("--cpu", action="store_true", help="run the tests with pycu2c on the CPU")
    options = parser.parse_args()
    files = (options.sources / FOLDER).rglob("test_*.py")
    names = options.names or sorted(file.stem.removeprefix("test_") for file in files)
    if options.cpu:
        os.environ["PYCU2C_BACKEND"] = "cpu"
        run(names, lambda name: check_on_cpu(options.sources, name))
        return
    compilers, measured = installed(), {}

    def measure_one(name: str) -> None:
        measured.update(measure(options.sources, name, compilers))
        print(f"measured {name}", flush=True)

    try:
        run(names, measure_one)
    finally:
        print(table(measured))
        save("numba_kernels", measured)


if __name__ == "__main__":
    main()
