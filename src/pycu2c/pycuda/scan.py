"""Export ``pycuda.scan``: prefix sums."""

from pycu2c.compat.pycuda import parameter_docs as _parameter_docs
from pycu2c.compat.pycuda.kernels.scan import ExclusiveScanKernel as ExclusiveScanKernel
from pycu2c.compat.pycuda.kernels.scan import InclusiveScanKernel as InclusiveScanKernel

_parameter_docs.document_parameters(globals())
