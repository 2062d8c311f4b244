"""Time many small chunks in workers of Dask with a GPU each.

usage: python benchmarks/dask_gpus.py WORKERS

A task launches one kernel on a chunk that is on the GPU, or without a GPU in the worker. The script
prints the milliseconds of 1,000 tasks.
"""

from __future__ import annotations

import statistics
import sys
import time

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


def main() -> None:
    with local_cluster(int(sys.argv[1]), dashboard_address=":0") as cluster, Client(cluster):
        chunks = to_device(da.ones(CHUNKS * SIZE, chunks=SIZE, dtype=np.float32)).persist()
        wait(chunks)
        times = []
        for number in range(ROUNDS + 1):
            name = f"doubled-{number}"  # of its own, so that no earlier result is taken for it
            start = time.perf_counter()
            result = map_blocks(doubled, chunks, name=name).persist(optimize_graph=False)
            wait(result)
            times.append(time.perf_counter() - start)
        assert copy_to_host(result).sum().compute() == 2 * CHUNKS * SIZE
    duration = statistics.median(times[1:])
    print(f"{sys.argv[1]} workers, {CHUNKS} chunks: {duration * 1e3:.4f} ms per step")


if __name__ == "__main__":
    main()
