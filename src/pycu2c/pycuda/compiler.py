"""Export ``pycuda.compiler``: compile CUDA C with NVRTC, or for the CPU with a C++ compiler."""

from pycu2c.compat.pycuda.errors import CompileError as CompileError
from pycu2c.compat.pycuda.modules.binaries import compile as compile
from pycu2c.compat.pycuda.modules.binaries import compile_plain as compile_plain
from pycu2c.compat.pycuda.modules.binaries import get_nvcc_version as get_nvcc_version
from pycu2c.compat.pycuda.modules.binaries import preprocess_source as preprocess_source
from pycu2c.compat.pycuda.modules.compile_settings import DEFAULT_NVCC_FLAGS as DEFAULT_NVCC_FLAGS
from pycu2c.compat.pycuda.modules.dynamic_modules import DynamicFunction as DynamicFunction
from pycu2c.compat.pycuda.modules.dynamic_modules import DynamicModule as DynamicModule
from pycu2c.compat.pycuda.modules.dynamic_modules import DynamicSourceModule as DynamicSourceModule
from pycu2c.compat.pycuda.modules.source_module import CudaModule as CudaModule
from pycu2c.compat.pycuda.modules.source_module import SourceModule as SourceModule
