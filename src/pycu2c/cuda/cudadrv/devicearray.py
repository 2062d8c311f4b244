"""``numba.cuda.cudadrv.devicearray``: the class of device arrays, and what is one."""

from __future__ import annotations

from pycu2c.devices.array import DeviceArray

DeviceNDArray = DeviceArray
DeviceNDArrayBase = DeviceArray


def is_cuda_ndarray(obj: object) -> bool:
    """Whether an object is a device array of this package."""
    return isinstance(obj, DeviceArray)
