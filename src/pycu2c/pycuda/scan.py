"""Export ``pycuda.scan``: prefix sums.

https://documen.tician.de/pycuda/array.html describes the parameters.
"""

from pycu2c.compat.pycuda.kernels.scan import ExclusiveScanKernel as ExclusiveScanKernel
from pycu2c.compat.pycuda.kernels.scan import InclusiveScanKernel as InclusiveScanKernel
