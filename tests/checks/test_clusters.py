"""Races on shared memory that the blocks of a cluster exchange."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import CheckError, cuda, device, int32, kernel
from support.targets import TARGETS

COMPILED = [t for t in TARGETS if t != "python"]


def read_of_the_other_block(a, out):
    shared = cuda.shared.array(8, int32)
    t, cluster = cuda.threadIdx.x, cuda.cg.this_cluster()
    shared[t] = a[cuda.grid(1)]
    cluster.sync()
    other = cluster.map_shared_rank(shared, cluster.block_rank() ^ 1)
    out[cuda.grid(1)] = other[7 - t]
    cluster.sync()
    shared[t] = 0


def read_without_a_barrier(a, out):
    shared = cuda.shared.array(8, int32)
    t, cluster = cuda.threadIdx.x, cuda.cg.this_cluster()
    shared[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    other = cluster.map_shared_rank(shared, cluster.block_rank() ^ 1)
    out[cuda.grid(1)] = other[7 - t]
    cluster.sync()


def overwritten_after_a_read(a, out):
    shared = cuda.shared.array(8, int32)
    t, cluster = cuda.threadIdx.x, cuda.cg.this_cluster()
    shared[t] = a[cuda.grid(1)]
    cluster.sync()
    other = cluster.map_shared_rank(shared, cluster.block_rank() ^ 1)
    out[cuda.grid(1)] = other[7 - t]
    shared[t] = 0
    cluster.sync()


def written_by_the_other_block(a, out):
    shared = cuda.shared.array((2, 4), int32)
    t, cluster = cuda.threadIdx.x, cuda.cg.this_cluster()
    other = cluster.map_shared_rank(shared, cluster.block_rank() ^ 1)
    other[t // 4, t % 4] = a[cuda.grid(1)]
    cluster.sync()
    out[cuda.grid(1)] = shared[1 - t // 4, t % 4]


def read_of_what_no_block_writes(a, out):
    shared = cuda.shared.array(8, int32)
    t, cluster = cuda.threadIdx.x, cuda.cg.this_cluster()
    if t < 7:
        shared[t] = a[cuda.grid(1)]
    cluster.sync()
    other = cluster.map_shared_rank(shared, 0)
    out[cuda.grid(1)] = other[t]
    cluster.sync()


def counted_in_the_first_block(a, out):
    count = cuda.shared.array(1, int32)
    t, cluster = cuda.threadIdx.x, cuda.cg.this_cluster()
    if t == 0:
        count[0] = 0
    cluster.sync()
    cuda.atomic.add(cluster.map_shared_rank(count, 0), 0, a[cuda.grid(1)])
    cluster.sync()
    out[cuda.grid(1)] = count[0]


@device
def put(row, i, x):
    row[i] = x


def passed_to_a_function(a, out):
    shared = cuda.shared.array(8, int32)
    t, cluster = cuda.threadIdx.x, cuda.cg.this_cluster()
    put(cluster.map_shared_rank(shared, cluster.block_rank() ^ 1), t, a[cuda.grid(1)])
    cluster.sync()
    out[cuda.grid(1)] = shared[7 - t]


@device
def put_in_the_other_block(shared, t, value):
    other = cuda.cg.this_cluster().block_rank() ^ 1
    cuda.cg.this_cluster().map_shared_rank(shared, other)[t] = value


@device
def put_by_a_function(shared, t, value):
    other = cuda.cg.this_cluster().block_rank() ^ 1
    put(cuda.cg.this_cluster().map_shared_rank(shared, other), t, value)


def mapped_by(put_there):
    def mapped_by_a_function(a, out):
        shared = cuda.shared.array(8, int32)
        t = cuda.threadIdx.x
        put_there(shared, t, a[cuda.grid(1)])
        cuda.cg.this_cluster().sync()
        out[cuda.grid(1)] = shared[7 - t]

    return mapped_by_a_function


def not_mapped(a, out):
    shared = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    shared[t] = a[cuda.grid(1)]
    out[cuda.grid(1)] = shared[7 - t]
    cuda.cg.this_cluster().sync()


@pytest.mark.parametrize("backend", COMPILED)
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (read_of_the_other_block, []),
        (written_by_the_other_block, []),
        (counted_in_the_first_block, []),
        (passed_to_a_function, []),
        (mapped_by(put_in_the_other_block), []),
        (mapped_by(put_by_a_function), []),
        (read_without_a_barrier, ["race"]),
        (overwritten_after_a_read, ["race"]),
        (read_of_what_no_block_writes, ["uninitialized"]),
        (not_mapped, ["race"]),
    ],
)
def test_shared_memory_of_a_cluster(function: Any, expected: list[str], backend: str) -> None:
    launched: Any = kernel(function, backend=backend, check=True, cluster=2)
    a, out = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    found: list[str] = []
    try:
        launched[4, 8](a, out)
    except CheckError as error:
        found = [f.kind for f in error.findings]
    if expected == ["race"]:  # what is read too early may also be unwritten
        found = [kind for kind in found if kind != "uninitialized"]
    assert found == expected
