"""Implement PyCUDA's CUDA arrays. Without a GPU their elements are in host memory."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pycu2c.base import dtypes
from pycu2c.compat.pycuda.enums import array3d_flags, array_format
from pycu2c.compat.pycuda.errors import LogicError, translate_errors
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.compat.pycuda.memory.strided_copies import CopyEndpoint, Memcpy3D
from pycu2c.runtime.cuda import texture_objects
from pycu2c.runtime.cuda.texture_objects import TexelFormat

COMPONENT_DTYPES: dict[array_format, dtypes.DType] = {
    array_format.UNSIGNED_INT8: dtypes.UINT8,
    array_format.UNSIGNED_INT16: dtypes.UINT16,
    array_format.UNSIGNED_INT32: dtypes.UINT32,
    array_format.SIGNED_INT8: dtypes.INT8,
    array_format.SIGNED_INT16: dtypes.INT16,
    array_format.SIGNED_INT32: dtypes.INT32,
    array_format.HALF: dtypes.FLOAT16,
    array_format.FLOAT: dtypes.FLOAT32,
}
_FORMATS = {dtype: format for format, dtype in COMPONENT_DTYPES.items()}
_INTS_PER_ELEMENT = {"complex64": 2, "float64": 2, "complex128": 4}  # int32s per element


class ArrayDescriptor:
    """The description of an array of one or two axes."""

    def __init__(self) -> None:
        self.width = self.height = 0
        self.format: Any = array_format.FLOAT
        self.num_channels = 1


class ArrayDescriptor3D(ArrayDescriptor):
    """The description of an array of up to three axes, or of layers."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.flags = array3d_flags(0)


class Array:
    """A CUDA array: ``Array(descriptor)``, or ``Array(format, w, h, d)``."""

    @translate_errors
    def __init__(
        self, format: Any, w: int = 0, h: int = 0, d: int = 0, num_channels: int = 1
    ) -> None:
        if isinstance(format, ArrayDescriptor):
            descriptor = format
        else:
            descriptor = ArrayDescriptor3D()
            descriptor.format, descriptor.num_channels = format, num_channels
            descriptor.width, descriptor.height, descriptor.depth = w, h, d
        self.format = array_format(descriptor.format)
        self.texel_format = _texel_format(descriptor)
        self.flags = array3d_flags(getattr(descriptor, "flags", 0))
        self._storage: Any = None
        self._freed = False
        if on_gpu():
            self._storage = texture_objects.new_array(self.texel_format)
        else:
            self._storage = np.zeros(
                (*self.texel_format.shape, self.texel_format.channels),
                self.texel_format.number.numpy,
            )

    @property
    def handle(self) -> Any:
        """Return the driver's handle; on the CPU the address."""
        self._check()
        return self._storage if on_gpu() else self._storage.ctypes.data

    def _check(self) -> None:
        if self._freed:
            raise LogicError("this array was freed")

    def host_elements(self) -> NDArray[Any]:
        """Return the elements on the CPU, with components on the last axis."""
        self._check()
        elements: NDArray[Any] = self._storage
        return elements

    def copy_endpoint(self) -> CopyEndpoint:
        """Return the endpoint for a copy."""
        self._check()
        rows = self.texel_format.shape[-2] if len(self.texel_format.shape) > 1 else 1
        if on_gpu():
            return CopyEndpoint("array", 0, None, self, self.texel_format.row_bytes, rows)
        host = self.host_elements()
        return CopyEndpoint(
            "array", host.ctypes.data, host.nbytes, self, self.texel_format.row_bytes, rows
        )

    def get_descriptor(self) -> ArrayDescriptor:
        """Return the descriptor."""
        return self._describe(ArrayDescriptor())

    def get_descriptor_3d(self) -> ArrayDescriptor3D:
        """Return the descriptor with depth and flags."""
        descriptor = ArrayDescriptor3D()
        self._describe(descriptor)
        descriptor.depth, descriptor.flags = self.texel_format.extents[2], self.flags
        return descriptor

    def _describe(self, descriptor: ArrayDescriptor) -> ArrayDescriptor:
        """Set the fields of a descriptor, and return it."""
        descriptor.width, descriptor.height, _ = self.texel_format.extents
        descriptor.format, descriptor.num_channels = self.format, self.texel_format.channels
        return descriptor

    def free(self) -> None:
        """Free the memory now."""
        self._check()
        self._freed = True
        if on_gpu():
            texture_objects.free_array(self._storage)
        self._storage = None

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if finalizing() or getattr(self, "_storage", None) is None or self._freed or not on_gpu():
            return
        with contextlib.suppress(Exception):  # the context may be gone
            texture_objects.free_array(self._storage)


def _texel_format(descriptor: ArrayDescriptor) -> TexelFormat:
    """Return the format of a descriptor. Raises LogicError."""
    depth = getattr(descriptor, "depth", 0)
    shape = (depth, descriptor.height, descriptor.width)
    axes: tuple[int, ...] = shape
    while axes[0] == 0 and len(axes) > 1:
        axes = axes[1:]
    if min(axes) <= 0 or descriptor.num_channels not in (1, 2, 4):
        raise LogicError(
            f"cuArrayCreate failed: {descriptor.width} x {descriptor.height} x {depth} elements of"
            f" {descriptor.num_channels} channels: the width must be > 0, the channels 1, 2 or 4"
        )
    layered = array3d_flags.ARRAY3D_LAYERED in array3d_flags(getattr(descriptor, "flags", 0))
    component = COMPONENT_DTYPES[array_format(descriptor.format)]
    return TexelFormat(axes, component, descriptor.num_channels, layered)


def dtype_to_array_format(dtype: Any) -> array_format:
    """Return the array format of a dtype. Raises TypeError."""
    component = dtypes.from_numpy(np.dtype(dtype))
    if component is None or component not in _FORMATS:
        raise TypeError(f"cannot convert dtype {np.dtype(dtype)} to array format")
    return _FORMATS[component]


def format_and_channels(dtype: Any) -> tuple[array_format, int]:
    """Return the format and the number of channels of elements of a dtype.

    Doubles and complex numbers are stored as ints, which ``pycuda-helpers.hpp`` converts.
    """
    name = np.dtype(dtype).name
    if name in _INTS_PER_ELEMENT:
        return array_format.SIGNED_INT32, _INTS_PER_ELEMENT[name]
    return dtype_to_array_format(dtype), 1


# ---- arrays with elements ----------------------------------------------------------------------


def _new_array(extents: tuple[int, ...], texel: tuple[Any, int], flags: int = 0) -> Array:
    """Return an array; ``extents``: x first; ``texel``: the format and the number of channels."""
    descriptor = ArrayDescriptor3D()
    descriptor.width, descriptor.height, descriptor.depth = extents
    descriptor.format, descriptor.num_channels = texel
    descriptor.flags = array3d_flags(flags)
    return Array(descriptor)


def _fill_from_host(rows: NDArray[Any], array: Array) -> Array:
    """Copy contiguous host elements to an array, and return it."""
    fill(array, lambda copy: copy.set_src_host(rows))
    return array


def fill(array: Array, set_src: Callable[[Memcpy3D], None]) -> None:
    """Copy contiguous elements to an array; ``set_src`` sets the source of the copy."""
    copy = Memcpy3D()
    set_src(copy)
    copy.set_dst_array(array)
    _, height, depth = array.texel_format.extents
    copy.width_in_bytes = copy.src_pitch = array.texel_format.row_bytes
    copy.src_height = copy.height = height or 1
    copy.depth = depth or 1
    copy()


def rows_of(array: NDArray[Any], order: str) -> NDArray[Any]:
    """Return an array with x as its last axis; its first in Fortran order. Raises LogicError."""
    if order.upper() not in ("C", "F"):
        raise LogicError("order must be either F or C")
    return np.ascontiguousarray(array if order.upper() == "C" else array.T)


def matrix_to_array(matrix: Any, order: str, allow_double_hack: bool = False) -> Array:
    """Return a CUDA array with the elements of a matrix.

    x is the axis of columns; of rows for order "F". Doubles are stored as pairs of ints if that is
    allowed.
    """
    rows = rows_of(np.asarray(matrix), order)
    height, width = rows.shape
    doubles = rows.dtype == np.float64 and allow_double_hack
    texel = format_and_channels(rows.dtype) if doubles else (dtype_to_array_format(rows.dtype), 1)
    return _fill_from_host(rows, _new_array((width, height, 0), texel))


def make_multichannel_2d_array(matrix: NDArray[Any], order: str = "C") -> Array:
    """Return a CUDA array with several channels, from the last axis; the first for order "F"."""
    rows = rows_of(matrix, order)
    height, width, channels = rows.shape
    texel = dtype_to_array_format(rows.dtype), channels
    return _fill_from_host(rows, _new_array((width, height, 0), texel))


def array_flags(axes: int, for_surfaces: bool) -> int:
    """Return the flags of an array."""
    layered = array3d_flags.ARRAY3D_LAYERED if axes == 2 else array3d_flags(0)
    return int(array3d_flags.SURFACE_LDST | layered) if for_surfaces else 0


def np_to_array(nparray: NDArray[Any], order: str, allowSurfaceBind: bool = False) -> Array:
    """Return a CUDA array from a numpy array of two or three axes, of any dtype that
    ``pycuda-helpers.hpp`` reads."""
    rows = rows_of(nparray, order)
    return _fill_from_host(
        rows, _new_array(*array_parameters(rows.shape, rows.dtype, allowSurfaceBind))
    )


def array_parameters(
    shape: tuple[int, ...], dtype: Any, for_surfaces: bool
) -> tuple[tuple[int, int, int], tuple[array_format, int], int]:
    """Return extents, format and flags of a CUDA array. Raises LogicError."""
    if len(shape) not in (2, 3):
        raise LogicError(f"the array must have 2 or 3 axes, not {len(shape)}")
    layers = 1 if for_surfaces and len(shape) == 2 else 0
    depth, height, width = shape if len(shape) == 3 else (layers, *shape)
    texel = format_and_channels(dtype)
    return (width, height, depth), texel, array_flags(len(shape), for_surfaces)


def gpuarray_to_array(gpuarray: Any, order: str, allowSurfaceBind: bool = False) -> Array:
    """Return a CUDA array with the elements of a GPUArray."""
    in_order = gpuarray.flags.c_contiguous if order.upper() == "C" else gpuarray.flags.f_contiguous
    if not in_order:
        return np_to_array(gpuarray.get(), order, allowSurfaceBind)
    shape = gpuarray.shape if order.upper() == "C" else gpuarray.shape[::-1]
    extents, texel, flags = array_parameters(shape, gpuarray.dtype, allowSurfaceBind)
    array = _new_array(extents, texel, flags)
    fill(array, lambda copy: copy.set_src_device(gpuarray.gpudata))
    return array
