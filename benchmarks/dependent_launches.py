"""Time a chain of short kernels with programmatic dependent launches, and without.

usage: python benchmarks/dependent_launches.py

On CUDA device 0, of compute capability 9.0 or later. Each kernel copies an array of float32 and
adds one; the chain has 100 launches, in the default stream and in a graph. The script prints
microseconds of a launch by the number of elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_timer import Timer
from pycu2c import cuda, kernel
from pycu2c.cuda import griddepcontrol
from pycu2c.kernels.kernel import Kernel
from results import save, table_of

CHAIN, ROUNDS, BLOCK = 100, 30, 256
SIZES = 1 << 10, 1 << 16, 1 << 20


def dependent(out, values):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    griddepcontrol.launch_dependents()
    griddepcontrol.wait()
    if i < len(out):
        out[i] = values[i] + 1


METHODS: dict[str, Kernel[...]] = {
    "one after the other": kernel(backend="cuda")(dependent),
    "dependent launches": kernel(backend="cuda", programmatic_stream_serialization=True)(dependent),
}


def chain(k: Kernel[...], arrays: list[Any]) -> Callable[[], None]:
    configured = k[-(-len(arrays[0]) // BLOCK), BLOCK]

    def launch() -> None:
        for n in range(CHAIN):
            configured(arrays[(n + 1) % 2], arrays[n % 2])

    return launch


def main() -> None:
    timer = Timer()
    times: dict[tuple[str, int], float] = {}
    for name, k in METHODS.items():
        for size in SIZES:
            arrays = [cuda.to_device(np.zeros(size, np.float32)) for _ in range(2)]
            launch = chain(k, arrays)
            launch()
            with cuda.graph() as g:
                launch()
            g.launch()
            assert (arrays[0].copy_to_host() == 2 * CHAIN).all()
            for where, run in (("stream", launch), ("graph", g.launch)):
                time = timer.milliseconds(run, ROUNDS) / CHAIN * 1e3
                times[f"{name}, {where}", size] = time
    save("dependent_launches", table_of(times))
    print(f"{'µs of a launch':<28}" + "".join(f" | {size:>8}" for size in SIZES))
    for row, cells in table_of(times).items():
        print(f"{row:<28}" + "".join(f" | {time:8.2f}" for time in cells.values()))


if __name__ == "__main__":
    main()
