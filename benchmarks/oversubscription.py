"""Time kernels in 4 worker processes of Dask beside one process on all cores, and a task.

usage: python benchmarks/oversubscription.py [--workers N] [--rounds N] [--small]

Workers and the process compute the same chunks. Each round times them in turns; a ratio is the
median over the rounds. A task of Dask and a launch are timed on chunks of one element.
"""

from __future__ import annotations

import argparse
import statistics
import time
import uuid
from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, wait

from pycu2c import cuda, kernel
from pycu2c.dask import local_cluster, map_blocks
from results import save

CHUNKS = 24
TASKS = 400
US = 1e6


@kernel(backend="cpu", block=128)
def iterate(x, out):
    """Many operations for each element."""
    i = cuda.grid(1)
    if i < len(out):
        y = x[i]
        for _ in range(1000):
            y = np.float32(3.7) * y * (np.float32(1) - y)
        out[i] = y


@kernel(backend="cpu", block=128)
def smooth(x, out):
    """Few operations for each element, so that memory limits it."""
    i = cuda.grid(1)
    if i < len(out):
        out[i] = x[i]
        if 0 < i < len(out) - 1:
            out[i] = x[i - 1] / 4 + x[i] / 2 + x[i + 1] / 4


KERNELS = {"many operations": (iterate, 1_000_000), "memory": (smooth, 8_000_000)}


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def new_name() -> str:
    """Return a name for an array, so that no earlier result is taken for it."""
    return f"benchmark-{uuid.uuid4()}"


def in_workers(launched: Any, chunks: Any) -> None:
    """Compute all chunks in the workers; the results stay there."""
    wait(map_blocks(launched, chunks, name=new_name()).persist())


def in_one_process(launched: Any, chunks: list[Any]) -> list[Any]:
    results = []
    for chunk in chunks:
        results.append(np.zeros_like(chunk))
        launched(chunk, results[-1])
    return results


def ratio(launched: Any, size: int, rounds: int) -> float:
    """Return the time of the workers divided by that of one process on all cores."""
    array = da.random.default_rng(2).random((CHUNKS * size,), dtype=np.float32, chunks=size)
    chunks = array.persist()
    wait(chunks)
    copies = [block.compute(scheduler="threads").copy() for block in array.blocks]
    in_workers(launched, chunks)
    in_one_process(launched, copies)
    ratios = []
    for _ in range(rounds):
        parallel = seconds(lambda: in_workers(launched, chunks))
        ratios.append(parallel / seconds(lambda: in_one_process(launched, copies)))
    return statistics.median(ratios)


def microseconds(
    calls: dict[str, Callable[[], object]], count: int, rounds: int
) -> dict[str, float]:
    """Return the time of a launch or task, by the calls that make so many of them."""
    return {
        name: statistics.median(seconds(call) for _ in range(rounds)) / count * US
        for name, call in calls.items()
    }


def costs_in_this_process(count: int, rounds: int) -> dict[str, float]:
    """Return the microseconds of a launch, and of a task of the threads of Dask."""
    chunks = [np.ones(1, np.float32)] * count
    array = da.from_array(np.ones(count, np.float32), chunks=1)
    calls: dict[str, Callable[[], object]] = {
        "a launch": lambda: in_one_process(smooth, chunks),
        "a task in a thread without a launch": lambda: array.map_blocks(np.negative).compute(),
        "a task in a thread": lambda: map_blocks(smooth, array).compute(),
    }
    return microseconds(calls, count, rounds)


def costs_in_workers(count: int, rounds: int) -> dict[str, float]:
    """Return the microseconds of a task of the workers."""
    array = da.ones(count, chunks=1, dtype=np.float32).persist()
    calls: dict[str, Callable[[], object]] = {
        "a task in a worker without a launch": lambda: wait(
            array.map_blocks(np.negative, name=new_name()).persist()
        ),
        "a task in a worker": lambda: in_workers(smooth, array),
    }
    return microseconds(calls, count, rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--small", action="store_true", help="fewer elements and tasks")
    given = parser.parse_args()
    fewer, count = (1000, TASKS // 10) if given.small else (1, TASKS)
    costs = costs_in_this_process(count, given.rounds)
    with local_cluster(given.workers, dashboard_address=":0") as cluster, Client(cluster):
        ratios = {
            name: ratio(launched, size // fewer, given.rounds)
            for name, (launched, size) in KERNELS.items()
        }
        costs |= costs_in_workers(count, given.rounds)
    for name, times in ratios.items():
        print(f"{name}: {given.workers} workers take {times:.2f} × the time of one process")
    for name, cost in costs.items():
        print(f"{name}: {cost:.1f} µs")
    columns = {"×": ratios, "µs": costs}
    save(
        "oversubscription", {row: {unit: v} for unit, c in columns.items() for row, v in c.items()}
    )


if __name__ == "__main__":
    main()
