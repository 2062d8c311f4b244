"""Export ``pycuda.elementwise``: kernels from an expression over ``x[i]``.

https://documen.tician.de/pycuda/array.html describes the parameters.
"""

from pycu2c.compat.pycuda.kernels.elementwise import ElementwiseKernel as ElementwiseKernel
from pycu2c.compat.pycuda.kernels.elementwise import elementwise_text as elementwise_text
