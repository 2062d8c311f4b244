"""Export ``pycuda.elementwise``: kernels from an expression over ``x[i]``."""

from typing import TYPE_CHECKING

from pycu2c.compat.pycuda.absent_names import getattr_of
from pycu2c.compat.pycuda.generated_kernels import ElementwiseKernel as ElementwiseKernel

if not TYPE_CHECKING:
    __getattr__ = getattr_of(__name__)
    del getattr_of
