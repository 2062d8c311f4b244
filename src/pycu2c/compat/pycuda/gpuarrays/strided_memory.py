"""Define the base class of GPUArray: memory, shape, and the array interfaces.

Kernels of this package use ``__pycu2c_array__``; other packages use DLPack or
``__cuda_array_interface__``.
"""

from __future__ import annotations

import math
import operator
from typing import Any, TypeVar

import numpy as np

from pycu2c.compat.pycuda.gpuarrays.layout import Flags
from pycu2c.compat.pycuda.memory.allocations import DeviceAllocation, mem_alloc, on_gpu
from pycu2c.cuda_driver import driver
from pycu2c.devices.array import DeviceArray
from pycu2c.devices.array_data import as_supported_dtype
from pycu2c.devices.view_geometry import ViewGeometry
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.strides import packed_strides
from pycu2c.runtime.cuda.memory import HOST, ExternalMemory, Memory

M = TypeVar("M", bound="StridedMemory")


class StridedMemory:
    """Device memory with a shape, strides and a dtype."""

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        allocator: Any = mem_alloc,
        base: Any = None,
        gpudata: Any = None,
        strides: Any = None,
        order: str = "C",
    ) -> None:
        self.dtype = as_supported_dtype(dtype)
        self.shape = _as_shape(shape)
        self.itemsize = self.dtype.itemsize
        self.size = self.mem_size = math.prod(self.shape)
        self.nbytes = self.size * self.itemsize
        if order not in ("C", "F"):
            raise ValueError(f"invalid order: {order}")
        if strides is None:
            strides = packed_strides(self.shape, self.itemsize, order)
        self.strides = tuple(map(int, strides))
        self.allocator, self.base = allocator or mem_alloc, base
        self.gpudata = gpudata
        if gpudata is None and self.size:
            self.gpudata = self.allocator(self.nbytes)

    # ---- layout ----

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def flags(self) -> Flags:
        """Return ``flags.c_contiguous``, ``flags.f_contiguous`` and ``flags.forc``."""
        return Flags(self.shape, self.strides, self.itemsize)

    @property
    def ptr(self) -> int:
        """Return the address of the first element."""
        return operator.index(self.gpudata) if self.gpudata is not None else 0

    def flat(self, order: str = "") -> DeviceArray:
        """Return the elements along one axis, in memory order.

        The result is a copy if the array is not contiguous in the requested order.
        """
        flags = self.flags
        is_flat = flags.forc if not order else getattr(flags, f"{order.lower()}_contiguous")
        shape, strides = (self.size,), (self.itemsize,)
        if is_flat:
            return DeviceArray(self._memory(), self.ptr, shape, strides, self.dtype)
        copy = self.device_array().copy(order=order or "C")  # type: ignore[arg-type]
        return copy._view(ViewGeometry(0, shape, strides))

    @property
    def memory_order(self) -> str:
        """Return "F" if the array is contiguous in Fortran order only, else "C"."""
        flags = self.flags
        return "F" if flags.f_contiguous and not flags.c_contiguous else "C"

    def _new_like_me(self: M, dtype: Any = None) -> M:
        """Return a new array with the same shape and order of axes."""
        dtype = self.dtype if dtype is None else np.dtype(dtype)
        return type(self)(self.shape, dtype, self.allocator, order=self.memory_order)

    # ---- array interfaces ----

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if not on_gpu():
            raise AttributeError("an array in host memory has no __cuda_array_interface__")
        return {
            "shape": self.shape,
            "strides": self.strides,
            "data": (self.ptr, False),
            "typestr": self.dtype.str,
            "stream": None,
            "version": 3,
        }

    def device_array(self) -> DeviceArray:
        """Return a device array of this package over the same memory."""
        return DeviceArray(self._memory(), self.ptr, self.shape, self.strides, self.dtype)

    def __pycu2c_array__(self, name: str) -> ArrayArgument:
        """Describe the array as a kernel argument."""
        return self.device_array().__pycu2c_array__(name)

    def __pycu2c_new__(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return a new array for results of kernels of this package."""
        return type(self)(shape, dtype, self.allocator)

    def __dlpack__(self, **kwargs: Any) -> object:
        return self.device_array().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device_array().__dlpack_device__()

    def _memory(self) -> Memory:
        """Return the memory of the array, or of its base."""
        root: Any = self
        while isinstance(root.base, StridedMemory):
            root = root.base
        if isinstance(root.base, DeviceArray):
            return root.base._memory
        if isinstance(root.gpudata, DeviceAllocation):
            return root.gpudata.memory
        ordinal = driver.current_ordinal() if on_gpu() else HOST
        return ExternalMemory(self, self.ptr, self.nbytes, ordinal)


def _as_shape(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, np.ndarray):
        shape = shape.tolist()
    if hasattr(shape, "__index__"):
        return (operator.index(shape),)
    return tuple(int(n) for n in shape)
