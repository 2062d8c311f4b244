"""Export ``pycuda.reduction``: kernels that map and reduce."""

from pycu2c.compat.pycuda.kernels.reduction import ReductionKernel as ReductionKernel
from pycu2c.compat.pycuda.kernels.reduction import get_all_kernel as get_all_kernel
from pycu2c.compat.pycuda.kernels.reduction import get_any_kernel as get_any_kernel
from pycu2c.compat.pycuda.kernels.reduction import get_dot_kernel as get_dot_kernel
from pycu2c.compat.pycuda.kernels.reduction import get_minmax_kernel as get_minmax_kernel
from pycu2c.compat.pycuda.kernels.reduction import get_subset_dot_kernel as get_subset_dot_kernel
from pycu2c.compat.pycuda.kernels.reduction import (
    get_subset_minmax_kernel as get_subset_minmax_kernel,
)
from pycu2c.compat.pycuda.kernels.reduction import get_subset_sum_kernel as get_subset_sum_kernel
from pycu2c.compat.pycuda.kernels.reduction import get_sum_kernel as get_sum_kernel
