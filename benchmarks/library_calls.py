"""Time the build of a library, and calls of it from C.

usage: python benchmarks/library_calls.py [--backend cpu|cuda]

On a GPU, a launch function beside ``cuLaunchKernel`` for the same kernel, and its first call beside
the creation of a context. On the CPU, a launch function beside the function of the kernel.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_HERE = Path(__file__).parent / "libraries"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    backend = parser.parse_args().backend
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for targets in ("cpu", "cpu,cuda"):
            start = time.perf_counter()
            build(folder, targets)
            size = (folder / "lib/libscaling.so").stat().st_size
            print(f"build for {targets}: {time.perf_counter() - start:.2f} s, {size:,} bytes")
        runs = [json.loads(run(compiled(folder), str(int(backend == "cuda")))) for _ in range(5)]
        for name in runs[0]:
            print(f"{name}: {statistics.median(r[name] for r in runs):.3f}")


def build(folder: Path, targets: str, *more: str) -> None:
    options = "--name", "scaling", "-o", str(folder), "--targets", targets
    run(sys.executable, "-m", "pycu2c", "build", str(_HERE / "kernels.py"), *options, *more)


def compiled(folder: Path) -> str:
    """Compile the program with the sources of the library."""
    program = str(folder / "calls")
    sources = [str(_HERE / "calls.c"), *map(str, sorted(folder.glob("src/*.c")))]
    flags = "-std=gnu11", "-O3", "-march=x86-64-v3", "-fopenmp-simd"
    includes = f"-I{folder / 'include'}", f"-I{folder / 'src'}"
    run("gcc", *flags, *includes, *sources, "-o", program, "-pthread", "-ldl", "-lm")
    return program


def run(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
