"""``numba.cuda.cudadrv.devicearray``: the class of device arrays, and what is one."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c.devices.allocation import device_array_like, to_device
from pycu2c.devices.array import DeviceArray
from pycu2c.devices.interoperability import as_cuda_array, is_on_device

DeviceNDArray = DeviceArray
DeviceNDArrayBase = DeviceArray


def auto_device(obj: Any, stream: object = 0, copy: bool = True) -> tuple[DeviceArray, bool]:
    """The array of what lies on a device, or one that is new, copied from the host if ``copy``;
    and whether it is new."""
    if is_on_device(obj):
        return as_cuda_array(obj), False
    host = np.asarray(obj)
    return to_device(host, stream) if copy else device_array_like(host, stream), True


def is_cuda_ndarray(obj: object) -> bool:
    """Whether an object is a device array of this package."""
    return isinstance(obj, DeviceArray)
