"""The C of benchmarks/hand_written with OpenMP, built by the compiler that pycu2c uses."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import cffi

from implementations import Prepared, Task
from pycu2c.toolchain.cc import cc

HAND_WRITTEN = Path(__file__).parent.parent / "hand_written"
FLAGS = (
    "-std=gnu11",
    "-O3",
    "-march=native",
    "-mprefer-vector-width=512",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fopenmp",
    "-fPIC",
    "-shared",
    "-Wall",
    "-Wextra",
    "-Werror",
)
# No -ffast-math: n-body is slower with an approximate reciprocal root and its correction.
# kernels of blocks that are the same loop in C
LOOP_OF_KERNEL = {"shuffle_sum": "block_sum", "shared_histogram": "histogram"}

ffi = cffi.FFI()
ffi.cdef((HAND_WRITTEN / "kernels.h").read_text())


def prepare(task: Task, _: str) -> Prepared:
    problem = task.problem
    entry = LOOP_OF_KERNEL.get(task.case.kernel, task.case.kernel)
    function = getattr(library(entry), entry)
    types = ffi.typeof(function).args
    pointers = [ffi.from_buffer(t, a) for t, a in zip(types, problem.arrays, strict=False)]
    return Prepared(partial(function, *pointers, *problem.numbers, *problem.sizes))


@functools.cache
def library(name: str) -> Any:
    """Load the library of one file. It stays open: OpenMP's threads wait in its code."""
    with tempfile.TemporaryDirectory(prefix="pycu2c-bench-") as folder:
        arguments = ("-o", "kernel.so", HAND_WRITTEN / f"{name}.c", "-lm")
        subprocess.run((*cc.find_compiler().command, *FLAGS, *arguments), cwd=folder, check=True)
        return ffi.dlopen(f"{folder}/kernel.so")
