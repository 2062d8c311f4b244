"""Export ``pycuda.elementwise``: kernels from an expression over ``x[i]``."""

from pycu2c.compat.pycuda.generated_kernels import ElementwiseKernel as ElementwiseKernel
