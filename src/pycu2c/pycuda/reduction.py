"""Export ``pycuda.reduction``: kernels that map and reduce."""

from typing import TYPE_CHECKING

from pycu2c.compat.pycuda import absent_names
from pycu2c.compat.pycuda.kernels.reduction import ReductionKernel as ReductionKernel

if not TYPE_CHECKING:
    __getattr__ = absent_names.getattr_of(__name__)
