"""Export ``pycuda.tools``: memory pools, C type names, contexts, memoized functions."""

from pycu2c.compat.pycuda import parameter_docs as _parameter_docs
from pycu2c.compat.pycuda.c_types import Argument as Argument
from pycu2c.compat.pycuda.c_types import ScalarArg as ScalarArg
from pycu2c.compat.pycuda.c_types import VectorArg as VectorArg
from pycu2c.compat.pycuda.c_types import dtype_to_ctype as dtype_to_ctype
from pycu2c.compat.pycuda.c_types import get_arg_type as get_arg_type
from pycu2c.compat.pycuda.c_types import get_or_register_dtype as get_or_register_dtype
from pycu2c.compat.pycuda.c_types import parse_c_arg as parse_c_arg
from pycu2c.compat.pycuda.c_types import register_dtype as register_dtype
from pycu2c.compat.pycuda.memory.pools import DeviceMemoryPool as DeviceMemoryPool
from pycu2c.compat.pycuda.memory.pools import PageLockedMemoryPool as PageLockedMemoryPool
from pycu2c.compat.pycuda.tools import DeviceData as DeviceData
from pycu2c.compat.pycuda.tools import OccupancyRecord as OccupancyRecord
from pycu2c.compat.pycuda.tools import PageLockedAllocator as PageLockedAllocator
from pycu2c.compat.pycuda.tools import bitlog2 as bitlog2
from pycu2c.compat.pycuda.tools import clear_context_caches as clear_context_caches
from pycu2c.compat.pycuda.tools import context_dependent_memoize as context_dependent_memoize
from pycu2c.compat.pycuda.tools import get_default_device as get_default_device
from pycu2c.compat.pycuda.tools import init_cuda_context_fixture as init_cuda_context_fixture
from pycu2c.compat.pycuda.tools import make_default_context as make_default_context
from pycu2c.compat.pycuda.tools import mark_cuda_test as mark_cuda_test

_parameter_docs.document_parameters(globals())
