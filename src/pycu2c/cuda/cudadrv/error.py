"""Export ``numba.cuda.cudadrv.error``: the exceptions of the driver and the compilers."""

from __future__ import annotations

from pycu2c.cuda_driver.cuda_errors import CudaError, NoDeviceError
from pycu2c.toolchain.toolchain_errors import ToolchainError

CudaDriverError = CudaError
CudaRuntimeError = CudaError
CudaSupportError = NoDeviceError
NvvmError = ToolchainError
NvrtcError = ToolchainError
