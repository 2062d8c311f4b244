"""Time mini-apps in CUDA C++ and the same kernels in Python on CUDA device 0.

usage: python benchmarks/mini_app_kernels.py [--sources DIR] [--cpu] [NAME …]

The mini-apps are those of mini_apps/__init__.py, which says where to find the CUDA C++; DIR is the
folder of the repository. nvcc compiles it with the flags of its makefiles. CUDA events time both
alternately with the same arrays; a time is the median of the repeats. The table's last column is
the speed of pycu2c, relative to CUDA C++. If one mini-app fails, the others still run.

--cpu compares results of small cases on the CPU with those of NumPy, without timing them.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import subprocess
import tempfile
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from mini_apps import APPS, FOLDER, Case, module
from results import Results, save

REPEATS = 11
BATCH_MS = 20.0  # duration of a repeat
CPP, OURS = "CUDA C++", "pycu2c"
Launch = Callable[[], object]


def check_on_cpu(app: str, sources: Path | None) -> None:
    """Compare small cases with NumPy."""
    for case in module(app).cases(sources, small=True):
        arrays = [a.copy() for a in case.arrays]
        case.kernel[case.grid, case.block](*arrays, *case.numbers)
        case.check(case.expected(), [arrays[i] for i in case.results])
        print(f"{case.title}: right on the CPU", flush=True)


def build(app: str, sources: Path) -> ctypes.CDLL:
    """Compile the CUDA C++ of a mini-app, and load it."""
    from pycu2c.cuda_driver import driver

    flags = (*module(app).FLAGS, "-std=c++17", f"-arch={driver.arch()}", "-w", f"-I{sources}")
    with tempfile.TemporaryDirectory(prefix="pycu2c-bench-") as folder:
        library = f"{folder}/{app}.so"
        output = ("-shared", "-Xcompiler", "-fPIC", "-o", library)
        subprocess.run(("nvcc", *flags, *output, FOLDER / f"{app}.cu"), check=True)
        return ctypes.CDLL(library)


def c_number(number: Any) -> Any:
    """Return a number as an argument of a C function."""
    if isinstance(number, int):
        return ctypes.c_int(number)
    return ctypes.c_float(number) if isinstance(number, np.float32) else ctypes.c_double(number)


def measure(case: Case, library: ctypes.CDLL) -> dict[str, float]:
    """Return the milliseconds of CUDA C++ and of pycu2c, whose results agree."""
    from gpu_timer import Timer
    from pycu2c.cuda import to_device

    timer, arrays = Timer(), [to_device(array) for array in case.arrays]
    function, configured = getattr(library, case.function), case.kernel[case.grid, case.block]
    numbers = [c_number(number) for number in case.original_numbers]
    addresses = [ctypes.c_void_p(array.address) for array in arrays]
    launches: dict[str, Launch] = {
        CPP: lambda: function(*addresses, *numbers),
        OURS: lambda: configured(*arrays, *case.numbers),
    }
    found = []
    for launch in launches.values():
        for i in case.results:
            arrays[i].copy_to_device(case.arrays[i])
        launch()
        found.append([arrays[i].copy_to_host() for i in case.results])
    case.check(*found)
    counts = {n: max(1, round(BATCH_MS / timer.milliseconds(f, 2))) for n, f in launches.items()}
    samples: dict[str, list[float]] = {name: [] for name in launches}
    for _ in range(REPEATS):
        for name, launch in launches.items():
            samples[name].append(timer.milliseconds(launch, counts[name]))
    return {name: statistics.median(times) for name, times in samples.items()}


def table(measured: Results) -> str:
    lines = [f"{'kernel':<30}| {CPP:>9} ms | {OURS:>9} ms | {CPP} ÷ {OURS}"]
    for title, times in measured.items():
        cpp, own = times[CPP], times[OURS]
        lines.append(f"{title:<30}| {cpp:>12.4f} | {own:>12.4f} | {cpp / own:.3f}")
    return "\n".join(lines)


def run(apps: Iterable[str], run_one: Callable[[str], object]) -> None:
    """Run mini-apps; raise `SystemExit` at the end if some failed."""
    failed = []
    for app in apps:
        try:
            run_one(app)
        except Exception:
            traceback.print_exc()
            failed.append(app)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help=f"{', '.join(APPS)}; by default all")
    parser.add_argument("--sources", type=Path, help="the folder of the repository")
    parser.add_argument("--cpu", action="store_true", help="compare small cases with NumPy")
    options = parser.parse_args()
    apps = options.names or APPS
    if unknown := set(apps) - set(APPS):
        parser.error(f"no mini-apps {sorted(unknown)}")
    if options.cpu:
        os.environ["PYCU2C_BACKEND"] = "cpu"  # read when a mini-app is imported
        run(apps, lambda app: check_on_cpu(app, options.sources))
        return
    if not options.sources:
        parser.error("--sources is required to time CUDA C++")
    measured: Results = {}

    def measure_app(app: str) -> None:
        library = build(app, options.sources.resolve())
        for case in module(app).cases(options.sources, small=False):
            measured[case.title] = measure(case, library)
            print(f"measured {case.title}", flush=True)

    try:
        run(apps, measure_app)
    finally:
        print(table(measured))
        save("mini_apps", measured)


if __name__ == "__main__":
    main()
