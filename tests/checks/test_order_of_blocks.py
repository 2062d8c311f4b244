"""The order of blocks by barriers of clusters, by cloned of flags, and without enough memory."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from pycu2c import CheckError, cuda, device, int32, kernel
from pycu2c.base.diagnostics import LaunchWarning
from support.targets import TARGETS

COMPILED = [t for t in TARGETS if t != "python"]


def counts(n: int) -> Any:
    return np.zeros(n, np.int32)


def findings_of(function: Any, backend: str, configuration: Any, *arguments: Any) -> list[str]:
    """Return the kinds and arrays of the findings of a launch."""
    options = {"cluster": 2} if "cluster" in function.__name__ else {}
    launched = kernel(function, backend=backend, check=True, **options)
    try:
        launched[configuration](*arguments)
    except CheckError as error:
        return [f"{finding.kind} {finding.array}" for finding in error.findings]
    return []


def sums_of_clusters(parts, out):
    i, cluster = cuda.grid(1), cuda.cg.this_cluster()
    parts[i] = i
    cluster.sync()
    out[i] = parts[i ^ 8]


def sums_across_clusters(parts, out):
    i, cluster = cuda.grid(1), cuda.cg.this_cluster()
    parts[i] = i
    cluster.sync()
    out[i] = parts[(i + 8) % 32]


def phases_of_clusters(parts, out):
    i, cluster = cuda.grid(1), cuda.cg.this_cluster()
    parts[i] = i
    cluster.sync()
    out[i] = parts[i ^ 8]
    parts[i] = 0


@pytest.mark.parametrize("backend", COMPILED)
def test_a_barrier_of_the_cluster_orders_its_blocks(backend: str) -> None:
    arguments = counts(32), counts(32)
    assert findings_of(sums_of_clusters, backend, (4, 8), *arguments) == []
    for wrong in (sums_across_clusters, phases_of_clusters):
        found = findings_of(wrong, backend, (4, 8), *arguments)
        assert set(found) == {"race parts"}


def last_cluster(parts, done, total):
    """What a block has before a barrier of its cluster is released by another block."""
    is_last = cuda.shared.array(1, int32)
    i, t, cluster = cuda.grid(1), cuda.threadIdx.x, cuda.cg.this_cluster()
    parts[i] = i
    cluster.sync()
    if t == 0 and cluster.block_rank() == 0:
        cuda.threadfence()
        is_last[0] = cuda.atomic.add(done, 0, 1) == cuda.gridDim.x // 2 - 1
    cuda.syncthreads()
    if cluster.block_rank() == 0 and is_last[0] and t == 0:
        for part in parts:
            total[0] += part


@pytest.mark.parametrize("backend", COMPILED)
def test_barriers_of_clusters_and_flags_are_transitive(backend: str) -> None:
    total = counts(1)
    assert findings_of(last_cluster, backend, (8, 16), counts(128), counts(1), total) == []
    assert total[0] == 127 * 64


def last_thread(a, out, done):
    i = cuda.grid(1)
    out[i] = a[i] * 2
    cuda.threadfence()
    if cuda.atomic.add(done, 0, 1) == len(a) - 1:
        for k in range(len(a)):
            out[k] += 1


@pytest.mark.parametrize("backend", COMPILED)
def test_threads_that_release_at_once(backend: str) -> None:
    """The sync words of an element change while other blocks acquire what they were."""
    a, out = np.arange(1600 * 16), np.zeros(1600 * 16, np.int64)
    assert findings_of(last_thread, backend, (1600, 16), a, out, counts(1)) == []
    assert np.array_equal(out, 2 * a + 1)


def hand_over(data, first, second):
    """Block 0 gives to block 1, which gives to block 2."""
    b = cuda.blockIdx.x
    if b == 0:
        data[0] = 1
        cuda.threadfence()
        cuda.atomic.exch(first, 0, 1)
    elif b == 1:
        while cuda.atomic.add(first, 0, 0) == 0:
            cuda.nanosleep(20)
        cuda.threadfence()
        cuda.atomic.exch(second, 0, 1)
    else:
        while cuda.atomic.add(second, 0, 0) == 0:
            cuda.nanosleep(20)
        data[0] += 1


def hand_over_too_early(data, first, second):
    b = cuda.blockIdx.x
    if b == 0:
        data[0] = 1
        cuda.threadfence()
        cuda.atomic.exch(first, 0, 1)
    elif b == 1:
        cuda.threadfence()
        cuda.atomic.exch(second, 0, 1)
    else:
        while cuda.atomic.add(second, 0, 0) == 0:
            cuda.nanosleep(20)
        data[0] += 1


@pytest.mark.parametrize("backend", COMPILED)
def test_what_is_acquired_is_released(backend: str) -> None:
    assert findings_of(hand_over, backend, (3, 1), counts(1), counts(1), counts(1)) == []
    found = findings_of(hand_over_too_early, backend, (3, 1), counts(1), counts(1), counts(1))
    assert set(found) == {"race data"}


@pytest.mark.parametrize("backend", COMPILED)
def test_without_memory_for_the_order_of_blocks(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYCU2C_CHECK_MEMORY", "450")
    with pytest.warns(LaunchWarning, match="races between blocks are not found"):
        found = findings_of(hand_over_too_early, backend, (3, 1), counts(1), counts(1), counts(1))
    assert found == []


@device(signature="int32(int32[:], int32)")
def take_recursively(mutex, n):
    if n == 0 or cuda.atomic.cas(mutex, 0, 0, 1) == 0:
        return n
    return take_recursively(mutex, n - 1)


def lock_by_recursion(mutex, data):
    while take_recursively(mutex, 5) == 0:
        cuda.nanosleep(20)
    cuda.threadfence()
    data[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(mutex, 0, 0)


@pytest.mark.parametrize("backend", COMPILED)
def test_functions_without_checks_may_order_all(backend: str) -> None:
    data = counts(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert findings_of(lock_by_recursion, backend, (4, 1), counts(1), data) == []
    assert data[0] == 4


def arguments_with_names_of_shadows(barriers, clocks, order):
    barriers[0] = 1
    cuda.cg.this_grid().sync()
    clocks[cuda.grid(1)] = barriers[0]
    cuda.syncthreads()
    order[cuda.grid(1)] = clocks[cuda.grid(1) ^ 1]


@pytest.mark.parametrize("backend", COMPILED)
def test_names_of_arguments(backend: str) -> None:
    arguments = counts(1), counts(8), counts(8)
    assert findings_of(arguments_with_names_of_shadows, backend, (2, 4), *arguments) == []
