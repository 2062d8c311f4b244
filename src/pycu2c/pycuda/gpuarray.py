"""Export ``pycuda.gpuarray``: device arrays and their functions."""

from pycu2c.compat.pycuda import parameter_docs as _parameter_docs
from pycu2c.compat.pycuda.gpuarrays.functions import GPUArray as GPUArray
from pycu2c.compat.pycuda.gpuarrays.functions import all as all
from pycu2c.compat.pycuda.gpuarrays.functions import any as any
from pycu2c.compat.pycuda.gpuarrays.functions import arange as arange
from pycu2c.compat.pycuda.gpuarrays.functions import as_gpuarray as as_gpuarray
from pycu2c.compat.pycuda.gpuarrays.functions import concatenate as concatenate
from pycu2c.compat.pycuda.gpuarrays.functions import dot as dot
from pycu2c.compat.pycuda.gpuarrays.functions import empty as empty
from pycu2c.compat.pycuda.gpuarrays.functions import empty_like as empty_like
from pycu2c.compat.pycuda.gpuarrays.functions import if_positive as if_positive
from pycu2c.compat.pycuda.gpuarrays.functions import logical_and as logical_and
from pycu2c.compat.pycuda.gpuarrays.functions import logical_not as logical_not
from pycu2c.compat.pycuda.gpuarrays.functions import logical_or as logical_or
from pycu2c.compat.pycuda.gpuarrays.functions import max as max
from pycu2c.compat.pycuda.gpuarrays.functions import maximum as maximum
from pycu2c.compat.pycuda.gpuarrays.functions import min as min
from pycu2c.compat.pycuda.gpuarrays.functions import minimum as minimum
from pycu2c.compat.pycuda.gpuarrays.functions import multi_put as multi_put
from pycu2c.compat.pycuda.gpuarrays.functions import multi_take as multi_take
from pycu2c.compat.pycuda.gpuarrays.functions import multi_take_put as multi_take_put
from pycu2c.compat.pycuda.gpuarrays.functions import ones as ones
from pycu2c.compat.pycuda.gpuarrays.functions import ones_like as ones_like
from pycu2c.compat.pycuda.gpuarrays.functions import reshape as reshape
from pycu2c.compat.pycuda.gpuarrays.functions import shapes_differ as shapes_differ
from pycu2c.compat.pycuda.gpuarrays.functions import splay as splay
from pycu2c.compat.pycuda.gpuarrays.functions import stack as stack
from pycu2c.compat.pycuda.gpuarrays.functions import subset_dot as subset_dot
from pycu2c.compat.pycuda.gpuarrays.functions import subset_max as subset_max
from pycu2c.compat.pycuda.gpuarrays.functions import subset_min as subset_min
from pycu2c.compat.pycuda.gpuarrays.functions import subset_sum as subset_sum
from pycu2c.compat.pycuda.gpuarrays.functions import sum as sum
from pycu2c.compat.pycuda.gpuarrays.functions import take as take
from pycu2c.compat.pycuda.gpuarrays.functions import to_gpu as to_gpu
from pycu2c.compat.pycuda.gpuarrays.functions import to_gpu_async as to_gpu_async
from pycu2c.compat.pycuda.gpuarrays.functions import transpose as transpose
from pycu2c.compat.pycuda.gpuarrays.functions import vec as vec
from pycu2c.compat.pycuda.gpuarrays.functions import where as where
from pycu2c.compat.pycuda.gpuarrays.functions import zeros as zeros
from pycu2c.compat.pycuda.gpuarrays.functions import zeros_like as zeros_like

_parameter_docs.document_parameters(globals())
del _parameter_docs
