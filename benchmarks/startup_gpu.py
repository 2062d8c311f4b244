"""Time the first launch of a process on a GPU, from the start of Python to the result.

usage: python benchmarks/startup_gpu.py [--rounds N]

Medians over fresh processes, in milliseconds. *Context*: Python, numpy, and by cuda.bindings a
context of the driver and a copy to the device and back, the minimum of any package. *Empty cache*:
nothing is cached on disk. *Cached kernel*: it has run before on this machine. *One connection*:
with CUDA_DEVICE_MAX_CONNECTIONS=1, so that the driver creates one queue per context instead of
eight. Python's bytecode is cached, as after pip.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from results import Results, save

ONE_CONNECTION = {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}

NUMPY = "import numpy as np\nx = np.ones(1000, np.float32)\n"

CONTEXT = """
from cuda.bindings import driver
def call(name, *arguments):
    code, *values = getattr(driver, name)(*arguments)
    assert int(code) == 0, code
    return values[0] if values else None
call("cuInit", 0)
device = call("cuDeviceGet", 0)
call("cuCtxSetCurrent", call("cuDevicePrimaryCtxRetain", device))
memory = call("cuMemAlloc", x.nbytes)
call("cuMemcpyHtoD", memory, x.ctypes.data, x.nbytes)
call("cuMemcpyDtoH", x.ctypes.data, memory, x.nbytes)
"""

KERNEL = """
from pycu2c import cuda, kernel

@kernel(backend="cuda")
def scale(x, n):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] * n

scale[4, 256](x, 3)
assert x[0] == 3, x
"""

END = """
import sys, time
compilers = ("pycu2c.frontend.function_builder", "cuda.bindings.nvrtc")
print(time.time(), *[m for m in compilers if m in sys.modules])
"""


def run(file: str, cache: str, bytecode: str, **more: str) -> tuple[float, str]:
    """Return the milliseconds of a process until its result, and the compiler modules it loaded.

    ``more``: environment variables.
    """
    settings = {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    environment = {**os.environ, **settings, "PYCU2C_CACHE_DIR": cache, **more}
    start = time.time()
    ran = subprocess.run((sys.executable, file), env=environment, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(ran.stderr)
    end, _, loaded = ran.stdout.strip().partition(" ")
    return (float(end) - start) * 1e3, loaded


def one_round(folder: str) -> dict[str, tuple[float, str]]:
    """Run each kind of process once."""
    bytecode = os.path.join(folder, "bytecode")
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        context, kernel = (os.path.join(folder, name) for name in ("context.py", "kernel.py"))
        return {
            "Python and numpy": run(os.path.join(folder, "only_numpy.py"), cache, bytecode),
            "context": run(context, cache, bytecode),
            "empty cache": run(kernel, cache, bytecode),
            "cached kernel": run(kernel, cache, bytecode),
            "context, one connection": run(context, cache, bytecode, **ONE_CONNECTION),
            "cached kernel, one connection": run(kernel, cache, bytecode, **ONE_CONNECTION),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="pycu2c-bench-") as folder:
        programs = {"only_numpy.py": "", "context.py": CONTEXT, "kernel.py": KERNEL}
        for name, text in programs.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(NUMPY + text + END)
        one_round(folder)
        measured = [one_round(folder) for _ in range(rounds)]
    print(f"{'ms, from the start to the result':36}{'median':>8}{'minimum':>8}   compiler modules")
    results: Results = {}
    for state in measured[0]:
        times = [row[state][0] for row in measured]
        results[state] = {"median": statistics.median(times), "minimum": min(times)}
        loaded = measured[-1][state][1] or "-"
        print(f"{state:36}{statistics.median(times):8.0f}{min(times):8.0f}   {loaded}")
    save("startup_gpu", results)


if __name__ == "__main__":
    main()
