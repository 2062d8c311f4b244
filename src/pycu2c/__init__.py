"""Write a kernel in Python; get readable CUDA C, and the same kernel as C for the CPU."""

from pycu2c import cuda, types, vector_types
from pycu2c.annotations import (
    Array,
    bfloat16,
    bool_,
    boolean,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    surface1d,
    surface2d,
    surface3d,
    texture1d,
    texture2d,
    texture3d,
    uint8,
    uint16,
    uint32,
    uint64,
)
from pycu2c.diagnostics import (
    CompileError,
    CompileWarning,
    DeadlockError,
    LaunchError,
    LaunchWarning,
)
from pycu2c.kernel import device, kernel
from pycu2c.runtime.cuda_errors import CudaError, KernelFault, OutOfMemoryError
from pycu2c.vector_types import *  # noqa: F403

__version__ = "0.1.0"

__all__ = [
    "Array",
    "CompileError",
    "CompileWarning",
    "CudaError",
    "DeadlockError",
    "KernelFault",
    "LaunchError",
    "LaunchWarning",
    "OutOfMemoryError",
    "bfloat16",
    "bool_",
    "boolean",
    "complex128",
    "complex64",
    "cuda",
    "device",
    "float16",
    "float32",
    "float64",
    "int16",
    "int32",
    "int64",
    "int8",
    "kernel",
    "surface1d",
    "surface2d",
    "surface3d",
    "texture1d",
    "texture2d",
    "texture3d",
    "types",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    *vector_types.__all__,
]
