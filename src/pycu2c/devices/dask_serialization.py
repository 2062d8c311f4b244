"""Send device arrays between the processes of Dask, by a copy on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
from distributed.protocol import dask_deserialize, dask_serialize

from pycu2c.devices.allocation import to_device
from pycu2c.devices.array import DeviceArray


def _serialize(array: DeviceArray) -> Any:
    """Return the header and the frames of the elements as a NumPy array."""
    return dask_serialize(array.copy_to_host())


def _deserialize(header: Any, frames: Any) -> DeviceArray:
    """Return an array on the current GPU, or on the host without one."""
    return to_device(dask_deserialize.dispatch(np.ndarray)(header, frames))


dask_serialize.register(DeviceArray, _serialize)
dask_deserialize.register(DeviceArray, _deserialize)
