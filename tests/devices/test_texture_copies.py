"""Textures and surfaces on a device that is faked: what is copied when, and what is freed when.
``test_textures.py`` runs kernels on a real one."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pycu2c import LaunchError, cuda
from pycu2c.base import graph_capture
from pycu2c.base.dtypes import INT16, DType
from pycu2c.base.types import float32, texture2d
from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.arguments import describe_handle
from pycu2c.runtime.arguments.strides import array_over
from pycu2c.runtime.cuda import texture_objects
from pycu2c.runtime.texture_modes import TextureModes, checked_modes


class FakeDevice:
    """CUDA arrays as bytes of the host; handles are numbers."""

    def __init__(self) -> None:
        self.arrays: dict[int, np.ndarray[Any, Any]] = {}
        self.objects: dict[int, Any] = {}
        self.done: list[str] = []
        self.count = 0

    def new(self) -> int:
        self.count += 1
        return self.count

    def new_array(self, form: texture_objects.TexelFormat) -> int:
        number = self.new()
        size = int(np.prod(form.shape)) * form.channels * form.number.size
        self.arrays[number] = np.zeros(size, np.uint8)
        return number

    def bytes_at(self, array: int, address: int) -> np.ndarray[Any, Any]:
        size = self.arrays[array].size
        return array_over(address, ((size,), (1,), np.dtype(np.uint8)))

    def fill(self, array: int, form: texture_objects.TexelFormat, address: int) -> None:
        self.done.append("fill")
        self.arrays[array][:] = self.bytes_at(array, address)

    def read(self, array: int, form: texture_objects.TexelFormat, address: int) -> None:
        self.done.append("read")
        self.bytes_at(array, address)[:] = self.arrays[array]

    def new_texture(self, array: int, modes: TextureModes, _: DType) -> int:
        number = self.new()
        self.objects[number] = modes
        return number

    def new_surface(self, array: int) -> int:
        number = self.new()
        self.objects[number] = array
        return number

    def free_array(self, array: int) -> None:
        self.done.append("free array")
        del self.arrays[array]

    def free_texture(self, number: int) -> None:
        self.done.append("free object")
        del self.objects[number]

    free_surface = free_texture


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDevice]:
    fake = FakeDevice()
    for name in ("new_array", "fill", "read", "new_texture", "new_surface"):
        monkeypatch.setattr(texture_objects, name, getattr(fake, name))
    for name in ("free_array", "free_texture", "free_surface"):
        monkeypatch.setattr(texture_objects, name, getattr(fake, name))
    yield fake
    gc.collect()


def launched(thing: object, where: Any = "device") -> int:
    """What a launch passes a kernel."""
    result = describe_handle(thing)
    assert result is not None
    return result.handle(where)


def test_a_texture_is_copied_once(device: FakeDevice) -> None:
    t = cuda.texture(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert t.type == texture2d[float32]
    first = launched(t)
    assert launched(t) == first
    launched(t, "host")
    assert t.at(2, 1) == 5
    assert launched(t) == first
    assert device.done == ["fill"]


def test_new_elements_are_copied_again(device: FakeDevice) -> None:
    t = cuda.texture(np.zeros(3, np.int16))
    launched(t)
    t.update(np.array([1, 2, 3], np.int16))
    launched(t)
    assert device.done == ["fill", "fill"]
    (bytes_there,) = device.arrays.values()
    assert bytes_there.view(np.int16).tolist() == [1, 2, 3]


def test_kernel_results_are_copied_back(device: FakeDevice) -> None:
    s = cuda.surface(np.array([1, 2], np.int32))
    t = cuda.texture(s)
    launched(s)
    (there,) = device.arrays.values()
    there.view(np.int32)[:] = [7, 8]
    assert t.at(1) == 8
    assert s.copy_to_host().tolist() == [7, 8]
    assert device.done == ["fill", "read"]
    launched(s, "host")  # a launch on the CPU may write, too
    s.set_element(9, 0)
    launched(t)
    assert there.view(np.int32).tolist() == [9, 8]
    assert device.done == ["fill", "read", "fill"]


def test_texture_objects_are_freed_before_their_array(device: FakeDevice) -> None:
    s = cuda.surface(3, np.float32)
    t = cuda.texture(s)
    launched(s), launched(t)
    del s
    assert "free array" not in device.done
    del t
    gc.collect()
    assert device.done[-3:] == ["free object", "free object", "free array"]
    assert not device.arrays
    assert not device.objects


def test_no_texture_is_in_a_graph_of_a_gpu(device: FakeDevice) -> None:
    t = cuda.texture(np.zeros(3, np.float32))
    with cuda.Graph(device="cpu").capture():
        assert graph_capture.current() is not None
        with pytest.raises(LaunchError, match="textures and surfaces cannot be in a graph"):
            launched(t)


def test_elements_stay_on_their_gpu(device: FakeDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    here, entered = [1], []

    def on(ordinal: int) -> Any:
        entered.append(ordinal)
        return contextlib.nullcontext()

    monkeypatch.setattr(driver, "current_ordinal", lambda: here[0])
    monkeypatch.setattr(driver, "on_device", on)
    s = cuda.surface(3, np.float32)
    launched(s)
    here[0] = 0
    with pytest.raises(LaunchError, match=r"is on GPU 1.*with cuda.gpus\[1\]"):
        launched(s)
    s.copy_to_host()
    assert entered == [1]
    del s
    gc.collect()
    assert entered == [1, 1, 1]


def test_the_border_of_integers_is_given_bit_by_bit() -> None:
    modes = checked_modes(("border",), "point", False, "element", (-7.0,))
    assert np.float32(modes.device_border(INT16)[0]).view(np.int32) == -7
    assert modes.reads_integers(INT16)
    modes = checked_modes(("border",), "point", False, "normalized_float", (0.5,))
    assert modes.device_border(INT16) == (0.5,)
    assert not modes.reads_integers(INT16)


def test_extents_are_width_height_depth() -> None:
    form = texture_objects.TexelFormat((2, 3, 4), texture_objects.FLOAT32, 2)
    assert form.extents == (4, 3, 2)
    assert form.row_bytes == 32
    assert texture_objects.TexelFormat((5,), texture_objects.UINT8, 1).extents == (5, 0, 0)
