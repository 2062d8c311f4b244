"""Export ``pycuda.elementwise``: kernels from an expression over ``x[i]``."""

from pycu2c.compat.pycuda import parameter_docs as _parameter_docs
from pycu2c.compat.pycuda.kernels.elementwise import ElementwiseKernel as ElementwiseKernel
from pycu2c.compat.pycuda.kernels.elementwise import elementwise_text as elementwise_text

_parameter_docs.document_parameters(globals())
