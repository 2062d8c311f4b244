"""Selection of GPUs on a machine with none, one or several."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from pycu2c import CudaError, LaunchError, cuda
from pycu2c.cuda_driver import driver
from pycu2c.kernels.kernel import Kernel

no_gpu = pytest.mark.skipif(driver.available(), reason="needs a machine without a GPU")
on_two = pytest.mark.skipif(not driver.has_multiple_devices(), reason="needs two GPUs")


def add(out, a, x):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < len(out):
        out[i] = a[i] + x


@no_gpu
def test_without_a_gpu_the_list_is_empty() -> None:
    assert len(cuda.gpus) == 0
    assert list(cuda.gpus) == []
    assert not cuda.is_available()
    for action in (
        lambda: cuda.select_device(1),
        lambda: cuda.gpus[0],
        lambda: cuda.can_access_peer(0, 1),
        lambda: cuda.to_device([1.0], device=0),
    ):
        with pytest.raises(CudaError, match=r"use (a GPU|GPU [01]): there is no CUDA d"):
            action()
    assert cuda.to_device([1.0]).copy_to("cpu").device == -1


@pytest.mark.gpu
def test_available_gpus() -> None:
    assert cuda.is_available()
    assert len(cuda.gpus) == len(list(cuda.gpus)) >= 1
    gpu = cuda.select_device(0)
    assert gpu.id == 0
    assert gpu.compute_capability >= (7, 5)
    assert gpu.arch == "sm_{}{}".format(*gpu.compute_capability)
    assert gpu.name
    assert gpu.MULTIPROCESSOR_COUNT > 0
    with pytest.raises(AttributeError, match="a GPU has no CORES"):
        _ = gpu.CORES
    assert 0 < gpu.memory.free < gpu.memory.total
    assert cuda.get_current_device().id == 0
    gpu.synchronize()
    with pytest.raises(IndexError, match="there is no GPU 99"):
        cuda.select_device(99)
    with pytest.raises(IndexError, match="there is no GPU -1"):
        cuda.gpus[-1]
    with pytest.raises(IndexError, match="there is no GPU 99"):
        cuda.device_array(3, device=99)


@on_two
def test_the_current_gpu_is_the_threads_own() -> None:
    found: list[int] = []
    with cuda.gpus[1] as gpu:
        assert gpu.id == 1
        assert cuda.gpus.current.id == 1
        thread = threading.Thread(target=lambda: found.append(cuda.gpus.current.id))
        thread.start()
        thread.join()
        with cuda.gpus[0]:
            assert cuda.device_array(3).device == 0
        assert cuda.device_array(3).device == 1
        assert cuda.device_array(3, device=0).device == 0
        assert cuda.stream().device == 1
    assert cuda.gpus.current.id == 0
    assert found == [0]
    assert cuda.default_stream().device is None
    cuda.select_device(1)
    assert cuda.gpus.current.id == 1
    cuda.select_device(0)


def learnt(k: Kernel[...], *arguments: object) -> None:
    k[8, 128](*arguments)
    for _ in range(4):
        k[8, 128](*arguments)


@on_two
def test_launches_use_the_current_gpu() -> None:
    k = Kernel(add, backend="cuda")
    made = [(cuda.device_array(1000, device=i), cuda.device_array(1000, device=i)) for i in (0, 1)]
    for out, a in made:
        a[...] = 5
        out[...] = 0
    for i, (out, a) in enumerate(made):
        with cuda.gpus[i]:
            learnt(k, out, a, float(i))
    for i, (out, _) in enumerate(made):
        assert np.all(out.copy_to_host() == 5 + i)
    values = np.zeros(1000)
    with cuda.gpus[1]:
        k[8, 128](values, made[1][1], 1.0)  # copied to it and back
    assert np.all(values == 6)


@on_two
def test_arrays_of_another_gpu_are_rejected_with_a_hint() -> None:
    k = Kernel(add, backend="cuda")
    here, there = cuda.device_array(1000, device=0), cuda.device_array(1000, device=1)
    learnt(k, here, here, 1.0)
    with pytest.raises(LaunchError, match=r"argument 2 is on GPU 1.*copy_to\(0\)"):
        k[8, 128](here, there, 1.0)
    with cuda.gpus[1]:
        with pytest.raises(LaunchError, match=r"argument 1 is on GPU 0.*with cuda.gpus\[0\]"):
            k[8, 128](here, here, 1.0)
        stream = cuda.stream()
    with pytest.raises(LaunchError, match="the stream belongs to GPU 1"):
        k[8, 128, stream](here, here, 1.0)


@on_two
def test_copies_between_gpus() -> None:
    values = np.arange(24.0).reshape(4, 6)
    first = cuda.to_device(values, device=0)
    second = first.copy_to(1)
    assert (first.device, second.device) == (0, 1)
    assert np.array_equal(second.copy_to_host(), values)
    assert second.copy().device == 1
    assert second.T.copy_to(0).device == 0
    assert np.array_equal(second.T.copy_to(0).copy_to_host(), values.T)
    assert np.array_equal(second[::2, 1::2].copy_to(0).copy_to_host(), values[::2, 1::2])
    first[::2, ::3] = second[1::2, ::3]
    expected = values.copy()
    expected[::2, ::3] = values[1::2, ::3]
    assert np.array_equal(first.copy_to_host(), expected)
    whole = cuda.device_array((4, 6), device=0)
    whole[...] = second
    assert np.array_equal(whole.copy_to_host(), values)
    assert cuda.to_device(second, device=0).device == 0
    assert cuda.to_device(second).device == 1
    assert second.copy_to("cpu").device == -1


@on_two
def test_types_are_converted_between_gpus() -> None:
    second = cuda.to_device(np.arange(6, dtype=np.float32), device=1)
    first = cuda.device_array(6, device=0)
    first[...] = second
    assert first.copy_to_host().tolist() == [0, 1, 2, 3, 4, 5]


@on_two
def test_a_gpu_uses_the_memory_of_another() -> None:
    if not cuda.can_access_peer(0, 1):
        pytest.skip("these GPUs have no way to each other")
    assert cuda.gpus[0].can_access_peer(cuda.gpus[1])
    assert not cuda.can_access_peer(0, 0)
    k = Kernel(add, backend="cuda")
    cuda.gpus[0].enable_peer_access(1)
    cuda.gpus[0].enable_peer_access(1)
    out, a = cuda.device_array(1000, device=0), cuda.device_array(1000, device=1)
    for number in range(5):
        a[...] = number
        k[8, 128](out, a, 1.0)
        a[...] = -1  # waits for the launch
        assert np.all(out.copy_to_host() == number + 1)
    stream = cuda.stream(blocking=False)
    a[...] = 7
    k[8, 128, stream](out, a, 1.0)
    del a
    stream.synchronize()
    assert np.all(out.copy_to_host() == 8)


def wait_for(flag, seen):
    """Kernel: waits until a copy sets the flag, at most a few seconds."""
    for _ in range(2_000_000):
        cuda.nanosleep(1000)
        if cuda.atomic.add(flag, 0, 0) == 1:
            seen[0] = 1
            return


@on_two
def test_non_blocking_streams_of_two_gpus_are_ordered_by_the_program() -> None:
    """Work in them does not wait for the default stream of the peer, which waits for the host."""
    if not cuda.can_access_peer(0, 1):
        pytest.skip("these GPUs have no way to each other")
    cuda.gpus[0].enable_peer_access(1)
    add_kernel, wait_kernel = Kernel(add, backend="cuda"), Kernel(wait_for, backend="cuda")
    flag, seen = (cuda.to_device(np.zeros(1, np.int32), device=1) for _ in range(2))
    one = cuda.pinned_array(1, np.int32)
    one[0] = 1
    out, copied = cuda.device_array(1000, device=0), cuda.device_array(1000, device=0)
    a = cuda.to_device(np.full(1000, 5.0), device=1)
    streams = []
    for gpu in cuda.gpus[0], cuda.gpus[1]:
        with gpu:
            streams.append(cuda.stream(blocking=False))
    add_kernel[8, 128, streams[0]](out, a, 1.0)  # compiles it, and records the use of the arrays
    copied.copy_to_device(a, streams[0])
    streams[0].synchronize()
    flag.copy_to_device(np.zeros(1, np.int32), streams[1])
    with cuda.gpus[1]:
        wait_kernel[1, 1](flag, seen)
    add_kernel[8, 128, streams[0]](out, a, 2.0)
    copied.copy_to_device(a, streams[0])
    streams[0].synchronize()
    flag.copy_to_device(one, streams[1])
    assert seen.copy_to_host()[0] == 1
    assert np.all(out.copy_to_host() == 7)
    assert np.all(copied.copy_to_host() == 5)

    with cuda.gpus[1]:
        add_kernel[8, 128, streams[1]](a, a, 1.0)
    streams[0].wait(streams[1])
    add_kernel[8, 128, streams[0]](out, a, 1.0)
    del a
    streams[0].synchronize()
    assert np.all(out.copy_to_host() == 7)


@on_two
def test_readers_of_other_packages_wait_on_the_gpu_of_the_array(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with cuda.gpus[1]:
        stream, a = cuda.stream(blocking=False), cuda.device_array(10)
    a.used_on(stream)
    ordinals: list[int] = []
    monkeypatch.setattr(driver, "order_after", lambda *_: ordinals.append(driver.current_ordinal()))
    assert a.__cuda_array_interface__["stream"] == 1
    a.__dlpack__(stream=1)
    assert ordinals == [1, 1]


@on_two
def test_memory_is_freed_on_its_gpu() -> None:
    arrays: list[Any] = [cuda.device_array(1 << 20, device=1) for _ in range(4)]
    with cuda.gpus[1]:
        before = cuda.gpus[1].memory.total
    del arrays[:]
    assert cuda.gpus.current.id == 0
    assert cuda.gpus[1].memory.total == before
    assert cuda.device_array(1 << 20, device=1).device == 1


@on_two
def test_a_graph_is_of_one_gpu() -> None:
    k = Kernel(add, backend="cuda")
    a, other = cuda.to_device(np.zeros(64), device=1), cuda.to_device(np.zeros(64), device=0)
    with cuda.graph(device=1) as g:
        k[1, 64](a, a, 1.0)
        a[0] = 100
    g()
    g()
    assert a.copy_to_host()[:3].tolist() == [100, 2, 2]
    g.nodes[0].set(a, a, 2.0)
    g()
    assert a.copy_to_host()[:3].tolist() == [100, 4, 4]
    assert cuda.gpus.current.id == 0
    with pytest.raises(LaunchError, match="a copy between two GPUs"), g.capture():
        a[...] = other
    with pytest.raises(LaunchError, match="another GPU would be selected"), g.capture():
        cuda.select_device(0)
    with pytest.raises(LaunchError, match="argument 2 is on GPU 0"):
        g.nodes[0].set(a, other, 1.0)
    assert cuda.gpus.current.id == 0
    g()
    assert a.copy_to_host()[:3].tolist() == [100, 6, 6]


def test_values_that_are_no_device_are_rejected() -> None:
    with pytest.raises(TypeError, match="the number of a GPU, or 'cpu', not 'gpu'"):
        cuda.device_array(2, device="gpu")  # type: ignore[arg-type]
