"""Map objects of numba to pycu2c's, by their module and name, without importing numba."""

from __future__ import annotations

import re
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from pycu2c.base.dtypes import BY_NAME, from_numpy
from pycu2c.base.types import NONE, Array, CPointer, ParameterType, Scalar, Tuple
from pycu2c.ops.names import cuda_namespace
from pycu2c.ops.names.cuda_namespace import Member
from pycu2c.ops.names.host_names import HOST_NAMES, HOST_ONLY_HINT

HINTS: dict[str, str] = {
    # on the host
    "nvtx": "set PYCU2C_NVTX=1 in the environment",
    "nvvm": "call cuda.is_available(); cuda.cudadrv.error has NvvmError",
    **dict.fromkeys(
        (
            "set_memory_manager",
            "BaseCUDAMemoryManager",
            "HostOnlyCUDAMemoryManager",
            "GetIpcHandleMixin",
            "MemoryPointer",
            "MappedMemory",
            "PinnedMemory",
        ),
        "the driver's pool allocates memory; arrays of other packages are used without a copy",
    ),
    **dict.fromkeys(
        ("open_ipc_array", "IpcHandle"),
        "a.get_ipc_handle() returns a handle to send; its open() returns the array",
    ),
    "KernelRuntimeError": "a kernel that fails raises pycu2c.KernelFault",
    "compile_all": "write cuda.compile, which returns PTX",
    "DeviceNDArray": "write cuda.DeviceArray",
    "bool": "write cuda.boolean, or Python's bool",
    **dict.fromkeys(
        ("dim3", "Dim3", "grid_group", "GridGroup", "optional", "deferred_type"),
        "parameters cannot have this type; remove it from the signature",
    ),
    **dict.fromkeys(
        ("ffi", "ffi_forced_object"), "ffi.from_buffer(array) returns the pointer of an array"
    ),
    # in a kernel
    "shared_array": "write cuda.shared.array",
    "local_array": "write cuda.local.array",
    "inline_ptx": "write @cuda.ptx_function, a device function in PTX",
    "vote_sync_intrinsic": "write cuda.all_sync, any_sync, eq_sync or ballot_sync",
    "shfl_sync_intrinsic": "write cuda.shfl_sync, shfl_up_sync, shfl_down_sync or shfl_xor_sync",
    **dict.fromkeys(HOST_NAMES, HOST_ONLY_HINT),
}
"""What to write in place of names of ``numba.cuda`` that pycu2c does not have."""

_WORD_FUNCTION = re.compile(r"v(add|sub|abs|neg|avg|hadd|max|min|cmp|set|sad)\w*[24]")


def replacement_hint(name: str) -> str | None:
    """Return what to write in place of a name that ``cuda`` does not have; None if unknown."""
    if _WORD_FUNCTION.fullmatch(name):  # CUDA's SIMD functions of words
        return f"write it in C: @cuda.c_function('return __{name}(x, y);')"
    return HINTS.get(name)


def numba_name(value: object) -> Member | None:
    """Return the equivalent of ``numba.cuda``, a member ``numba.cuda.atomic.add``, or prange."""
    if isinstance(value, ModuleType):
        return _in_module(value.__name__)
    module = getattr(value, "__module__", None)
    path = getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(path, str):
        return None
    if module == "numba.misc.special" and path == "prange":
        return range
    if not module.startswith("numba.cuda."):
        return None
    submodule = module.removeprefix("numba.cuda.")
    # other modules than namespaces are not part of the path
    cuda_path = f"{submodule}.{path}" if cuda_namespace.has_namespace(submodule) else path
    return cuda_namespace.find(cuda_path)


def _in_module(path: str) -> Member | None:
    """Return the member for a module path: ``numba.cuda.cg.this_grid`` -> ``cg.this_grid``."""
    if path == "numba.cuda":
        return cuda_namespace.CUDA
    cuda_path = path.removeprefix("numba.cuda.")
    return cuda_namespace.find(cuda_path) if cuda_path != path else None


def numba_function(value: object) -> FunctionType | None:
    """Return the Python function of a ``numba.njit`` dispatcher, which is a device function."""
    if not type(value).__module__.startswith("numba."):
        return None
    python = getattr(value, "py_func", None)
    return python if isinstance(python, FunctionType) else None


def is_from_buffer(value: object) -> bool:
    """Return whether a function is cffi's ``ffi.from_buffer``, which numba kernels use for C."""
    if not isinstance(value, MethodType) or value.__name__ != "from_buffer":
        return False
    return type(value.__self__).__module__ == "cffi.api"


def numba_type(value: object) -> ParameterType | None:
    """Return the type of ``numba.float32``, ``numba.int32[:, ::1]`` or a tuple, or None."""
    if not type(value).__module__.startswith("numba."):
        member = numba_name(value) if isinstance(value, type) else None
        return member if isinstance(member, Scalar) else None
    items = getattr(value, "types", None)
    if isinstance(items, tuple):
        found = [kind for kind in map(numba_type, items) if kind is not None]
        names = getattr(value, "fields", ())
        return Tuple(tuple(found), tuple(names)) if len(found) == len(items) else None
    if str(value) == "none":
        return NONE
    element = getattr(value, "dtype", None)
    if isinstance(element, np.dtype):
        return _record(element)
    ndim, layout = getattr(value, "ndim", None), getattr(value, "layout", None)
    if element is None:
        return _scalar(value)
    element_type = _scalar(element)
    if element_type is not None and type(value).__name__ == "CPointer":
        return CPointer(element_type)
    if element_type is None or not isinstance(ndim, int) or ndim < 1:
        return None
    return Array(element_type.dtype, ndim, "C" if layout == "C" else "A")


def _record(numpy_dtype: np.dtype[Any]) -> Scalar | None:
    dtype = from_numpy(numpy_dtype)
    return Scalar(dtype) if dtype else None


_RENAMED_TYPES = {"__nv_bfloat16": "bfloat16"}  # where numba's objects have other names


def _scalar(value: object) -> Scalar | None:
    record = getattr(value, "dtype", None)
    if isinstance(record, np.dtype):
        return _record(record)
    name = str(getattr(value, "name", ""))
    dtype = BY_NAME.get(_RENAMED_TYPES.get(name, name))
    return Scalar(dtype) if dtype else None
