"""Textures and surfaces: elements that kernels access by coordinates, in a CUDA array on a GPU.

Textures are read with an addressing and a filter mode; surfaces are read and written. Launches on
the CPU use a copy of the elements in host memory.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pycu2c.base import dtypes, graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.forks import ForkSafeLock
from pycu2c.base.types import Scalar
from pycu2c.base.values import convert
from pycu2c.base.vectors import vector
from pycu2c.cuda_driver import driver
from pycu2c.cuda_driver.cuda_errors import CudaError
from pycu2c.devices.array import DeviceArray
from pycu2c.interpreter import texture_sampling
from pycu2c.runtime import texture_modes
from pycu2c.runtime.arguments.array_argument import MemoryLocation
from pycu2c.runtime.cuda import texture_objects

AddressMode: TypeAlias = Literal["wrap", "clamp", "mirror", "border"]
FilterMode: TypeAlias = Literal["point", "linear"]
ReadMode: TypeAlias = Literal["element", "normalized_float"]


class _OwnedHandle:
    """A handle of the driver, which is freed with this object and before its ``parent``."""

    def __init__(self, value: Any, free: Callable[[Any], None], parent: object = None) -> None:
        self.value, self._free, self._parent = value, free, parent
        self.ordinal = driver.current_ordinal()

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():
            with contextlib.suppress(CudaError), driver.on_device(self.ordinal):
                self._free(self.value)


class _Elements:
    """Elements on the host, on a GPU or on both. Access copies them if the other side is newer.

    host: the elements on the host, with the components of an element on the last axis.
    """

    def __init__(self, host: NDArray[Any], element: dtypes.DType) -> None:
        component = texture_modes.component_type(element)
        self.host, self.element, self.component = host, element, component
        self.texel_format = texture_objects.TexelFormat(host.shape[:-1], component, host.shape[-1])
        self._gpu_array: _OwnedHandle | None = None
        self._gpu_is_current, self._host_is_current = False, True
        self._lock = ForkSafeLock()

    def current_host_array(self, *, written: bool = False) -> NDArray[Any]:
        with self._lock:
            if not self._host_is_current:
                assert self._gpu_array is not None
                with driver.on_device(self._gpu_array.ordinal):
                    texture_objects.read(
                        self._gpu_array.value, self.texel_format, self.host.ctypes.data
                    )
            self._host_is_current = True
            self._gpu_is_current = self._gpu_is_current and not written
            return self.host

    def current_gpu_array(self, *, written: bool = False) -> _OwnedHandle:
        if graph_capture.current() is not None:
            graph_capture.reject(
                "textures and surfaces cannot be in a graph: launch the kernel outside"
            )
        with self._lock:
            if self._gpu_array is None:
                self._gpu_array = _OwnedHandle(
                    texture_objects.new_array(self.texel_format), texture_objects.free_array
                )
            _check_device(self._gpu_array.ordinal)
            if not self._gpu_is_current:
                texture_objects.fill(
                    self._gpu_array.value, self.texel_format, self.host.ctypes.data
                )
            self._gpu_is_current = True
            self._host_is_current = self._host_is_current and not written
            return self._gpu_array

    def fill(self, array: object) -> None:
        source = _elements_of(array)
        if (source.host.shape, source.element) != (self.host.shape, self.element):
            raise ValueError(
                f"the elements are {self.element} with the shape {self.texel_format.shape}, and "
                f"the array is {source.element} with the shape {source.texel_format.shape}: make a "
                "new object"
            )
        np.copyto(self.current_host_array(written=True), source.host)


def _check_device(ordinal: int) -> None:
    """Raise LaunchError if elements are on another GPU than the current one."""
    current = driver.current_ordinal()
    if ordinal != current:
        raise LaunchError(
            f"a texture or surface is on GPU {ordinal}, where it was used first, and the launch is "
            f"on GPU {current}: launch in `with cuda.gpus[{ordinal}]:`, or create another one"
        )


def _elements_of(array: object) -> _Elements:
    """Return a copy of an array's elements. Raises TypeError, ValueError."""
    host = array.copy_to_host() if isinstance(array, DeviceArray) else np.asarray(array)
    dtype = dtypes.from_numpy(host.dtype)
    if dtype is not dtypes.FLOAT16 and (dtype is None or not dtypes.is_texel(dtype)):
        supported = ", ".join(map(str, (*dtypes.TEXEL_COMPONENTS, dtypes.FLOAT16)))
        vector = dtypes.vector_like(dtype) if dtype else None
        hint = f": pass .view(cuda.{vector}.numpy)" if vector and dtypes.is_texel(vector) else ""
        raise TypeError(
            f"a texture cannot have elements of {host.dtype}: they are {supported}, or vectors of "
            f"2 or 4 numbers, except of float16{hint}"
        )
    assert dtype is not None
    if not 1 <= host.ndim <= 3 or not host.size:
        raise ValueError(
            f"the shape is {host.shape}: textures have 1 to 3 axes, and at least one element"
        )
    component = texture_modes.component_type(dtype)
    copied = np.array(host, order="C", copy=True).reshape(host.shape)
    return _Elements(copied.view(component.numpy).reshape(*host.shape, -1), dtype)


class _TexelObject:
    """The base of textures and surfaces. Kernels receive a handle on a GPU, a struct on the CPU."""

    _access: dtypes.Access
    _struct: NDArray[Any]  # of launches on the CPU

    def __init__(self, elements: _Elements, element: dtypes.DType) -> None:
        self._elements, self._element = elements, element
        self._object: _OwnedHandle | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the lengths of the axes."""
        return self._elements.texel_format.shape

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements in arrays."""
        return self._elements.element.numpy

    @property
    def type(self) -> Scalar:
        """The type of a kernel parameter for this object."""
        return Scalar(dtypes.handle_dtype(self._access, self.ndim, self._element))

    def update(self, array: ArrayLike | DeviceArray) -> None:
        """Replace the elements by those of an array of the same shape and dtype.

        Parameters
        ----------
        array : array_like
            The new elements.
        """
        graph_capture.reject_during_capture("update() of a texture or surface")
        self._elements.fill(array)

    def copy_to_host(self) -> NDArray[Any]:
        """Return the elements as a new array."""
        graph_capture.reject_during_capture("copy_to_host()")
        host = self._elements.current_host_array().copy()
        return host.view(self.dtype).reshape(self.shape)

    def __repr__(self) -> str:
        return f"<{self.type} of the shape {self.shape}>"

    def _new_object(self, array: _OwnedHandle) -> _OwnedHandle:
        """Return a new texture or surface object of the driver over a CUDA array."""
        raise NotImplementedError

    def __pycu2c_handle__(self, location: MemoryLocation) -> int:
        written = self._access == "surface"
        if location == "host":
            self._elements.current_host_array(written=written)
            address: int = self._struct.ctypes.data
            return address
        array = self._elements.current_gpu_array(written=written)
        if self._object is None:
            self._object = self._new_object(array)
        handle: int = self._object.value
        return handle


class Texture(_TexelObject):
    """Elements that kernels read by coordinates, created by ``cuda.texture``."""

    _access = "texture"

    def __init__(
        self, elements: _Elements, element: dtypes.DType, modes: texture_modes.TextureModes
    ) -> None:
        super().__init__(elements, element)
        self.modes = modes
        self._sampler = texture_sampling.sampler(elements.host, elements.component, element, modes)
        self._struct = self._sampler.packed()

    def at(self, *coordinates: float) -> Any:
        """Return what a kernel reads at ``x``, ``y``, ``z``; a coordinate for each axis.

        Parameters
        ----------
        *coordinates : float
            The coordinates x, y and z, one for each axis.
        """
        self._elements.current_host_array()
        return self._sampler.at([float(np.float32(x)) for x in coordinates])

    def _new_object(self, array: _OwnedHandle) -> _OwnedHandle:
        texture = texture_objects.new_texture(array.value, self.modes, self._elements.element)
        return _OwnedHandle(texture, texture_objects.free_texture, array)


class Surface(_TexelObject):
    """Elements that kernels read and write by indices, created by ``cuda.surface``."""

    _access = "surface"

    def __init__(self, elements: _Elements) -> None:
        super().__init__(elements, elements.element)
        self._struct = texture_sampling.packed_surface(elements.host)

    def element(self, *coordinates: int) -> Any:
        """Return what a kernel reads at ``x``, ``y``, ``z``; 0 outside.

        Parameters
        ----------
        *coordinates : int
            The indices x, y and z, one for each axis.
        """
        host = self._elements.current_host_array()
        dtype, index = self._element, coordinates[::-1]
        if not self._is_inside(index):
            return convert(0, Scalar(dtype))
        components = host[index]
        return vector(dtype, list(components)) if dtype.is_vector else components[0]

    def set_element(self, value: Any, *coordinates: int) -> None:
        """Write as a kernel does at ``x``, ``y``, ``z``; nothing outside.

        Parameters
        ----------
        value : number or tuple
            The element.
        *coordinates : int
            The indices x, y and z, one for each axis.
        """
        index = coordinates[::-1]
        if self._is_inside(index):
            components = list(value) if self._element.is_vector else [value]
            self._elements.current_host_array(written=True)[index] = components

    def _is_inside(self, index: Sequence[int]) -> bool:
        return all(0 <= i < n for i, n in zip(index, self.shape))

    def _new_object(self, array: _OwnedHandle) -> _OwnedHandle:
        surface = texture_objects.new_surface(array.value)
        return _OwnedHandle(surface, texture_objects.free_surface, array)


# ---- creation ----------------------------------------------------------------------------------


def texture(
    array: ArrayLike | DeviceArray | Surface,
    address_mode: AddressMode | Sequence[AddressMode] = "clamp",
    filter_mode: FilterMode = "point",
    normalized: bool = False,
    read_mode: ReadMode = "element",
    border: float | Sequence[float] = 0,
) -> Texture:
    """Return a texture of an array's elements. ``tex2D`` reads ``a[y, x]`` at ``x + 0.5, y + 0.5``.

    Parameters
    ----------
    array : array_like or Surface
        An array of one to three axes, which is copied, or a surface, whose elements are shared.
    address_mode : {"clamp", "border", "wrap", "mirror"} or sequence, optional
        The addressing mode for coordinates outside: one for all axes, or one for each of x, y, z.
    filter_mode : {"point", "linear"}, optional
        "point" for the nearest element, "linear" for interpolation.
    normalized : bool, optional
        Whether coordinates are from 0 to 1 along each axis; otherwise they count elements.
    read_mode : {"element", "normalized_float"}, optional
        "normalized_float" returns integers of 8 and 16 bits as floats up to 1.
    border : float or sequence of float, optional
        The value outside with the addressing mode "border".

    Returns
    -------
    Texture
        The texture, an argument of kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import cuda
    >>> image = cuda.texture(np.float32([[0, 1], [2, 3]]), filter_mode="linear")
    >>> float(image.at(1.0, 1.0))  # between the four elements
    1.5
    """
    elements = array._elements if isinstance(array, Surface) else _elements_of(array)
    axes, channels = len(elements.texel_format.shape), elements.texel_format.channels
    modes = texture_modes.checked_modes(
        texture_modes.modes_per_axis(address_mode, axes),
        filter_mode,
        bool(normalized),
        read_mode,
        texture_modes.border_values(border, channels),
    )
    return Texture(elements, texture_modes.sampled_type(elements.element, modes), modes)


def surface(
    source: ArrayLike | DeviceArray | tuple[int, ...], dtype: DTypeLike | Scalar | None = None
) -> Surface:
    """Return a surface.

    Parameters
    ----------
    source : array_like or tuple of int
        An array of one to three axes, whose elements are copied, or with a ``dtype`` a shape.
    dtype : dtype_like, optional
        The dtype of a surface of zeros.

    Returns
    -------
    Surface
        The surface, an argument of kernels.
    """
    if dtype is None:
        elements = _elements_of(source)
    else:
        numpy_dtype = dtype.numpy if isinstance(dtype, Scalar) else np.dtype(dtype)
        shape: Any = source
        elements = _elements_of(np.zeros(shape, numpy_dtype))
    if elements.element is dtypes.FLOAT16:
        raise TypeError("surfaces have no float16: make one of float32, or of its bits as uint16")
    return Surface(elements)
