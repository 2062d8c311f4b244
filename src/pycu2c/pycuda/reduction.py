"""Export ``pycuda.reduction``: kernels that map and reduce."""

from typing import TYPE_CHECKING

from pycu2c.compat.pycuda.absent_names import getattr_of as _getattr_of
from pycu2c.compat.pycuda.kernels.reduction import ReductionKernel as ReductionKernel

if not TYPE_CHECKING:
    __getattr__ = _getattr_of(__name__)
