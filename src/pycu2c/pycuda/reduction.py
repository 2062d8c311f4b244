"""Export ``pycuda.reduction``: kernels that map and reduce."""

from typing import TYPE_CHECKING

from pycu2c.compat.pycuda.absent_names import getattr_of
from pycu2c.compat.pycuda.generated_kernels import ReductionKernel as ReductionKernel

if not TYPE_CHECKING:
    __getattr__ = getattr_of(__name__)
    del getattr_of
