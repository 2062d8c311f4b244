"""``pycuda.compiler``: CUDA C compiled, without nvcc: by NVRTC for a GPU, by a C++ compiler for the
CPU, into the cache on disk."""

from pycu2c.compat.pycuda.errors import CompileError
from pycu2c.compat.pycuda.modules.binaries import (
    compile,
    compile_plain,
    get_nvcc_version,
    preprocess_source,
)
from pycu2c.compat.pycuda.modules.compile_settings import DEFAULT_NVCC_FLAGS
from pycu2c.compat.pycuda.modules.dynamic_modules import (
    DynamicFunction,
    DynamicModule,
    DynamicSourceModule,
)
from pycu2c.compat.pycuda.modules.source_module import CudaModule, SourceModule

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
