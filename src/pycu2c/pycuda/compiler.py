"""Export ``pycuda.compiler``: compile CUDA C with NVRTC, or for the CPU with a C++ compiler."""

from pycu2c.compat.pycuda.errors import CompileError as CompileError
from pycu2c.compat.pycuda.modules import DEFAULT_NVCC_FLAGS as DEFAULT_NVCC_FLAGS
from pycu2c.compat.pycuda.modules import SourceModule as SourceModule
