"""Export ``pycuda.compiler``: compile CUDA C with NVRTC, or for the CPU with a C++ compiler."""

from typing import TYPE_CHECKING

from pycu2c.compat.pycuda import parameter_docs as _parameter_docs
from pycu2c.compat.pycuda.absent_names import getattr_of
from pycu2c.compat.pycuda.errors import CompileError as CompileError
from pycu2c.compat.pycuda.modules.binaries import compile as compile
from pycu2c.compat.pycuda.modules.binaries import compile_plain as compile_plain
from pycu2c.compat.pycuda.modules.binaries import get_nvcc_version as get_nvcc_version
from pycu2c.compat.pycuda.modules.binaries import preprocess_source as preprocess_source
from pycu2c.compat.pycuda.modules.compile_settings import DEFAULT_NVCC_FLAGS as DEFAULT_NVCC_FLAGS
from pycu2c.compat.pycuda.modules.module import Module as Module
from pycu2c.compat.pycuda.modules.source_module import SourceModule as SourceModule

CudaModule = Module  # PyCUDA's base class of SourceModule

_parameter_docs.document_parameters(globals())

if not TYPE_CHECKING:
    __getattr__ = getattr_of(__name__)
    del getattr_of
