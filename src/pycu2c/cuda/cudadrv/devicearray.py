"""Export ``numba.cuda.cudadrv.devicearray``: the device array class and its predicate."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c.devices.allocation import device_array_like, to_device
from pycu2c.devices.array import DeviceArray, as_cuda_array
from pycu2c.devices.interoperability import is_on_device

DeviceNDArray = DeviceArray
DeviceNDArrayBase = DeviceArray


def auto_device(obj: Any, stream: object = 0, copy: bool = True) -> tuple[DeviceArray, bool]:
    """Return an object as a device array, and whether the array is new.

    Parameters
    ----------
    obj : array_like
        A device array of any library, or a host array.
    stream : Stream, optional
        The stream of the copy.
    copy : bool, optional
        Whether to copy a host array; otherwise the new array is uninitialized.
    """
    if is_on_device(obj):
        return as_cuda_array(obj), False
    host = np.asarray(obj)
    return to_device(host, stream) if copy else device_array_like(host, stream), True


def is_cuda_ndarray(obj: object) -> bool:
    """Return whether an object is a device array of this package.

    Parameters
    ----------
    obj : object
        Any object.
    """
    return isinstance(obj, DeviceArray)
