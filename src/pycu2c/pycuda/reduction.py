"""Export ``pycuda.reduction``: kernels that map and reduce."""

from pycu2c.compat.pycuda.generated_kernels import ReductionKernel as ReductionKernel
