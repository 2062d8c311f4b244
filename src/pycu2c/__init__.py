"""Write a kernel in Python; get readable CUDA C, and the same kernel as C for the CPU."""

from typing import TYPE_CHECKING

from pycu2c import cuda, types
from pycu2c.base import lazy_imports
from pycu2c.base.diagnostics import (
    CompileError,
    CompileWarning,
    LaunchError,
    LaunchWarning,
)
from pycu2c.base.dtypes import VECTORS
from pycu2c.base.errors import EnvironmentVariableError, Error
from pycu2c.base.vector_types import *  # noqa: F403
from pycu2c.cuda_driver.cuda_errors import (
    CaptureError,
    CudaError,
    DeviceAssertError,
    DriverError,
    IllegalAddressError,
    KernelFault,
    LaunchResourcesError,
    LaunchTimeoutError,
    MisalignedAddressError,
    NoDeviceError,
    OutOfMemoryError,
    PeerAccessError,
)
from pycu2c.declarations import annotations
from pycu2c.declarations.annotations import *  # noqa: F403
from pycu2c.declarations.options import OptionError
from pycu2c.declarations.signatures import SignatureError
from pycu2c.kernels.kernel import DeviceFunction, Kernel, device, kernel
from pycu2c.kernels.tuning_report import TuningReport
from pycu2c.ops.names import numba_type_names
from pycu2c.ops.names.numba_type_names import *  # noqa: F403
from pycu2c.runtime.findings import CheckError, DeadlockError, Finding

if TYPE_CHECKING:
    from pycu2c.aot.exported_library import ExportError
    from pycu2c.compat.numba import config
    from pycu2c.compat.numba.guvectorize import guvectorize
    from pycu2c.compat.numba.host_functions import jit, njit, prange
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
    from pycu2c.interpreter.functions import UnsupportedByReferenceError
    from pycu2c.ir.verifier import InternalError
    from pycu2c.ops.names.loop_hints import literal_unroll
    from pycu2c.toolchain.toolchain_errors import (
        LinkError,
        RejectedCodeError,
        ToolchainError,
        UndefinedFunctionError,
    )

# names that are imported when a program first uses one
_LAZY_NAMES = {
    "ExportError": "pycu2c.aot.exported_library",
    "InternalError": "pycu2c.ir.verifier",
    "LinkError": "pycu2c.toolchain.toolchain_errors",
    "NumbaDeprecationWarning": "pycu2c.core.errors",
    "NumbaError": "pycu2c.core.errors",
    "NumbaPendingDeprecationWarning": "pycu2c.core.errors",
    "NumbaPerformanceWarning": "pycu2c.core.errors",
    "NumbaWarning": "pycu2c.core.errors",
    "RejectedCodeError": "pycu2c.toolchain.toolchain_errors",
    "ToolchainError": "pycu2c.toolchain.toolchain_errors",
    "TypingError": "pycu2c.core.errors",
    "UndefinedFunctionError": "pycu2c.toolchain.toolchain_errors",
    "UnsupportedByReferenceError": "pycu2c.interpreter.functions",
    "config": "pycu2c.compat.numba",
    "from_dtype": "pycu2c.compat.numba.typeof",
    "guvectorize": "pycu2c.compat.numba.guvectorize",
    "jit": "pycu2c.compat.numba.host_functions",
    "literal_unroll": "pycu2c.ops.names.loop_hints",
    "njit": "pycu2c.compat.numba.host_functions",
    "prange": "pycu2c.compat.numba.host_functions",
    "typeof": "pycu2c.compat.numba.typeof",
    "vectorize": "pycu2c.compat.numba.vectorize",
}


def __getattr__(name: str) -> object:
    if name not in _LAZY_NAMES:
        raise AttributeError(f"module pycu2c has no attribute {name}", name=name)
    value: object = getattr(lazy_imports.import_module(_LAZY_NAMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])


__version__ = "0.1.0"

__all__ = [
    "CaptureError",
    "CheckError",
    "CompileError",
    "CompileWarning",
    "CudaError",
    "DeadlockError",
    "DeviceFunction",
    "DeviceAssertError",
    "DriverError",
    "EnvironmentVariableError",
    "Error",
    "ExportError",
    "Finding",
    "IllegalAddressError",
    "InternalError",
    "Kernel",
    "KernelFault",
    "LaunchError",
    "LaunchResourcesError",
    "LaunchTimeoutError",
    "LaunchWarning",
    "LinkError",
    "MisalignedAddressError",
    "NoDeviceError",
    "NumbaDeprecationWarning",
    "NumbaError",
    "NumbaPendingDeprecationWarning",
    "NumbaPerformanceWarning",
    "NumbaWarning",
    "OptionError",
    "OutOfMemoryError",
    "PeerAccessError",
    "RejectedCodeError",
    "SignatureError",
    "ToolchainError",
    "TuningReport",
    "TypingError",
    "UndefinedFunctionError",
    "UnsupportedByReferenceError",
    "config",
    "cuda",
    "device",
    "from_dtype",
    "guvectorize",
    "jit",
    "kernel",
    "literal_unroll",
    "njit",
    "prange",
    "typeof",
    "types",
    "vectorize",
    *VECTORS,
]
__all__ += annotations.__all__
__all__ += numba_type_names.__all__
