"""Time many small chunks in workers of Dask with a GPU each.

usage: python benchmarks/dask_gpus.py WORKERS [--no-launch]

A task launches one kernel on a chunk that is on the GPU, or without a GPU in the worker. The script
prints the milliseconds of 1,000 tasks. With --no-launch, a task only calls a Python function: the
time is the cost of the scheduler and of messages. With 0 workers, one process launches the kernels
without Dask.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import dask.array as da
import numpy as np
from distributed import Client, wait

from pycu2c import cuda, kernel
from pycu2c.dask import copy_to_host, local_cluster, map_blocks, to_device

CHUNKS, SIZE, ROUNDS = 1000, 1 << 16, 5


@kernel(block=256)
def doubled(x, out):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = 2 * x[i]


def milliseconds(step: Callable[[int], object]) -> float:
    """Return the time of a step: the median of some rounds, without the first."""
    times = []
    for number in range(ROUNDS + 1):
        start = time.perf_counter()
        step(number)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:]) * 1e3


def time_dask(workers: int, launches: bool) -> float:
    """Return the milliseconds of the tasks."""
    with local_cluster(workers, dashboard_address=":0") as cluster, Client(cluster):
        chunks = to_device(da.ones(CHUNKS * SIZE, chunks=SIZE, dtype=np.float32)).persist()
        wait(chunks)
        results = {}

        def step(number: int) -> None:
            name = f"step-{number}"  # of its own, so that no earlier result is taken for it
            if launches:
                result = map_blocks(doubled, chunks, name=name)
            else:
                result = chunks.map_blocks(len, name=name, dtype=np.int64)
            results[0] = result.persist(optimize_graph=False)
            wait(results[0])

        duration = milliseconds(step)
        if launches:
            assert copy_to_host(results[0]).sum().compute() == 2 * CHUNKS * SIZE
        return duration


def time_launches() -> float:
    """Return the milliseconds of the launches of one process, without Dask."""
    chunks = [cuda.to_device(np.ones(SIZE, np.float32)) for _ in range(CHUNKS)]
    results = [cuda.to_device(np.zeros(SIZE, np.float32)) for _ in range(CHUNKS)]

    def step(_: int) -> None:
        for chunk, result in zip(chunks, results, strict=True):
            doubled[-(-SIZE // 256)](chunk, result)
        cuda.synchronize()

    return milliseconds(step)


def main() -> None:
    workers = int(sys.argv[1])
    duration = time_dask(workers, "--no-launch" not in sys.argv) if workers else time_launches()
    print(f"{workers} workers, {CHUNKS} chunks: {duration:.4f} ms per step")


if __name__ == "__main__":
    main()
