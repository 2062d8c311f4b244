"""PyCUDA's driver: memory, copies, streams, contexts. On the GPU, or the CPU if there is none."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import pycu2c
import pycu2c.pycuda.autoinit
import pycu2c.pycuda.driver as drv
from pycu2c.cuda_driver import driver as our_driver
from pycu2c.pycuda import gpuarray
from pycu2c.pycuda.compiler import SourceModule

RNG = np.random.default_rng(3)
ON_GPU = our_driver.available()


# ---- memory and copies -------------------------------------------------------------------------


def test_copies_in_both_directions() -> None:
    z = RNG.standard_normal(400).astype(np.float32)
    assert (drv.from_device_like(drv.to_device(z), z) == z).all()
    there = drv.to_device(z)
    assert (drv.from_device(there, (20, 20), np.float32, order="F").T.ravel() == z).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_of_either_order_is_copied_in_memory_order(order: Any) -> None:
    a = np.asarray(RNG.random((5, 7)), order=order)
    memory = drv.mem_alloc_like(a)
    drv.memcpy_htod(memory, a)
    back = np.empty_like(a)
    drv.memcpy_dtoh(back, memory)
    assert (back == a).all()


def test_a_non_contiguous_array_is_rejected() -> None:
    with pytest.raises(ValueError, match="gaps between its elements"):
        drv.memcpy_htod(drv.mem_alloc(80), np.zeros((10, 4))[:, :1])


def test_bytes_are_copied_and_read_only_ones_not_written() -> None:
    memory = drv.to_device(b"12345678")
    result = bytearray(8)
    drv.memcpy_dtoh(result, memory)
    assert result == b"12345678"
    with pytest.raises(ValueError, match="read-only"):
        drv.memcpy_dtoh(b"12345678", memory)
    with pytest.raises(TypeError, match="int"):
        drv.memcpy_htod(memory, 5)


def test_addresses_are_numbers() -> None:
    a = np.arange(10, dtype=np.float32)
    memory = drv.to_device(a)
    assert int(memory) == operator.index(memory) == memory.get_pointer()
    assert memory + 4 == 4 + memory == int(memory) + 4
    back = np.empty(9, np.float32)
    drv.memcpy_dtoh(back, np.intp(memory) + a.itemsize)
    assert (back == a[1:]).all()


def test_copies_on_the_device() -> None:
    a = np.arange(16, dtype=np.int32)
    one, other = drv.to_device(a), drv.mem_alloc_like(a)
    drv.memcpy_dtod(other, one, a.nbytes)
    drv.memcpy_dtod_async(other, one + 4, 4, drv.Stream())
    drv.Context.synchronize()
    assert drv.from_device_like(other, a).tolist() == [1, *range(1, 16)]


def test_copies_in_a_stream() -> None:
    a = drv.pagelocked_empty((4, 5), np.float64)
    a[:] = RNG.random((4, 5))
    memory, stream = drv.mem_alloc(a.nbytes), drv.Stream()
    drv.memcpy_htod_async(memory, a, stream)
    back = drv.pagelocked_empty(a.shape, a.dtype)
    drv.memcpy_dtoh_async(back, memory, stream=stream)
    stream.synchronize()
    assert stream.is_done()
    assert (back == a).all()


@pytest.mark.parametrize(("bits", "data"), [(8, 0xAB), (16, 0xABCD), (32, 0xABCDEF01)])
def test_fills(bits: int, data: int) -> None:
    a = np.zeros(10, f"u{bits // 8}")
    memory = drv.to_device(a)
    getattr(drv, f"memset_d{bits}")(memory, data, 5)
    assert drv.from_device_like(memory, a).tolist() == [data] * 5 + [0] * 5
    getattr(drv, f"memset_d{bits}_async")(memory + 5 * a.itemsize, data, 2, stream=drv.Stream())
    drv.Context.synchronize()
    assert drv.from_device_like(memory, a).tolist() == [data] * 7 + [0] * 3


def test_memory_is_freed_once() -> None:
    memory = drv.mem_alloc(100)
    memory.free()
    for use in (int, drv.DeviceAllocation.free, lambda m: drv.memcpy_htod(m, np.zeros(1))):
        with pytest.raises(drv.LogicError, match="was freed"):
            use(memory)
    with pytest.raises(drv.LogicError, match="size must be positive"):
        drv.mem_alloc(0)


def test_the_memory_size() -> None:
    free, total = drv.mem_get_info()
    assert 0 < free <= total


def test_copies_out_of_bounds_are_rejected() -> None:
    a, size = np.zeros(1000), 4096
    memory, more = drv.mem_alloc(size), drv.mem_alloc(2 * size)
    view = gpuarray.zeros(size, np.uint8)[8:]
    for copy in (
        lambda: drv.memcpy_htod(memory, a),
        lambda: drv.memcpy_dtoh(a, view),
        lambda: drv.memcpy_dtod(memory, more, size + 1),
        lambda: drv.memcpy_dtod(more, memory, size + 1),
        lambda: drv.memset_d8(memory, 0, size + 1),
    ):
        with pytest.raises(drv.LogicError, match="bytes are allocated"):
            copy()


# ---- memory of the host ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pagelocked", "managed"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_the_host(kind: str, order: str) -> None:
    empty, zeros = getattr(drv, f"{kind}_empty"), getattr(drv, f"{kind}_zeros")
    a = zeros((3, 5), np.complex64, order=order)
    assert a.flags[f"{order}_CONTIGUOUS"]
    assert not a.any()
    assert empty(3, np.int8).shape == (3,)
    records = empty(2, np.dtype([("x", np.int32), ("y", np.float64)]))
    records["y"] = 1.5
    assert records["y"].tolist() == [1.5, 1.5]


def test_mapped_arrays_are_arguments() -> None:
    a = drv.pagelocked_zeros(10, np.float32, mem_flags=drv.host_alloc_flags.DEVICEMAP)
    module = SourceModule("__global__ void add(float *x) { x[threadIdx.x] += 3; }")
    module.get_function("add")(a, block=(10, 1, 1))
    drv.Context.synchronize()
    assert (a == 3).all()


# ---- streams and events ------------------------------------------------------------------------


def test_events_tell_the_time() -> None:
    stream, start, end = drv.Stream(), drv.Event(), drv.Event()
    start.record(stream)
    assert end.record(stream=stream) is end
    end.synchronize()
    assert end.query()
    assert end.time_since(start) >= 0
    assert start.time_till(end) == end.time_since(start)
    stream.wait_for_event(end)
    with pytest.raises(ValueError, match="timing"):
        drv.Event(drv.event_flags.DISABLE_TIMING).record().time_since(start)


def test_streams_have_handles() -> None:
    stream = drv.Stream()
    assert stream.__cuda_stream__() == (0, stream.handle)


# ---- devices and contexts ----------------------------------------------------------------------


def test_devices() -> None:
    drv.init()
    assert drv.Device.count() >= 1
    device = drv.Device(0)
    assert device.name()
    assert device.compute_capability() >= (7, 5)
    assert device.total_memory() > 1 << 20
    assert device.get_attribute(drv.device_attribute.WARP_SIZE) == device.warp_size == 32
    raised = device.get_attributes()
    assert raised[drv.device_attribute.MAX_THREADS_PER_BLOCK] == 1024
    which = drv.device_attribute
    assert which.SHARED_MEMORY_PER_BLOCK is which.MAX_SHARED_MEMORY_PER_BLOCK
    assert device.compute_mode == drv.compute_mode.DEFAULT
    assert {device: 1}[drv.Device(0)] == 1
    with pytest.raises(drv.LogicError, match="no device 99"):
        drv.Device(99)
    with pytest.raises(AttributeError, match="no colour"):
        device.colour  # noqa: B018
    assert drv.get_version() >= (12, 0)
    assert drv.get_driver_version() >= 12000


def test_contexts_are_a_stack() -> None:
    before = drv.Context.get_current()
    made = drv.Device(0).make_context(drv.ctx_flags.SCHED_AUTO)
    assert drv.Context.get_current() is made
    memory = drv.mem_alloc(50)
    other = drv.Context.get_device().make_context()
    other.detach()
    assert drv.Context.get_current() is made
    memory.free()
    drv.Context.pop()
    assert drv.Context.get_current() is before
    made.push()
    made.synchronize()
    made.pop()
    assert drv.Context.get_device() == drv.Device(0)


# ---- errors ------------------------------------------------------------------------------------


def test_errors_are_pycudas() -> None:
    for error in (drv.LogicError, drv.MemoryError, drv.RuntimeError, drv.LaunchError):
        assert issubclass(error, drv.Error)
    assert drv.CompileError is pycu2c.CompileError
    assert drv.LaunchError is pycu2c.LaunchError
