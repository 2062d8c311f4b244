"""Kernels and device arrays in the worker processes of Dask, without files of the client."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import types
from collections.abc import Iterator
from typing import Any

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr
from distributed import Client, get_worker
from distributed.protocol import cuda_deserialize, cuda_serialize, deserialize, serialize

from pycu2c import cuda, device, kernel
from pycu2c.cuda_driver import driver
from pycu2c.dask import copy_to_host, local_cluster, map_blocks, map_overlap, to_device, workers
from pycu2c.kernels.kernel_pickling import Pickled
from pycu2c.runtime.cpu.thread_count import thread_count


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    cluster = local_cluster(2, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        yield client


def heat(rate: float, backend: Any = "cpu") -> Any:
    @device
    def laplacian(t, i, j):
        return t[i - 1, j] + t[i + 1, j] + t[i, j - 1] + t[i, j + 1] - 4 * t[i, j]

    @kernel(backend=backend, block=(16, 16))
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
    for kernel_of_chunks in scaled[1, 64], a, abs:
        with pytest.raises(TypeError, match="the first argument is a kernel, not"):
            map_blocks(kernel_of_chunks, a, 3, b)
    with pytest.raises(TypeError, match="block= needs grid="):
        map_blocks(scaled, a, 3, b, block=64)


def test_chunks_that_do_not_correspond() -> None:
    @kernel(backend="cpu", grid=1, block=128)
    def added(a, factor, b, out):
        i = cuda.grid(1)
        if i < len(out):
            out[i] = a[i] + b[0] * factor

    a, unequal = da.ones(100, chunks=30), da.ones(100, chunks=((10, 30, 30, 30),))
    for b in da.ones(100, chunks=50), da.ones(8, chunks=4), unequal, a[:40].rechunk(5):
        message = (
            f"along axis -1, a has 4 chunks of 30, 30, 30, 10 elements, and b has {b.npartitions}"
        )
        with pytest.raises(ValueError, match=f"added: {message} chunks .* such as b.rechunk"):
            map_blocks(added, a, 2, b)
    for b in a, da.ones(4, chunks=1), da.ones(100, chunks=100), a[a > 0]:
        assert map_blocks(added, a, 2, b).sum().compute(scheduler="threads") == 300


def test_empty_chunks(client: Client) -> None:
    @kernel(backend="cpu", grid=1, block=32)
    def negated(a, out):
        i = cuda.grid(1)
        if i < len(out):
            out[i] = -a[i]

    a = da.ones(40, chunks=20)
    assert map_blocks(negated, a[a > 2]).compute().size == 0


@kernel(backend="cpu", grid=1, block=32)
def add_columns(a, out):
    j = cuda.threadIdx.x
    if j < a.shape[1]:
        for i in range(a.shape[0]):
            out[0, j] += a[i, j]


def test_chunks_of_another_shape(client: Client) -> None:
    a = np.arange(70.0).reshape(10, 7)
    sums = map_blocks(add_columns, da.from_array(a, chunks=(4, 3)), chunks=(1, 3), dtype="f8")
    assert sums.chunks == ((1, 1, 1), (3, 3, 3))
    sums = map_blocks(add_columns, da.from_array(a, chunks=(4, 7)), chunks=(1, 7), dtype="f8")
    assert np.array_equal(sums.sum(axis=0).compute(), a.sum(axis=0))


def test_the_kernel_of_all_tasks_is_pickled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pickled: list[object] = []
    by_value = Pickled.__reduce__

    def reduce(self: Pickled) -> Any:
        pickled.append(self)
        return by_value(self)

    monkeypatch.setattr(Pickled, "__reduce__", reduce)
    step = heat(0.2)
    plate = da.from_array(PLATE, chunks=PLATE.shape)
    launched = map_blocks(step, plate, grid=on_plate, name="launched")
    task = launched.__dask_graph__()["launched", 0, 0]
    received = [pickle.loads(cloudpickle.dumps(task)) for _ in range(3)]
    assert pickled.count(step) == 1
    (chunk,) = task.dependencies
    assert np.array_equal(received[2]({chunk: PLATE}), expected(step, 1))


def test_unaligned_chunks() -> None:
    """Dask receives small arrays at any address."""
    a = np.frombuffer(bytearray(81), np.uint8)[1:].view("f8").reshape(2, 5)
    assert not a.flags.aligned
    a[...] = 3
    chunk = da.from_array(a, chunks=(2, 5), name=False, asarray=False)
    sums = map_blocks(add_columns, chunk, chunks=(1, 5))
    assert sums.compute(scheduler="synchronous").tolist() == [[6] * 5]


class OfAnotherPackage(np.ndarray[Any, Any]):
    """Chunks in place of CuPy's: NumPy's functions return them, too."""

    def __array_function__(self, *call: Any) -> Any:
        result = super().__array_function__(*call)
        return result.view(OfAnotherPackage) if isinstance(result, np.ndarray) else result

    def get(self) -> np.ndarray[Any, Any]:
        return self.view(np.ndarray)


def test_chunks_of_another_package() -> None:
    """Chunks stay what they are, from step to step."""
    step = heat(0.1)
    t = da.from_array(PLATE.view(OfAnotherPackage), chunks=40, asarray=False)
    for _ in range(2):
        t = map_overlap(step, t, depth=1, grid=on_plate)
    t = map_blocks(step, t, grid=on_plate)
    assert type(t._meta) is OfAnotherPackage
    assert type(t.blocks[0, 1].compute(scheduler="synchronous")) is OfAnotherPackage
    on_host = copy_to_host(t)
    assert type(on_host._meta) is type(on_host.compute(scheduler="synchronous")) is np.ndarray


@pytest.mark.gpu
def test_chunks_stay_on_gpus() -> None:
    cupy = pytest.importorskip("cupy")
    step = heat(0.1, backend="auto")
    t = to_device(da.from_array(PLATE, chunks=40))
    for _ in range(3):
        t = map_overlap(step, t, depth=1, grid=on_plate)
    assert type(t._meta) is type(t.compute(scheduler="synchronous")) is cupy.ndarray
    result = copy_to_host(t).compute(scheduler="synchronous")
    assert np.allclose(result, expected(heat(0.1), 3))


def test_chunks_stay_on_the_host_without_a_gpu(client: Client) -> None:
    if not driver.available():
        assert type(to_device(da.ones(4, chunks=2)).compute()) is np.ndarray


def test_a_function_of_xarray(client: Client) -> None:
    @kernel(backend="cpu", block=64)
    def halved(a, out):
        i = cuda.grid(1)
        if i < len(out):
            out[i] = a[i] / 2

    def halves(a):
        out = np.empty_like(a)
        halved(a.ravel(), out.reshape(-1))
        return out

    x = xr.DataArray(da.from_array(PLATE, chunks=(40, 30)), dims=("y", "x"))
    y = xr.apply_ufunc(halves, x, dask="parallelized", output_dtypes=[x.dtype])
    assert y.chunks == x.chunks
    assert np.array_equal(y.compute().values, PLATE / 2)


def test_device_arrays(client: Client) -> None:
    a = np.arange(6.0).reshape(2, 3).T
    sent = client.scatter(cuda.to_device(a))
    doubled = client.submit(lambda x: cuda.to_device(x.copy_to_host() * 2), sent)
    assert np.array_equal(doubled.result().copy_to_host(), 2 * a)


def test_the_header_and_the_frame_of_a_device_array() -> None:
    """Those that UCX sends from GPU to GPU; arrays on the host take another way."""
    a = np.arange(6.0).reshape(2, 3)
    on_host = cuda.to_device(a, device="cpu")
    header = {"shape": a.shape, "dtype": pickle.dumps(a.dtype)}
    frame = cuda.to_device(a.ravel().view(np.uint8), device="cpu")
    received = cuda_deserialize.dispatch(cuda.DeviceArray)(header, [frame])
    assert np.array_equal(received.copy_to_host(), a)
    with pytest.raises(NotImplementedError):
        cuda_serialize(on_host)
    header, frames = serialize(on_host, serializers=("cuda", "dask"))
    assert header["serializer"] == "dask"
    assert np.array_equal(deserialize(header, frames).copy_to_host(), a)


@pytest.mark.gpu
@pytest.mark.parametrize("a", [np.arange(6.0).reshape(2, 3).T, np.array(5), np.ones((0, 3), "f4")])
def test_device_arrays_stay_on_the_gpu(a: np.ndarray[Any, Any]) -> None:
    header, frames = serialize(cuda.to_device(a), serializers=("cuda", "dask"))
    assert header["serializer"] == "cuda"
    assert frames[0].nbytes == a.nbytes
    received = deserialize(header, frames).copy_to_host()
    assert (received.shape, received.dtype) == (a.shape, a.dtype)
    assert np.array_equal(received, a)


def test_each_worker_has_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are visible, too; a third worker shares the first GPU."""
    monkeypatch.setattr(workers, "_visible_gpus", lambda: ["0", "1"])
    with (
        dask.config.set({"distributed.diagnostics.nvml": False}),  # for a machine with one GPU
        local_cluster(3, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        visible = client.run(os.getenv, "CUDA_VISIBLE_DEVICES")
        assert sorted(visible.values()) == ["0,1", "0,1", "1,0"]
        assert set(client.nthreads().values()) == {1}


def test_gpus_of_dask_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = types.ModuleType("dask_cuda")
    fake.LocalCUDACluster = dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dask_cuda", fake)
    monkeypatch.setattr(workers, "_visible_gpus", lambda: ["0"])
    assert local_cluster(protocol="ucx") == {"n_workers": None, "protocol": "ucx"}


def test_visible_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "available", lambda: True)
    monkeypatch.setattr(driver, "devices", lambda: (None, None))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert workers._visible_gpus() == ["0", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-b4,GPU-c7")
    assert workers._visible_gpus() == ["GPU-b4", "GPU-c7"]


def threads_of_task() -> tuple[int, int]:
    return thread_count(), get_worker().state.nthreads


def test_the_pool_has_the_threads_of_the_worker(client: Client) -> None:
    assert client.submit(threads_of_task).result() == (1, 1)
