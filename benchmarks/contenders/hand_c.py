"""The C of benchmarks/hand, built by the compiler that pycu2c uses, with OpenMP."""

from __future__ import annotations

import subprocess
import tempfile
from functools import partial
from pathlib import Path

import cffi

from contenders import Prepared, Task
from pycu2c.toolchain import cc

HAND = Path(__file__).parent.parent / "hand"
FLAGS = (
    "-std=gnu11",
    "-O3",
    "-march=native",
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
# what another contender computes in blocks of threads is the same loop here
SAME = {"shuffle_sum": "block_sum", "shared_histogram": "histogram"}


def prepare(task: Task, _: str) -> Prepared:
    problem = task.problem
    ffi = cffi.FFI()
    ffi.cdef((HAND / "hand.h").read_text())
    entry = SAME.get(task.row.kernel, task.row.kernel)
    function = getattr(ffi.dlopen(built(entry, fastmath=task.row.fastmath)), entry)
    types = ffi.typeof(function).args
    pointers = [ffi.from_buffer(t, a) for t, a in zip(types, problem.arrays, strict=False)]
    return Prepared(partial(function, *pointers, *problem.numbers, *problem.sizes))


def built(name: str, *, fastmath: bool) -> str:
    """A shared object of one file, in a folder that goes when this process has opened it."""
    folder = Path(tempfile.mkdtemp(prefix="pycu2c-bench-"))
    flags = (*FLAGS, "-ffast-math") if fastmath else FLAGS
    command = (*cc.find_compiler().command, *flags, "-o", "hand.so", HAND / f"{name}.c", "-lm")
    subprocess.run(command, cwd=folder, check=True)
    return str(folder / "hand.so")
