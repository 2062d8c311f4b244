"""What the launch of a graph of 100 small kernels takes: ours, and the same by the driver alone.

usage: python benchmarks/graphs.py [--rounds N]

On CUDA device 0, "C" is a graph that the driver is given node by node, with the same compiled
kernel and the same arguments, and launched by a loop in C. "one by one" is 100 ordinary launches.
Ways take turns; a time is the median over the rounds of 50 launches and the wait for them, or of
one and the wait. The table comes last.
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

from figures import keep, table_of
from pycu2c import cuda, kernel
from pycu2c.cuda_driver import driver, libcuda
from pycu2c.toolchain.cc import cc

KERNELS, IN_A_ROW, ROUNDS, N = 100, 50, 30, 1024

LOOP = """
#include <stdint.h>
#include <time.h>

typedef int (*Launch)(void *, void *);
typedef int (*Wait)(void *);

/* Seconds for so many launches of a graph, and the wait for them. */
double launch_often(Launch launch, Wait wait, void *graph, int64_t count) {
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


def ours(g: cuda.Graph) -> Callable[[int], float]:
    def seconds(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            g.launch()
        cuda.synchronize()
        return time.perf_counter() - start

    return seconds


def one_by_one(arrays: list[Any]) -> Callable[[int], float]:
    """100 launches instead of a graph."""

    def seconds(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            for i in range(KERNELS):
                scale[N // 128, 128](arrays[(i + 1) % 2], arrays[i % 2], 1.0)
        cuda.synchronize()
        return time.perf_counter() - start

    return seconds


def by_the_driver(g: cuda.Graph, library: Path) -> Callable[[int], float]:
    """The same nodes in a graph made by the driver's functions, launched by C."""
    driver.make_current()
    api = driver.api()
    graph, before = driver.check(api.cuGraphCreate(0), "make a graph"), []
    for node in g.nodes:
        runner: Any = node.resolved_launch.runner
        launch = node.resolved_launch
        made = runner.as_node(launch.launch, launch.arguments.leaves)
        answer = api.cuGraphAddKernelNode(graph, before, len(before), made.parameters)
        before = [driver.check(answer, "add a node")]
    ready = int(driver.check(api.cuGraphInstantiate(graph, 0), "make it ready"))
    loop = ctypes.CDLL(str(library)).launch_often
    loop.restype, loop.argtypes = ctypes.c_double, (*[ctypes.c_void_p] * 3, ctypes.c_int64)
    launch, wait = map(libcuda.address_of, ("cuGraphLaunch", "cuStreamSynchronize"))
    return lambda count: float(loop(launch, wait, ready, count))


def measure(ways: dict[str, Callable[[int], float]], rounds: int) -> dict[tuple[str, int], float]:
    """Microseconds for each launch of 100 kernels, by the way and how many are in a row."""
    times: dict[tuple[str, int], list[float]] = {(w, n): [] for w in ways for n in (1, IN_A_ROW)}
    for seconds in ways.values():
        seconds(IN_A_ROW)
    gc.disable()
    for _ in range(rounds):
        for way, seconds in ways.items():
            times[way, IN_A_ROW].append(seconds(IN_A_ROW) / IN_A_ROW * 1e6)
            times[way, 1] += (seconds(1) * 1e6 for _ in range(10))
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
    ways: dict[str, Callable[[int], float]] = {}
    if driver.available():
        path = cc.compile(LOOP, "launch_often").path
        assert path is not None, "it is in the cache"
        ways["C"] = by_the_driver(g, Path(path))
    ways |= {"a graph": ours(g), "one by one": one_by_one(arrays)}
    times = measure(ways, options.rounds)
    assert np.all(arrays[0].copy_to_host() == 1)
    print(f"\ngraphs on {driver.device().name if driver.available() else 'the CPU'}")
    print(table(times))
    keep("graphs", table_of(times))


if __name__ == "__main__":
    main()
