"""``numba.cuda.cudadrv.error``: what is raised where there is no driver, or where it fails."""

from __future__ import annotations

from pycu2c.cuda_driver.cuda_errors import CudaError, NoDeviceError
from pycu2c.toolchain.toolchain_errors import ToolchainError

CudaDriverError = CudaError
CudaRuntimeError = CudaError
CudaSupportError = NoDeviceError
NvvmError = ToolchainError
NvrtcError = ToolchainError
