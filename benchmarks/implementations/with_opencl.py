"""The OpenCL C of benchmarks/hand_written on the CPU devices that pyopencl finds.

The kernels are those of kernels.py, with the same blocks. Arguments are set once, and arrays are
used in place.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from implementations import NotInstalled, Prepared, Task

SOURCE = Path(__file__).parent.parent / "hand_written" / "kernels.cl"
OPTIONS = ("-cl-std=CL1.2", "-cl-mad-enable")
FAST = ("-cl-fast-relaxed-math",)
PLATFORMS = {"PoCL": "Portable Computing Language", "Intel": "Intel"}


def import_pyopencl() -> Any:
    """Import pyopencl. OpenCL's loader finds Intel's library only if an .icd file names it."""
    library = Path(sys.prefix, "lib", "libintelocl.so")
    if library.exists():
        folder = tempfile.mkdtemp(prefix="pycu2c-bench-")
        Path(folder, "intel.icd").write_text(f"{library}\n")
        os.environ.setdefault("OPENCL_VENDOR_PATH", folder)
    return importlib.import_module("pyopencl")


cl = import_pyopencl()


def prepare(task: Task, platform: str) -> Prepared | None:
    device = device_of(platform)
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    options = [*OPTIONS, *(FAST if task.case.fastmath else ())]
    program = cl.Program(context, SOURCE.read_text()).build(options)
    if task.case.kernel not in program.kernel_names.split(";"):
        return None
    kernel = cl.Kernel(program, task.case.kernel)
    problem = task.problem
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in problem.arrays]
    numbers = [np.int32(n) if isinstance(n, int) else n for n in problem.numbers]
    kernel.set_args(*buffers, *numbers, *map(np.int32, problem.sizes))
    grid, block = task.launch
    global_size = [g * b for g, b in zip(grid, block, strict=True)]

    def call() -> None:
        cl.enqueue_nd_range_kernel(queue, kernel, global_size, block)
        queue.finish()

    def fetch() -> None:
        for array, buffer in zip(problem.results, buffers, strict=False):
            found = np.empty_like(array)  # not into the host memory of the buffer itself
            cl.enqueue_copy(queue, found, buffer)
            array[...] = found

    return Prepared(call, fetch)


def device_of(platform: str) -> Any:
    for found in cl.get_platforms():
        if PLATFORMS[platform] in found.name:
            for device in found.get_devices(cl.device_type.CPU):
                return device
    raise NotInstalled
