"""Host arrays of a launch: overlap, alignment, copies in both directions. Device memory is
simulated.
"""

import ctypes
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycu2c.base.diagnostics import LaunchError
from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.arguments import describe
from pycu2c.runtime.cuda import memory, transfers
from pycu2c.runtime.cuda.transfers import ByteExtent, extent_of, merge_extents


class FakeMemory:
    """Device memory that is the host's, with an account of what is allocated and copied."""

    def __init__(self):
        self.alive = set()
        self.copied_in = []
        self.copied_out = []
        self.filled = []
        self.synchronized = []
        self.fails = ""

    def allocate(self, size):
        allocated = memory.HostMemory(size)
        self.alive.add(allocated.address)
        weakref.finalize(allocated._buffer, self.alive.remove, allocated.address)
        return allocated

    def copy_in(self, device_address, host_address, size, stream):
        self.copied_in.append(size)
        ctypes.memmove(device_address, host_address, size)

    def copy_out(self, host_address, device_address, size, stream):
        self.copied_out.append(size)
        ctypes.memmove(host_address, device_address, size)

    def fill(self, address, pattern, count, stream):
        self.filled.append(address)
        ctypes.memmove(address, pattern * count, len(pattern) * count)

    def synchronize(self, stream, doing):
        self.synchronized.append(stream)
        if self.fails:
            raise driver.CudaError(self.fails, "it failed", doing)


@pytest.fixture
def fake(monkeypatch):
    fake = FakeMemory()
    monkeypatch.setattr(driver, "has_multiple_devices", lambda: False)
    monkeypatch.setattr(memory, "DeviceMemory", fake.allocate)
    for name in ("copy_in", "copy_out", "fill", "synchronize"):
        monkeypatch.setattr(driver, name, getattr(fake, name))
    return fake


def on_device(array, address):
    """The array that a kernel sees: same shape and strides, at the device's address."""
    interface = {
        "shape": array.shape,
        "strides": array.strides,
        "typestr": array.dtype.str,
        "data": (address, False),
        "version": 3,
    }
    return np.asarray(SimpleNamespace(__array_interface__=interface))


def staged(*values, written=()):
    described = [describe(v) if hasattr(v, "shape") else v for v in values]
    return transfers.stage_arguments(described, set(written), 0, "k")


bounds = st.tuples(st.integers(0, 20), st.integers(0, 20))


@given(st.lists(bounds))
def test_merged_covers_the_same_bytes_in_disjoint_ranges(pairs):
    extents = [ByteExtent(min(p), max(p)) for p in pairs]
    unions = merge_extents(extents)
    covered = [byte for u in unions for byte in range(u.start, u.stop)]
    assert covered == sorted({byte for e in extents for byte in range(e.start, e.stop)})
    for extent in extents:
        inside = [u for u in unions if u.start <= extent.start and extent.stop <= u.stop]
        assert inside or not extent.size


def test_neighbours_stay_apart_and_overlaps_join():
    extents = [ByteExtent(6, 8), ByteExtent(0, 4), ByteExtent(2, 6), ByteExtent(9, 9)]
    assert merge_extents(extents) == [ByteExtent(0, 6), ByteExtent(6, 8)]


steps = st.integers(-3, 3).filter(bool)


@given(steps, steps, st.booleans())
def test_extent_is_the_bounds_that_numpy_gives(row_step, column_step, transposed):
    array = np.zeros((7, 9), np.float32)[::row_step, ::column_step]
    array = array.T if transposed else array
    extent = extent_of(describe(array))
    assert (extent.start, extent.stop) == np.lib.array_utils.byte_bounds(array)


def test_extent_of_empty_and_broadcast_arrays():
    assert extent_of(describe(np.zeros((3, 0)))).size == 0
    assert extent_of(describe(np.broadcast_to(np.float32(1), (5, 5)))).size == 4


def test_only_written_arrays_are_copied_back(fake):
    x, y = np.arange(4.0), np.arange(4.0)
    with staged(x, 2.5, y, written=[2]) as addresses:
        assert addresses[1] == 0
        assert on_device(x, addresses[0]).tolist() == [0, 1, 2, 3]
        on_device(x, addresses[0])[:] = 7
        on_device(y, addresses[2])[:] = 8
    assert x.tolist() == [0, 1, 2, 3]
    assert y.tolist() == [8, 8, 8, 8]
    assert fake.copied_out == [32]
    assert not fake.alive


def test_the_same_array_twice_is_one_array_on_the_device(fake):
    x = np.arange(4.0)
    with staged(x, x, written=[0]) as addresses:
        assert addresses[0] == addresses[1]
    assert fake.copied_in == [32]


@pytest.mark.parametrize("step", [1, -1, 2, -3])
def test_views_of_one_base_stay_aliased(fake, step):
    base = np.arange(12.0)
    whole, part = base, base[2:10][::step]
    expected = base.copy()
    expected[2:10][::step] = -1
    with staged(whole, part, written=[1]) as addresses:
        on_device(part, addresses[1])[:] = -1
        assert on_device(whole, addresses[0]).tolist() == expected.tolist()
    assert base.tolist() == expected.tolist()
    assert fake.copied_in == [96]


def test_interleaved_views_are_one_range(fake):
    base = np.zeros(8)
    even, odd = base[::2], base[1::2]
    with staged(even, odd, written=[0, 1]) as addresses:
        on_device(even, addresses[0])[:] = 1
        on_device(odd, addresses[1])[:] = 2
    assert base.tolist() == [1, 2] * 4
    assert len(fake.copied_in) == 1


@pytest.mark.parametrize("start", [0, 4, 12, 20])
def test_the_device_has_the_alignment_of_the_host(fake, start):
    base = np.zeros(128, np.uint8)
    floats, bytes_ = base[start + 4 : start + 68].view(np.float32), base[start + 3 : start + 90]
    with staged(floats, bytes_) as addresses:
        assert addresses[0] % 256 == floats.ctypes.data % 256
        assert addresses[0] - addresses[1] == 1


def test_an_empty_array_has_no_memory(fake):
    with staged(np.zeros(0), written=[0]) as addresses:
        assert addresses == (0,)
    assert not fake.copied_in
    assert not fake.copied_out


def test_writing_to_a_read_only_array_raises(fake):
    x = np.broadcast_to(np.float32(1), (4,))
    with (
        pytest.raises(LaunchError, match="k writes to its argument 1, and that array is read-only"),
        staged(x, written=[0]),
    ):
        pytest.fail("the launch must not run")
    assert not fake.alive


def test_a_failed_kernel_is_named_and_its_memory_freed(fake):
    x = np.arange(4.0)
    fake.fails = "CUDA_ERROR_ILLEGAL_ADDRESS"
    with (
        pytest.raises(driver.CudaError, match=r"run k: it failed \(CUDA_ERROR_ILLEGAL_ADDRESS\)"),
        staged(x, written=[0]) as addresses,
    ):
        on_device(x, addresses[0])[:] = 7
    assert x.tolist() == [0, 1, 2, 3]
    assert not fake.alive


def device_array(address, stream=None):
    interface = {
        "shape": (4,),
        "typestr": "<f8",
        "data": (address, False),
        "version": 3,
        "stream": stream,
    }
    return SimpleNamespace(__cuda_array_interface__=interface, shape=(4,))


def test_a_device_array_is_used_where_it_is_and_not_waited_for(fake):
    with staged(device_array(0x7000), 3, written=[0]) as addresses:
        assert addresses == (0x7000, 0)
    assert not fake.copied_in
    assert not fake.synchronized


def test_the_launch_waits_for_the_stream_that_an_array_names(fake, monkeypatch):
    ordered = []
    monkeypatch.setattr(driver, "order_after", lambda *streams: ordered.append(streams))
    with staged(device_array(0x7000, stream=9), device_array(0x8000)):
        pass
    assert ordered == [(9, 0)]


@pytest.mark.parametrize("start", [0, 1])
def test_bytes_beside_a_byte_atomic_are_allocated(fake, start):
    array = memory_at_an_even_address()[start:]
    with staged(array) as (address,):
        assert fake.filled == [address - 1] * start


def memory_at_an_even_address():
    array = np.ones(64, np.uint8)
    return array[array.ctypes.data % 2 :]


class Used(memory.Memory):
    """Memory that notes the streams which use it."""

    def __init__(self) -> None:
        super().__init__(4096, 64, 0)
        self.streams: list[object] = []

    def used_on(self, stream: object) -> None:
        self.streams.append(stream)


def test_memory_records_its_streams_for_every_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels by CuPy's names are given the array itself as what keeps its memory."""
    monkeypatch.setattr(driver, "current_ordinal", lambda: 0)
    used, argument = Used(), describe(np.zeros(4), "x")
    assert argument is not None
    for owner in (used, SimpleNamespace(_memory=used), object()):
        transfers.record_use([argument._replace(owner=owner)], "a stream")
    assert used.streams == ["a stream"] * 2
