"""A C-contiguous array on the device that any CUDA package can read. Knows no kernel."""

from __future__ import annotations

import contextlib
import weakref
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pycu2c.runtime import driver


class DeviceArray:
    """Device memory with a shape and a dtype; freed when the last reference to it goes."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype
        self.size = int(np.prod(shape, dtype=np.int64))
        self.nbytes = self.size * dtype.itemsize
        self.address = driver.allocate(self.nbytes)
        # at exit the driver may be gone before this is, and frees everything itself
        weakref.finalize(self, _release, self.address).atexit = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "data": (self.address, False),
            "strides": None,
            "stream": None,
            "version": 3,
        }

    def copy_to_host(self, stream: object = None) -> NDArray[Any]:
        """A numpy array with the elements as they are after all earlier work in the stream."""
        host = np.empty(self.shape, self.dtype)
        if self.nbytes:
            handle = driver.stream_of(stream)
            driver.make_current()
            driver.copy_out(host.ctypes.data, self.address, self.nbytes, handle)
            driver.synchronize(handle, "copy a device array to the host")
        return host

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<DeviceArray {self.dtype}{list(self.shape)} at {self.address:#x}>"


def to_device(values: ArrayLike, stream: object = None) -> DeviceArray:
    """Copy an array to the device."""
    host = np.asarray(values, order="C")
    array = DeviceArray(host.shape, host.dtype)
    if array.nbytes:
        handle = driver.stream_of(stream)
        driver.copy_in(array.address, host.ctypes.data, array.nbytes, handle)
        driver.synchronize(handle, "copy an array to the device")
    return array


def _release(address: int) -> None:
    # after a kernel has failed every call fails, and a finalizer has nobody to tell
    with contextlib.suppress(driver.CudaError):
        driver.free(address)
