"""Textures and surfaces: elements that kernels read through modes of addressing and filtering, or
write, by places instead of indices. On a GPU they lie in a CUDA array; where there is none, and for
launches on the CPU, in memory of the host.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.dtypes import (
    FLOAT16,
    TEXELS,
    Access,
    DType,
    from_numpy,
    handle,
    is_texel,
    vector_like,
)
from pycu2c.base.types import Scalar
from pycu2c.base.values import convert
from pycu2c.base.vectors import vector
from pycu2c.cuda_driver import driver
from pycu2c.cuda_driver.cuda_errors import CudaError
from pycu2c.devices.array import DeviceArray
from pycu2c.reference import texture_sampling
from pycu2c.runtime import texture_modes
from pycu2c.runtime.arguments.array_argument import Where
from pycu2c.runtime.cuda import texture_objects

AddressMode: TypeAlias = Literal["wrap", "clamp", "mirror", "border"]
FilterMode: TypeAlias = Literal["point", "linear"]
ReadMode: TypeAlias = Literal["element", "normalized_float"]


class _Handle:
    """Something of the driver that goes when nobody has it, and before what it is ``over``."""

    def __init__(self, value: Any, free: Callable[[Any], None], over: object = None) -> None:
        self.value, self._free, self._over = value, free, over
        self.ordinal = driver.current_ordinal()

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():
            with contextlib.suppress(CudaError), driver.on_device(self.ordinal):
                self._free(self.value)


class _Elements:
    """Elements on the host, on a GPU or on both: whoever asks for them gets the newest. ``host``
    has the numbers of an element on its last axis."""

    def __init__(self, host: NDArray[Any], element: DType) -> None:
        number = texture_modes.component_type(element)
        self.host, self.element, self.number = host, element, number
        self.form = texture_objects.TexelFormat(host.shape[:-1], number, host.shape[-1])
        self._there: _Handle | None = None
        self._new_there, self._new_here = False, True
        self._lock = threading.Lock()

    def on_host(self, *, written: bool = False) -> NDArray[Any]:
        with self._lock:
            if not self._new_here:
                assert self._there is not None
                with driver.on_device(self._there.ordinal):
                    texture_objects.read(self._there.value, self.form, self.host.ctypes.data)
            self._new_here = True
            self._new_there = self._new_there and not written
            return self.host

    def on_device(self, *, written: bool = False) -> _Handle:
        if graph_capture.current() is not None:
            graph_capture.reject("textures and surfaces are in no graph: launch it outside")
        with self._lock:
            if self._there is None:
                self._there = _Handle(
                    texture_objects.new_array(self.form), texture_objects.free_array
                )
            _check_place(self._there.ordinal)
            if not self._new_there:
                texture_objects.fill(self._there.value, self.form, self.host.ctypes.data)
            self._new_there = True
            self._new_here = self._new_here and not written
            return self._there

    def fill(self, array: object) -> None:
        given = _elements_of(array)
        if (given.host.shape, given.element) != (self.host.shape, self.element):
            raise ValueError(
                f"the elements are {self.element} with the shape {self.form.shape}, and the array "
                f"is {given.element} with the shape {given.form.shape}: make a new object"
            )
        np.copyto(self.on_host(written=True), given.host)


def _check_place(ordinal: int) -> None:
    """That elements are used where they are. Raises LaunchError."""
    here = driver.current_ordinal()
    if ordinal != here:
        raise LaunchError(
            f"a texture or surface is on GPU {ordinal}, where it was used first, and the launch is "
            f"on GPU {here}: launch it in `with cuda.gpus[{ordinal}]:`, or make another one"
        )


def _elements_of(array: object) -> _Elements:
    """A copy of an array's elements. Raises TypeError, ValueError."""
    host = array.copy_to_host() if isinstance(array, DeviceArray) else np.asarray(array)
    row = from_numpy(host.dtype)
    if row is not FLOAT16 and (row is None or not is_texel(row)):
        known = ", ".join(map(str, (*TEXELS, FLOAT16)))
        vector = vector_like(row) if row else None
        hint = f": pass .view(cuda.{vector}.numpy)" if vector and is_texel(vector) else ""
        raise TypeError(
            f"an array of {host.dtype} is no texture: they have {known}, and vectors of 2 or 4 "
            f"numbers but float16{hint}"
        )
    assert row is not None
    if not 1 <= host.ndim <= 3 or not host.size:
        raise ValueError(f"the shape is {host.shape}: textures have 1 to 3 axes, and elements")
    number = texture_modes.component_type(row)
    copied = np.array(host, order="C", copy=True).reshape(host.shape)
    return _Elements(copied.view(number.numpy).reshape(*host.shape, -1), row)


class _Object:
    """What kernels are given: a handle on a GPU, a struct on the host."""

    _access: Access

    def __init__(self, elements: _Elements, element: DType) -> None:
        self._elements, self._element = elements, element
        self._there: _Handle | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self._elements.form.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the elements, as an array has them."""
        return self._elements.element.numpy

    @property
    def type(self) -> Scalar:
        """The type that a kernel's parameter has."""
        return Scalar(handle(self._access, self.ndim, self._element))

    def update(self, array: ArrayLike | DeviceArray) -> None:
        """Take other elements; the shape and dtype stay."""
        graph_capture.reject_synchronization("update() of a texture or surface")
        self._elements.fill(array)

    def copy_to_host(self) -> NDArray[Any]:
        """The elements, as a new array."""
        graph_capture.reject_synchronization("copy_to_host()")
        host = self._elements.on_host().copy()
        return host.view(self.dtype).reshape(self.shape)

    def __repr__(self) -> str:
        return f"<{self.type} of the shape {self.shape}>"


class Texture(_Object):
    """Elements that kernels read by coordinates. ``cuda.texture`` makes one."""

    _access = "texture"

    def __init__(
        self, elements: _Elements, element: DType, modes: texture_modes.TextureModes
    ) -> None:
        super().__init__(elements, element)
        self.modes = modes
        self._sampler = texture_sampling.sampler(elements.host, elements.number, element, modes)
        self._struct = self._sampler.packed()

    def at(self, *coordinates: float) -> Any:
        """What a kernel reads at a place: ``x``, then ``y`` and ``z`` as far as there are axes."""
        self._elements.on_host()
        return self._sampler.at([float(np.float32(x)) for x in coordinates])

    def __pycu2c_handle__(self, where: Where) -> int:
        if where == "host":
            self._elements.on_host()
            return self._struct.ctypes.data
        array = self._elements.on_device()
        if self._there is None:
            made = texture_objects.new_texture(
                array.value, self.modes.for_device(self._elements.element)
            )
            self._there = _Handle(made, texture_objects.free_texture, array)
        found: int = self._there.value
        return found


class Surface(_Object):
    """Elements that kernels read and write by indices. ``cuda.surface`` makes one."""

    _access = "surface"

    def __init__(self, elements: _Elements) -> None:
        super().__init__(elements, elements.element)
        self._struct = texture_sampling.packed_surface(elements.host)

    def element(self, *place: int) -> Any:
        """What a kernel reads at ``x``, ``y``, ``z``."""
        host = self._elements.on_host()
        row, index = self._element, place[::-1]
        if not self._has(index):
            return convert(0, Scalar(row))
        numbers = host[index]
        return vector(row, list(numbers)) if row.is_vector else numbers[0]

    def set_element(self, value: Any, *place: int) -> None:
        """What a kernel does that writes at ``x``, ``y``, ``z``."""
        index = place[::-1]
        if self._has(index):
            parts = list(value) if self._element.is_vector else [value]
            self._elements.on_host(written=True)[index] = parts

    def _has(self, index: Sequence[int]) -> bool:
        return all(0 <= i < n for i, n in zip(index, self.shape))

    def __pycu2c_handle__(self, where: Where) -> int:
        if where == "host":
            self._elements.on_host(written=True)
            return self._struct.ctypes.data
        array = self._elements.on_device(written=True)
        if self._there is None:
            made = texture_objects.new_surface(array.value)
            self._there = _Handle(made, texture_objects.free_surface, array)
        found: int = self._there.value
        return found


# ---- making them -------------------------------------------------------------------------------


def texture(
    array: ArrayLike | DeviceArray | Surface,
    address_mode: AddressMode | Sequence[AddressMode] = "clamp",
    filter_mode: FilterMode = "point",
    normalized: bool = False,
    read_mode: ReadMode = "element",
    border: float | Sequence[float] = 0,
) -> Texture:
    """A texture with a copy of an array's elements, or with those of a surface itself. ``a[y, x]``
    is what ``tex2D`` reads at ``x + 0.5``, ``y + 0.5``.

    ``address_mode`` says what is outside, for all axes or for each of x, y, z; ``filter_mode``
    whether the nearest element is read or a mean of neighbours. Coordinates count elements, or are
    1 at the end of each axis if they are ``normalized``. Under ``"normalized_float"`` integers of 8
    and 16 bits are read as floats up to 1. ``border`` is what ``"border"`` has outside.
    """
    elements = array._elements if isinstance(array, Surface) else _elements_of(array)
    axes, channels = len(elements.form.shape), elements.form.channels
    modes = texture_modes.checked_modes(
        texture_modes.address_modes(address_mode, axes),
        filter_mode,
        bool(normalized),
        read_mode,
        texture_modes.border_values(border, channels),
    )
    return Texture(elements, texture_modes.sampled_type(elements.element, modes), modes)


def surface(
    source: ArrayLike | DeviceArray | tuple[int, ...], dtype: DTypeLike | Scalar | None = None
) -> Surface:
    """A surface: of a shape and dtype, filled with zeros, or, without a dtype, with a copy of an
    array's elements."""
    if dtype is None:
        elements = _elements_of(source)
    else:
        plain = dtype.numpy if isinstance(dtype, Scalar) else np.dtype(dtype)
        shape: Any = source
        elements = _elements_of(np.zeros(shape, plain))
    if elements.element is FLOAT16:
        raise TypeError("surfaces have no float16: make one of float32, or of its bits as uint16")
    return Surface(elements)
