"""Device arrays that several processes use, by handles, on a GPU and in host memory."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np
import pytest

from pycu2c import CudaError, LaunchError, cuda
from pycu2c.cuda_driver import driver
from pycu2c.devices import ipc
from support import shared_arrays
from support.shared_arrays import add_in_place, second_process

on_two = pytest.mark.skipif(not driver.has_multiple_devices(), reason="needs two GPUs")
device = pytest.mark.parametrize("device", ["cpu", pytest.param(None, marks=pytest.mark.gpu)])


@pytest.fixture(autouse=True)
def frees_its_segments(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail a test that leaves shared memory behind."""
    names = []

    def recorded(*arguments: Any, **options: Any) -> SharedMemory:
        segment = SharedMemory(*arguments, **options)
        names.append(segment.name)
        return segment

    monkeypatch.setattr(ipc, "SharedMemory", recorded)
    yield
    gc.collect()
    for name in names:
        with pytest.raises(FileNotFoundError):
            SharedMemory(name)


def shared(values: Any, device: Any = "cpu") -> cuda.DeviceArray:
    array = cuda.device_array_like(values, device=device, shareable=True)
    array[...] = values
    cuda.synchronize()
    return array


def reopened(
    handle: cuda.IpcArrayHandle[cuda.DeviceArray],
) -> cuda.IpcArrayHandle[cuda.DeviceArray]:
    received = pickle.loads(pickle.dumps(handle))
    assert isinstance(received, cuda.IpcArrayHandle)
    return received


@device
def test_a_kernel_of_another_process_writes_views(device: Any) -> None:
    expected = np.arange(48, dtype=np.float32).reshape(6, 8)
    array = shared(expected, device)
    with second_process() as call:
        for key, x in ((slice(None), 100), (np.s_[1:5, ::3], 1000), (np.s_[2:, 4:], 0.5)):
            before = call(shared_arrays.add_to_shared, array[key].get_ipc_handle(), x)
            np.testing.assert_array_equal(before, expected[key])
            expected[key] += np.float32(x)
            np.testing.assert_array_equal(array.copy_to_host(), expected)
        before = call(shared_arrays.add_to_shared, array[1:].T.get_ipc_handle(), 1)
        np.testing.assert_array_equal(before, expected[1:].T)
        parts = [array[:2].get_ipc_handle(), array[4:].get_ipc_handle()]
        first, second = call(shared_arrays.open_twice, *parts)
        np.testing.assert_array_equal(first, array[:2].copy_to_host())
        np.testing.assert_array_equal(second, array[4:].copy_to_host())


@device
def test_an_array_of_another_process(device: Any) -> None:
    values = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    with second_process() as call:
        handle = call(shared_arrays.make_shared, values, device)
        with handle as array:
            assert array.strides == values.strides
            assert array.dtype == values.dtype
            np.testing.assert_array_equal(array.copy_to_host(), values)
            copy = cuda.to_device(values, device=device)
            copy[...] = array
            add_in_place(array, 3.0)
        view = array[1]
        del array
        np.testing.assert_array_equal(view.copy_to_host(), values[1] + 3)
        del view
        before = call(shared_arrays.add_to_shared, reopened(handle), 1.0)
        np.testing.assert_array_equal(before, values + 3)
        call(shared_arrays.release)
        with pytest.raises((CudaError, FileNotFoundError), match=r"has freed|must still have it"):
            handle.open()
    np.testing.assert_array_equal(copy.copy_to_host(), values)


@device
def test_a_handle_opens_a_view_in_its_own_process(device: Any) -> None:
    array = shared(np.arange(6.0), device)
    handle = array[2:].get_ipc_handle()
    with reopened(handle) as view:
        assert view.address == array.address + 16
        view[0] = 7
    assert array.copy_to_host().tolist() == [0, 1, 7, 3, 4, 5]
    opened = handle.open()
    del array, view
    assert opened.copy_to_host().tolist() == [7, 3, 4, 5]
    handle.close()


@device
def test_empty_and_odd_arrays(device: Any) -> None:
    for count in (0, 3):
        array = shared(np.full(count, 5, np.int8), device)
        with reopened(array.get_ipc_handle()) as view:
            assert view.copy_to_host().tolist() == [5] * count


def test_misuse_is_an_error() -> None:
    handle = shared(np.ones(3)).get_ipc_handle()
    with pytest.raises(ValueError, match="is not open"):
        handle.close()
    with handle, pytest.raises(ValueError, match="is already open"):
        handle.open()
    with pytest.raises(ValueError, match="is not open"):
        handle.close()
    with pytest.raises(LaunchError, match="a stream is"):
        handle.open("fast")
    for array in (cuda.to_device(np.ones(3)), cuda.from_dlpack(np.ones(3))):
        with pytest.raises(TypeError, match="shareable=True"):
            array.get_ipc_handle()
    with pytest.raises(TypeError, match=r"get_ipc_handle\(\)"):
        pickle.dumps(handle.open())
    assert repr(handle) == "<IPC handle of float64[3] on the host>"


@pytest.mark.usefixtures("without_gpus")
def test_the_memory_of_a_gpu_needs_a_gpu() -> None:
    layout = 0, (1,), (4,), np.dtype(np.int32), True
    handle = ipc.IpcArrayHandle(cuda.DeviceArray, (b"\1" * 64, 4096, 4), "GPU-1", layout, None)
    assert repr(handle) == "<IPC handle of int32[1] on GPU-1>"
    with pytest.raises(CudaError, match="no CUDA device"):
        handle.open()


EXPORTER = """
import pickle, sys
import numpy as np
from pycu2c import cuda

array = cuda.device_array(4, np.int32, device="cpu", shareable=True)
array[...] = 5
sys.stdout.buffer.write(pickle.dumps(array.get_ipc_handle()))
sys.stdout.flush()
sys.stdin.read()
assert array.copy_to_host().tolist() == [6, 5, 5, 5]
"""  # it ends while it still has the array

IMPORTER = """
import pickle, sys

handle = pickle.load(sys.stdin.buffer)
array = handle.open()
array[0] = 6
"""


def test_unrelated_processes_remove_shared_memory_once() -> None:
    """The importer's exit leaves the memory to the exporter; the exporter's exit frees it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    streams: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", EXPORTER], env=environment, **streams) as exporter:
        handle = pickle.load(exporter.stdout)
        for _ in range(2):
            importer = subprocess.run(
                [sys.executable, "-c", IMPORTER],
                input=pickle.dumps(handle),
                env=environment,
                capture_output=True,
                check=False,
            )
            assert (importer.returncode, importer.stderr) == (0, b"")
        _, errors = exporter.communicate()
    assert (exporter.returncode, errors) == (0, b"")
    with pytest.raises(FileNotFoundError, match="has freed the array"):
        handle.open()


# ---- GPUs --------------------------------------------------------------------------------------


@pytest.mark.gpu
def test_memory_of_other_packages() -> None:
    address = driver.allocate(4096)
    interface = {"shape": (4, 4), "typestr": "<f4", "data": (address + 256, False), "version": 3}
    array = cuda.from_cuda_array_interface(interface)
    array[...] = 1
    cuda.synchronize()
    with second_process() as call:
        call(shared_arrays.add_to_shared, array.get_ipc_handle(), 2.0)
    assert (array.copy_to_host() == 3).all()
    handle = reopened(array.get_ipc_handle())
    other = cuda.from_cuda_array_interface(interface | {"data": (address + 512, False)})
    other.get_ipc_handle()
    del other
    with handle as same:  # its memory exists, although that of the other array has been collected
        assert same.address == array.address
    driver.free(address)
    with pytest.raises(TypeError, match="shareable=True"):
        cuda.to_device(np.ones(3)).get_ipc_handle()


@pytest.mark.gpu
def test_memory_is_freed_after_the_streams_that_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    array, stream = shared(np.ones(3), None), cuda.stream(blocking=False)
    array.used_on(stream)
    ordered: list[tuple[int, int]] = []
    monkeypatch.setattr(driver, "order_after", lambda *streams: ordered.append(streams))
    del array
    gc.collect()
    assert ordered == [(stream.handle, 0)]


@on_two
def test_another_process_uses_the_array_on_its_gpu() -> None:
    expected = np.arange(48, dtype=np.float32).reshape(6, 8)
    array = shared(expected, 0)
    with second_process() as call:
        for gpu in (1, 0, 1):
            before = call(shared_arrays.add_to_shared, array[1:].get_ipc_handle(), 1.0, gpu)
            np.testing.assert_array_equal(before, expected[1:])
            expected[1:] += 1
            np.testing.assert_array_equal(array.copy_to_host(), expected)


@on_two
def test_visible_devices_may_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other process sees another GPU alone, and calls it GPU 0."""
    array = shared(np.zeros((4, 4)), 0)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", cuda.gpus[1].uuid)
    with second_process() as call:
        call(shared_arrays.add_to_shared, array.get_ipc_handle(), 1.0)
    assert (array.copy_to_host() == 1).all()
