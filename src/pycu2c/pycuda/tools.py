"""Export ``pycuda.tools``: memory pools, C type names, contexts, memoized functions."""

from pycu2c.compat.pycuda.c_types import ScalarArg as ScalarArg
from pycu2c.compat.pycuda.c_types import VectorArg as VectorArg
from pycu2c.compat.pycuda.c_types import dtype_to_ctype as dtype_to_ctype
from pycu2c.compat.pycuda.c_types import get_or_register_dtype as get_or_register_dtype
from pycu2c.compat.pycuda.contexts import clear_context_caches as clear_context_caches
from pycu2c.compat.pycuda.contexts import context_dependent_memoize as context_dependent_memoize
from pycu2c.compat.pycuda.contexts import make_default_context as make_default_context
from pycu2c.compat.pycuda.memory import DeviceMemoryPool as DeviceMemoryPool
