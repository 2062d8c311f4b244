"""The OpenCL C of benchmarks/hand on the CPU devices that pyopencl finds.

The kernels are those of kernels.py, block for block. Arguments that do not change are set once,
and arrays are used where they lie.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from contenders import NotInstalled, Prepared, Task

SOURCE = Path(__file__).parent.parent / "hand" / "kernels.cl"
OPTIONS = ("-cl-std=CL1.2", "-cl-mad-enable")
FAST = ("-cl-fast-relaxed-math",)
PLATFORMS = {"PoCL": "Portable Computing Language", "Intel": "Intel"}


def opened() -> Any:
    """pyopencl. The loader of OpenCL finds Intel's library only if a file names it."""
    library = Path(sys.prefix, "lib", "libintelocl.so")
    if library.exists():
        folder = tempfile.mkdtemp(prefix="pycu2c-bench-")
        Path(folder, "intel.icd").write_text(f"{library}\n")
        os.environ.setdefault("OPENCL_VENDOR_PATH", folder)
    return importlib.import_module("pyopencl")


cl = opened()


def prepare(task: Task, platform: str) -> Prepared | None:
    device = device_of(platform)
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    options = [*OPTIONS, *(FAST if task.row.fastmath else ())]
    program = cl.Program(context, SOURCE.read_text()).build(options)
    if task.row.kernel not in program.kernel_names.split(";"):
        return None
    kernel = cl.Kernel(program, task.row.kernel)
    problem = task.problem
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in problem.arrays]
    numbers = [np.int32(n) if isinstance(n, int) else n for n in problem.numbers]
    kernel.set_args(*buffers, *numbers, *map(np.int32, problem.sizes))
    grid, block = task.launch
    whole = [g * b for g, b in zip(grid, block, strict=True)]

    def call() -> None:
        cl.enqueue_nd_range_kernel(queue, kernel, whole, block)
        queue.finish()

    def fetch() -> None:
        for array, buffer in zip(problem.results, buffers, strict=False):
            found = np.empty_like(array)  # not into the memory that the buffer lies in
            cl.enqueue_copy(queue, found, buffer)
            array[...] = found

    return Prepared(call, fetch)


def device_of(platform: str) -> Any:
    for found in cl.get_platforms():
        if PLATFORMS[platform] in found.name:
            for device in found.get_devices(cl.device_type.CPU):
                return device
    raise NotInstalled
