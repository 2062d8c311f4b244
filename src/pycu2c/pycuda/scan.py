"""``pycuda.scan``: see ``pycu2c.compat.pycuda.kernels.scan``."""

from pycu2c.compat.pycuda.kernels.scan import (
    ExclusiveScanKernel,
    InclusiveScanKernel,
)

__all__ = [
    "ExclusiveScanKernel",
    "InclusiveScanKernel",
]
