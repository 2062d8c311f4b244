"""Export ``numba.cuda.cudadrv.nvvm``; pycu2c compiles with NVRTC instead of NVVM."""

from __future__ import annotations

from pycu2c.cuda_driver import driver
from pycu2c.toolchain.toolchain_errors import ToolchainError

NvvmError = ToolchainError


def is_available() -> bool:
    """Return whether a GPU and its compiler are available."""
    return driver.available()
