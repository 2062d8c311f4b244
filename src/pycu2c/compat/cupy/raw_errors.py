"""Errors of raw kernels that CuPy reports as ``CUDADriverError``."""

from __future__ import annotations

from pycu2c.cuda_driver.cuda_errors import CudaError


class SymbolNotFoundError(CudaError, LookupError):
    """A module does not have the kernel or the variable."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            "CUDA_ERROR_NOT_FOUND", "named symbol not found", f"looking up {name}", reason
        )


class ModuleFileNotFoundError(CudaError, FileNotFoundError):
    """The file of a module does not exist."""

    def __init__(self, path: str) -> None:
        super().__init__("CUDA_ERROR_FILE_NOT_FOUND", "file not found", f"loading {path}")
