"""Kernels and device arrays in the worker processes of Dask, without files of the client."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster, get_worker

from pycu2c import cuda, device, kernel
from pycu2c.dask import map_blocks, map_overlap
from pycu2c.runtime.cpu.thread_count import thread_count


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, Client(cluster) as client:
        yield client


def heat(rate: float) -> Any:
    @device
    def laplacian(t, i, j):
        return t[i - 1, j] + t[i + 1, j] + t[i, j - 1] + t[i, j + 1] - 4 * t[i, j]

    @kernel(backend="cpu", block=(16, 16))
    def step(t, out):
        j, i = cuda.grid(2)
        if i < t.shape[0] and j < t.shape[1]:
            inside = 0 < i < t.shape[0] - 1 and 0 < j < t.shape[1] - 1
            out[i, j] = t[i, j] + (rate * laplacian(t, i, j) if inside else 0.0)

    return step


def on_plate(shape: tuple[int, ...]) -> tuple[int, int]:
    return -(-shape[1] // 16), -(-shape[0] // 16)


PLATE = np.random.default_rng(5).random((90, 70))


def expected(step: Any, count: int) -> np.ndarray[Any, Any]:
    t = PLATE
    for _ in range(count):
        out = np.empty_like(t)
        step[on_plate(t.shape),](t, out)
        t = out
    return t


def test_halos_are_exchanged(client: Client) -> None:
    """A kernel of a closure; the result is that of one process, bit by bit."""
    step = heat(0.1)
    t = da.from_array(PLATE, chunks=(40, 30))
    for _ in range(3):
        t = map_overlap(step, t, depth=1, grid=on_plate)
    assert t.chunks == ((40, 40, 10), (30, 30, 10))
    assert np.array_equal(t.compute(), expected(step, 3))


def test_a_killed_worker(client: Client) -> None:
    """Dask computes its chunks again."""
    step, pids = heat(0.2), client.run(os.getpid)
    t = map_overlap(step, da.from_array(PLATE, chunks=30), depth=1, grid=on_plate).persist()
    os.kill(next(iter(pids.values())), signal.SIGKILL)
    t = map_overlap(step, t, depth=1, grid=on_plate)
    assert np.array_equal(t.compute(), expected(step, 2))


def test_blocks_with_scalars_and_another_dtype(client: Client) -> None:
    @kernel(backend="cpu")
    def scaled(a, factor, b, out):
        i = cuda.grid(1)
        if i < len(out):
            out[i] = a[i] * factor + b[i]

    a, b = da.arange(100, chunks=30), da.ones(100, chunks=30, dtype="float32")
    x = map_blocks(scaled, a, 3, b, grid=lambda shape: -(-shape[0] // 64), block=64, dtype="f4")
    assert x.dtype == np.float32
    assert np.array_equal(x.compute(), np.arange(100) * 3 + 1)
    assert np.array_equal(x.compute(scheduler="threads"), np.arange(100) * 3 + 1)
    integers = map_blocks(scaled, a, 3, b, block=64, grid=1)
    assert integers.dtype == a.dtype
    assert np.array_equal(integers.compute(), np.arange(100) * 3 + 1)
    with pytest.raises(TypeError, match="scaled has no Dask array"):
        map_blocks(scaled, np.ones(3), 3, np.ones(3))


def test_empty_chunks(client: Client) -> None:
    @kernel(backend="cpu", grid=1, block=32)
    def negated(a, out):
        i = cuda.grid(1)
        if i < len(out):
            out[i] = -a[i]

    a = da.ones(40, chunks=20)
    assert map_blocks(negated, a[a > 2]).compute().size == 0


def test_device_arrays(client: Client) -> None:
    a = np.arange(6.0).reshape(2, 3).T
    sent = client.scatter(cuda.to_device(a))
    doubled = client.submit(lambda x: cuda.to_device(x.copy_to_host() * 2), sent)
    assert np.array_equal(doubled.result().copy_to_host(), 2 * a)


def threads_of_task() -> tuple[int, int]:
    return thread_count(), get_worker().state.nthreads


def test_the_pool_has_the_threads_of_the_worker(client: Client) -> None:
    assert client.submit(threads_of_task).result() == (1, 1)
