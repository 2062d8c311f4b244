"""``pycuda.compiler``: CUDA C compiled, without nvcc: by NVRTC for a GPU, by a C++ compiler for the
CPU, into the cache on disk."""

from pycu2c.pycuda.binaries import compile, compile_plain, get_nvcc_version, preprocess_source
from pycu2c.pycuda.dynamic_modules import DynamicFunction, DynamicModule, DynamicSourceModule
from pycu2c.pycuda.errors import CompileError
from pycu2c.pycuda.settings import DEFAULT_NVCC_FLAGS
from pycu2c.pycuda.source_modules import CudaModule, SourceModule

__all__ = [
    "DEFAULT_NVCC_FLAGS",
    "CompileError",
    "CudaModule",
    "DynamicFunction",
    "DynamicModule",
    "DynamicSourceModule",
    "SourceModule",
    "compile",
    "compile_plain",
    "get_nvcc_version",
    "preprocess_source",
]
