"""The C of benchmarks/hand, built by the compiler that pycu2c uses, with OpenMP."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import cffi

from contenders import Prepared, Task
from pycu2c.toolchain.cc import cc

HAND = Path(__file__).parent.parent / "hand"
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
# -ffast-math is left out, as it makes n-body slower: a rough reciprocal root and its correction.
# What another contender computes in blocks of threads is the same loop here
SAME = {"shuffle_sum": "block_sum", "shared_histogram": "histogram"}

ffi = cffi.FFI()
ffi.cdef((HAND / "hand.h").read_text())


def prepare(task: Task, _: str) -> Prepared:
    problem = task.problem
    entry = SAME.get(task.row.kernel, task.row.kernel)
    function = getattr(opened(entry), entry)
    types = ffi.typeof(function).args
    pointers = [ffi.from_buffer(t, a) for t, a in zip(types, problem.arrays, strict=False)]
    return Prepared(partial(function, *pointers, *problem.numbers, *problem.sizes))


@functools.cache
def opened(name: str) -> Any:
    """The library of one file. It stays open: OpenMP's threads sleep in its code."""
    with tempfile.TemporaryDirectory(prefix="pycu2c-bench-") as folder:
        words = ("-o", "hand.so", HAND / f"{name}.c", "-lm")
        subprocess.run((*cc.find_compiler().command, *FLAGS, *words), cwd=folder, check=True)
        return ffi.dlopen(f"{folder}/hand.so")
