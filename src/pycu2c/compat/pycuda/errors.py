"""Define PyCUDA's exceptions: those of pycu2c under PyCUDA's names."""

from pycu2c.base import diagnostics, errors
from pycu2c.cuda_driver import cuda_errors

Error = errors.Error
MemoryError = cuda_errors.OutOfMemoryError
RuntimeError = cuda_errors.CudaError
LaunchError = diagnostics.LaunchError
CompileError = diagnostics.CompileError


class LogicError(Error):
    """The program has made an invalid request."""
