"""``numba.cuda.cudadrv.nvvm``: there is no NVVM here; NVRTC compiles."""

from __future__ import annotations

from pycu2c.cuda_driver import driver
from pycu2c.toolchain.toolchain_errors import ToolchainError

NvvmError = ToolchainError


def is_available() -> bool:
    """Whether there is what compiles for a GPU, and a GPU."""
    return driver.available()
