"""Let kernels of this package and other packages access GPUArrays.

Other packages use DLPack or ``__cuda_array_interface__``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c.compat.pycuda.memory.allocations import DeviceAllocation, on_gpu
from pycu2c.cuda_driver import driver
from pycu2c.devices.array import DeviceArray
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.cuda.memory import HOST, ExternalMemory, Memory


class ArrayInterop:
    """The array interfaces of device memory."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    nbytes: int
    allocator: Any
    base: Any
    gpudata: Any

    @property
    def ptr(self) -> int:
        """Return the address of the first element."""
        raise NotImplementedError

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if not on_gpu():
            raise AttributeError("an array in memory of the host has no __cuda_array_interface__")
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
        return type(self)(shape, dtype, self.allocator)  # type: ignore[call-arg]

    def __dlpack__(self, **kwargs: Any) -> object:
        return self.device_array().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device_array().__dlpack_device__()

    def _memory(self) -> Memory:
        """Return the memory of the array, or of its base."""
        root: Any = self
        while isinstance(root.base, ArrayInterop):
            root = root.base
        if isinstance(root.base, DeviceArray):
            return root.base._memory
        if isinstance(root.gpudata, DeviceAllocation):
            return root.gpudata.memory
        ordinal = driver.current_ordinal() if on_gpu() else HOST
        return ExternalMemory(self, self.ptr, self.nbytes, ordinal)
