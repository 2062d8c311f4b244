"""Export ``pycuda.gpuarray``: device arrays and their functions."""

from pycu2c.compat.pycuda.array_functions import all as all
from pycu2c.compat.pycuda.array_functions import any as any
from pycu2c.compat.pycuda.array_functions import arange as arange
from pycu2c.compat.pycuda.array_functions import dot as dot
from pycu2c.compat.pycuda.array_functions import empty as empty
from pycu2c.compat.pycuda.array_functions import empty_like as empty_like
from pycu2c.compat.pycuda.array_functions import if_positive as if_positive
from pycu2c.compat.pycuda.array_functions import max as max
from pycu2c.compat.pycuda.array_functions import maximum as maximum
from pycu2c.compat.pycuda.array_functions import min as min
from pycu2c.compat.pycuda.array_functions import minimum as minimum
from pycu2c.compat.pycuda.array_functions import ones as ones
from pycu2c.compat.pycuda.array_functions import ones_like as ones_like
from pycu2c.compat.pycuda.array_functions import reshape as reshape
from pycu2c.compat.pycuda.array_functions import sum as sum
from pycu2c.compat.pycuda.array_functions import take as take
from pycu2c.compat.pycuda.array_functions import to_gpu_async as to_gpu_async
from pycu2c.compat.pycuda.array_functions import transpose as transpose
from pycu2c.compat.pycuda.array_functions import where as where
from pycu2c.compat.pycuda.array_functions import zeros as zeros
from pycu2c.compat.pycuda.array_functions import zeros_like as zeros_like
from pycu2c.compat.pycuda.c_types import vec as vec
from pycu2c.compat.pycuda.gpuarray import GPUArray as GPUArray
from pycu2c.compat.pycuda.gpuarray import as_gpuarray as as_gpuarray
from pycu2c.compat.pycuda.gpuarray import to_gpu as to_gpu
