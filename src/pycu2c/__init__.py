"""Write a kernel in Python; get readable CUDA C, and the same kernel as C for the CPU."""

import importlib
from typing import TYPE_CHECKING

from pycu2c import cuda, types
from pycu2c.base.diagnostics import (
    CompileError,
    CompileWarning,
    DeadlockError,
    LaunchError,
    LaunchWarning,
)
from pycu2c.base.dtypes import VECTORS
from pycu2c.base.types import (
    b1,
    byte,
    c8,
    c16,
    char,
    double,
    f2,
    f4,
    f8,
    float_,
    i1,
    i2,
    i4,
    i8,
    int_,
    intc,
    intp,
    long_,
    longlong,
    none,
    short,
    size_t,
    ssize_t,
    u1,
    u2,
    u4,
    u8,
    uchar,
    uint,
    uintc,
    uintp,
    ulong,
    ulonglong,
    ushort,
    void,
)
from pycu2c.base.vector_types import *  # noqa: F403
from pycu2c.cuda_driver.cuda_errors import CudaError, KernelFault, OutOfMemoryError
from pycu2c.declarations.annotations import (
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
from pycu2c.kernels.kernel import device, kernel

if TYPE_CHECKING:
    from pycu2c.compat.numba import config
    from pycu2c.compat.numba.guvectorize import guvectorize
    from pycu2c.compat.numba.host_functions import jit, literal_unroll, njit, prange
    from pycu2c.compat.numba.typeof import from_dtype, typeof
    from pycu2c.compat.numba.vectorize import vectorize
    from pycu2c.core.errors import (
        NumbaDeprecationWarning,
        NumbaError,
        NumbaPendingDeprecationWarning,
        NumbaPerformanceWarning,
        NumbaWarning,
        TypingError,
    )

# names of numba, imported when a program first uses one
_NUMBA_NAMES = {
    "NumbaDeprecationWarning": "pycu2c.core.errors",
    "NumbaError": "pycu2c.core.errors",
    "NumbaPendingDeprecationWarning": "pycu2c.core.errors",
    "NumbaPerformanceWarning": "pycu2c.core.errors",
    "NumbaWarning": "pycu2c.core.errors",
    "TypingError": "pycu2c.core.errors",
    "config": "pycu2c.compat.numba",
    "from_dtype": "pycu2c.compat.numba.typeof",
    "guvectorize": "pycu2c.compat.numba.guvectorize",
    "jit": "pycu2c.compat.numba.host_functions",
    "literal_unroll": "pycu2c.compat.numba.host_functions",
    "njit": "pycu2c.compat.numba.host_functions",
    "prange": "pycu2c.compat.numba.host_functions",
    "typeof": "pycu2c.compat.numba.typeof",
    "vectorize": "pycu2c.compat.numba.vectorize",
}


def __getattr__(name: str) -> object:
    if name not in _NUMBA_NAMES:
        raise AttributeError(f"module pycu2c has no attribute {name}", name=name)
    found: object = getattr(importlib.import_module(_NUMBA_NAMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])


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
    "NumbaDeprecationWarning",
    "NumbaError",
    "NumbaPendingDeprecationWarning",
    "NumbaPerformanceWarning",
    "NumbaWarning",
    "OutOfMemoryError",
    "TypingError",
    "b1",
    "bfloat16",
    "bool_",
    "boolean",
    "byte",
    "c16",
    "c8",
    "char",
    "complex128",
    "complex64",
    "config",
    "cuda",
    "device",
    "double",
    "f2",
    "f4",
    "f8",
    "float16",
    "float32",
    "float64",
    "float_",
    "from_dtype",
    "guvectorize",
    "i1",
    "i2",
    "i4",
    "i8",
    "int16",
    "int32",
    "int64",
    "int8",
    "int_",
    "intc",
    "intp",
    "jit",
    "kernel",
    "literal_unroll",
    "long_",
    "longlong",
    "njit",
    "none",
    "prange",
    "short",
    "size_t",
    "ssize_t",
    "surface1d",
    "surface2d",
    "surface3d",
    "texture1d",
    "texture2d",
    "texture3d",
    "typeof",
    "types",
    "u1",
    "u2",
    "u4",
    "u8",
    "uchar",
    "uint",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uintc",
    "uintp",
    "ulong",
    "ulonglong",
    "ushort",
    "vectorize",
    "void",
    *VECTORS,
]
