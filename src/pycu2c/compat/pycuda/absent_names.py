"""State what replaces the names of PyCUDA that pycu2c does not have."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NoReturn

from pycu2c.compat.cuda_text.diagnostics import TEXTURE_OBJECTS

_GRAPHS = "pycu2c.cuda.graph() captures launches, copies and fills"
_REPLACEMENTS = {
    "Graph GraphExec": _GRAPHS,
    "IPCMemoryHandle": "memory is not shared with other processes",
    "IPCEventHandle": "events are not shared with other processes",
    "DynamicFunction DynamicModule DynamicSourceModule": "pass the whole text to SourceModule",
    "Linker jit_input_type": "SourceModule compiles one text, and links with no other code",
    "SourceModule": "it is in pycu2c.pycuda.compiler",
    "Array ArrayDescriptor ArrayDescriptor3D ArrayFormat SurfaceReference TextureReference "
    "TRSA_OVERRIDE_FORMAT TRSF_NORMALIZED_COORDINATES TRSF_READ_AS_INTEGER TRSF_SRGB address_mode "
    "array3d_flags array_format bind_array_to_texref dtype_to_array_format filter_mode "
    "gpuarray_to_array make_multichannel_2d_array matrix_to_array matrix_to_texref memcpy_atoa "
    "memcpy_atod memcpy_atoh memcpy_dtoa memcpy_htoa np_to_array": TEXTURE_OBJECTS,
    "ScrambledSobol32RandomNumberGenerator ScrambledSobol64RandomNumberGenerator "
    "Sobol32RandomNumberGenerator Sobol64RandomNumberGenerator MRG32k3aRandomNumberGenerator "
    "PhiloxRandomNumberGenerator XORWOWRandomNumberGenerator seed_getter_uniform "
    "seed_getter_unique": "rand returns uniform numbers, and pycu2c.cuda.random has generators "
    "for kernels",
    "InclusiveScanKernel ExclusiveScanKernel": "pycu2c.cuda.block has scans for kernels",
    "get_all_kernel get_any_kernel get_dot_kernel get_minmax_kernel get_sum_kernel": "gpuarray "
    "has functions of these names, and ReductionKernel compiles others",
    "Memcpy2D Memcpy3D mem_alloc_pitch memset_d2d16 memset_d2d32 memset_d2d8": "assign to slices "
    "of a GPUArray",
    "concatenate stack": "assign to slices of gpuarray.empty",
    "logical_and logical_not logical_or mul_add multi_put multi_take multi_take_put fmod frexp "
    "ldexp modf": "write the expression as an ElementwiseKernel",
    "subset_dot subset_max subset_min subset_sum": "reduce gpuarray.take(a, subset)",
    "aligned_empty aligned_zeros register_host_memory": "pagelocked_empty returns aligned, "
    "page-locked memory",
    "managed_empty_like managed_zeros_like pagelocked_empty_like pagelocked_zeros_like "
    "aligned_empty_like aligned_zeros_like": "pass shape and dtype to the function without _like",
    "memcpy_peer memcpy_peer_async": "memcpy_dtod copies between devices, too",
    "start_profiler stop_profiler": "pycu2c.cuda.profiling() is a context of profilers",
    "splay": "choose the grid and the block",
    "DeviceData OccupancyRecord": "kernel.occupancy of pycu2c.cuda.jit, or attributes of Device",
    "PageLockedAllocator PageLockedMemoryPool HostPointer PagelockedHostAllocation "
    "ManagedAllocation": "kernels take arrays of pagelocked_empty and managed_empty as arguments",
    "ArgumentHandler": "In, Out and InOut are functions",
    "ArgumentError": "LogicError",
    "elementwise_text": "ElementwiseKernel(…).inspect()",
    "get_arg_type parse_c_arg register_dtype": "get_or_register_dtype",
    "init_cuda_context_fixture mark_cuda_test": "tests need no context of their own",
    "compile compile_plain": "SourceModule compiles for the current device, and its "
    "inspect('ptx') returns PTX",
    "get_nvcc_version preprocess_source": "nvcc is not used",
    "prepared_timed_call": "call with time_kernel=True, or record events",
}


def getattr_of(module: str) -> Callable[[str], NoReturn]:
    """Return ``__getattr__`` of a module."""
    return functools.partial(reject, f"module {module}")


def reject(owner: str, name: str) -> NoReturn:
    """Raise NotImplementedError for a name of the table, AttributeError for others.

    ``from … import`` replaces an AttributeError by an ImportError, without its text.
    """
    for names, replacement in _REPLACEMENTS.items():
        if name in names.split():
            raise NotImplementedError(f"{owner} has no {name}: {replacement}")
    raise AttributeError(f"{owner} has no attribute {name}", name=name)
