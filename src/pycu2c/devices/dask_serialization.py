"""Send device arrays between the processes of Dask: by UCX from GPU to GPU, else by the host."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from distributed.protocol import (
    cuda_deserialize,
    cuda_serialize,
    dask_deserialize,
    dask_serialize,
)

from pycu2c.devices.allocation import to_device
from pycu2c.devices.array import DeviceArray, as_device_array
from pycu2c.runtime.cuda.memory import HOST


def _serialize(array: DeviceArray) -> Any:
    """Return the header and the frames of the elements as a NumPy array."""
    return dask_serialize(array.copy_to_host())


def _deserialize(header: Any, frames: Any) -> DeviceArray:
    """Return an array on the current GPU, or on the host without one."""
    return to_device(dask_deserialize.dispatch(np.ndarray)(header, frames))


def _serialize_on_gpu(array: DeviceArray) -> Any:
    """Return the header and the frame of the elements in GPU memory, which UCX sends."""
    if array.device == HOST:
        raise NotImplementedError("the other family serializes arrays on the host")
    elements = array if array.is_c_contiguous() else array.copy()
    header = {"shape": array.shape, "dtype": pickle.dumps(array.dtype)}
    return header, [elements.ravel().view(np.uint8)]


def _deserialize_on_gpu(header: Any, frames: Any) -> DeviceArray:
    """Return an array over the memory that UCX has filled."""
    elements = as_device_array(frames[0]).view(pickle.loads(header["dtype"]))
    return elements.reshape(header["shape"])


dask_serialize.register(DeviceArray, _serialize)
dask_deserialize.register(DeviceArray, _deserialize)
cuda_serialize.register(DeviceArray, _serialize_on_gpu)
cuda_deserialize.register(DeviceArray, _deserialize_on_gpu)
