"""``numba.cuda.cudadrv.driver``: the classes of what the driver makes, and its errors."""

from __future__ import annotations

from pycu2c.devices.contexts import Context
from pycu2c.devices.gpus import Gpu
from pycu2c.devices.stand_in import MemoryInfo
from pycu2c.devices.streams import Event, Stream
from pycu2c.runtime.cuda_errors import CudaError

Device = Gpu
CudaAPIError = CudaError

__all__ = ["Context", "CudaAPIError", "Device", "Event", "MemoryInfo", "Stream"]
