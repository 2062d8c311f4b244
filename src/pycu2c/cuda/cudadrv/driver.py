"""Export ``numba.cuda.cudadrv.driver``: the classes of driver objects and errors."""

from __future__ import annotations

from pycu2c.cuda_driver.cuda_errors import CudaError
from pycu2c.devices.cpu_device import MemoryInfo
from pycu2c.devices.gpu_device import Context, Gpu
from pycu2c.devices.streams import Event, Stream

Device = Gpu
CudaAPIError = CudaError

__all__ = ["Context", "CudaAPIError", "Device", "Event", "MemoryInfo", "Stream"]
