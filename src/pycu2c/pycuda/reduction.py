"""Export ``pycuda.reduction``: kernels that map and reduce."""

from typing import TYPE_CHECKING

from pycu2c.compat.pycuda import parameter_docs as _parameter_docs
from pycu2c.compat.pycuda.absent_names import getattr_of
from pycu2c.compat.pycuda.kernels.reduction import ReductionKernel as ReductionKernel

_parameter_docs.document_parameters(globals())
del _parameter_docs

if not TYPE_CHECKING:
    __getattr__ = getattr_of(__name__)
    del getattr_of
