"""Export ``pycuda.scan``: prefix sums."""

from pycu2c.compat.pycuda.kernels.scan import ExclusiveScanKernel as ExclusiveScanKernel
from pycu2c.compat.pycuda.kernels.scan import InclusiveScanKernel as InclusiveScanKernel
