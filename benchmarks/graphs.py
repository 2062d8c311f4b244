"""Time launches of a graph of 100 small kernels: by pycu2c, and by the driver API from C.

usage: python benchmarks/graphs.py [--rounds N]

On CUDA device 0, "C" is a graph built by the driver API from the same compiled kernel and the same
arguments, and launched by a loop in C. "one by one" is 100 ordinary launches. Each round times all
methods: 50 launches and a synchronization, and one launch and a synchronization. A time is the
median over the rounds. The script prints the table last.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pycu2c import cuda, kernel
from pycu2c.cuda_driver import driver, libcuda
from pycu2c.toolchain.cc import cc
from results import save, table_of

KERNELS, IN_A_ROW, ROUNDS, N = 100, 50, 30, 1024

LOOP = """
#include <stdint.h>
#include <time.h>

typedef int (*Launch)(void *, void *);
typedef int (*Wait)(void *);

/* Return the seconds of count launches of a graph and a synchronization. */
double time_launches(Launch launch, Wait wait, void *graph, int64_t count) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int64_t i = 0; i < count; i++) {
        if (launch(graph, 0)) return -1;
    }
    if (wait(0)) return -1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}
"""


@kernel
def scale(out, x, a):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = a * x[i]


def captured(arrays: list[Any]) -> cuda.Graph:
    with cuda.graph() as g:
        for i in range(KERNELS):
            scale[N // 128, 128](arrays[(i + 1) % 2], arrays[i % 2], 1.0)
    return g


def with_pycu2c(g: cuda.Graph) -> Callable[[int], float]:
    def seconds(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            g.launch()
        cuda.synchronize()
        return time.perf_counter() - start

    return seconds


def one_by_one(arrays: list[Any]) -> Callable[[int], float]:
    """Launch 100 kernels without a graph."""

    def seconds(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            for i in range(KERNELS):
                scale[N // 128, 128](arrays[(i + 1) % 2], arrays[i % 2], 1.0)
        cuda.synchronize()
        return time.perf_counter() - start

    return seconds


def by_the_driver(g: cuda.Graph, library: Path) -> Callable[[int], float]:
    """Build a graph of the same nodes by the driver API; launch it from C."""
    driver.make_current()
    api = driver.api()
    graph, dependencies = driver.check(api.cuGraphCreate(0), "create a graph"), []
    for node in g.nodes:
        launch = node.resolved_launch
        runner: Any = launch.runner
        added_node = runner.as_node(launch.launch, launch.arguments.leaves)  # owns its arguments
        added = api.cuGraphAddKernelNode(
            graph, dependencies, len(dependencies), added_node.parameters
        )
        dependencies = [driver.check(added, "add a node")]
    executable = int(driver.check(api.cuGraphInstantiate(graph, 0), "instantiate a graph"))
    loop = ctypes.CDLL(str(library)).time_launches
    loop.restype, loop.argtypes = ctypes.c_double, (*[ctypes.c_void_p] * 3, ctypes.c_int64)
    launch, wait = map(libcuda.address_of, ("cuGraphLaunch", "cuStreamSynchronize"))
    return lambda count: float(loop(launch, wait, executable, count))


def measure(
    methods: dict[str, Callable[[int], float]], rounds: int
) -> dict[tuple[str, int], float]:
    """Return microseconds per launch of 100 kernels, by method and number of launches in a row."""
    times: dict[tuple[str, int], list[float]] = {(w, n): [] for w in methods for n in (1, IN_A_ROW)}
    for seconds in methods.values():
        seconds(IN_A_ROW)
    gc.disable()
    for _ in range(rounds):
        for method, seconds in methods.items():
            times[method, IN_A_ROW].append(seconds(IN_A_ROW) / IN_A_ROW * 1e6)
            times[method, 1] += (seconds(1) * 1e6 for _ in range(10))
    gc.enable()
    return {key: statistics.median(row) for key, row in times.items()}


def table(times: dict[tuple[str, int], float]) -> str:
    names = list(dict.fromkeys(name for name, _ in times))
    lines = [f"{f'µs of {KERNELS} kernels':<24} | {'one, waited for':>18} | {IN_A_ROW} in a row"]
    for name in names:
        cells = [
            f"{times[name, n]:.1f} {times[name, n] / times[names[0], n]:.3f}×" for n in (1, 50)
        ]
        lines.append(f"{name:<24} | {cells[0]:>18} | {cells[1]}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    arrays = [cuda.to_device(np.ones(N, np.float32)), cuda.to_device(np.zeros(N, np.float32))]
    g = captured(arrays)
    methods: dict[str, Callable[[int], float]] = {}
    if driver.available():
        path = cc.compile(LOOP, "time_launches").path
        assert path is not None, "it is in the cache"
        methods["C"] = by_the_driver(g, Path(path))
    methods |= {"a graph": with_pycu2c(g), "one by one": one_by_one(arrays)}
    times = measure(methods, options.rounds)
    assert np.all(arrays[0].copy_to_host() == 1)
    print(f"\ngraphs on {driver.device().name if driver.available() else 'the CPU'}")
    print(table(times))
    save("graphs", table_of(times))


if __name__ == "__main__":
    main()
