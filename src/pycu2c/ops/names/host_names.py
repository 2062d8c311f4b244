"""Names of ``cuda`` for the host, and the modules that define them. In a kernel they are errors.

The modules are imported on first use.
"""

from __future__ import annotations

_NAMES_BY_MODULE = {
    "pycu2c.devices.allocation": (
        "to_device device_array device_array_like pinned_array pinned_array_like mapped_array "
        "mapped_array_like managed_array mapped pinned In InOut Out"
    ),
    "pycu2c.devices.interoperability": "is_cuda_array",
    "pycu2c.devices.streams": (
        "Event Stream default_stream event event_elapsed_time external_stream "
        "legacy_default_stream per_thread_default_stream profile_start profile_stop profiling "
        "stream synchronize"
    ),
    "pycu2c.devices.array": "DeviceArray as_cuda_array from_cuda_array_interface from_dlpack",
    "pycu2c.devices.ipc": "IpcArrayHandle",
    "pycu2c.devices.cpu_device": "MemoryInfo",
    "pycu2c.devices.gpu_device": "Gpu defer_cleanup",
    "pycu2c.devices.gpu_selection": (
        "can_access_peer get_current_device gpus is_available list_devices select_device"
    ),
    "pycu2c.cuda.cudadrv.error": "CudaSupportError",
    "pycu2c.devices.contexts": (
        "close cuda_error current_context detect is_bfloat16_supported is_float16_supported "
        "is_fp8_supported is_supported_version require_context runtime"
    ),
    "pycu2c.inline_c.functions": "c_function declare_device ptx_function",
    "pycu2c.inline_c.link_objects": (
        "Archive CSource CUSource Cubin Fatbin LTOIR LinkableCode Object PTXSource"
    ),
    "pycu2c.devices.graphs": "Graph graph",
    "pycu2c.compat.numba.compile_ptx": (
        "compile compile_for_current_device compile_ptx compile_ptx_for_current_device"
    ),
    "pycu2c.compat.numba.jit_decorator": "jit",
    "pycu2c.compat.numba.device_ufuncs": "guvectorize vectorize",
    "pycu2c.ops.names.loop_hints": "literal_unroll unroll",
    "pycu2c.compat.numba.reduce": "Reduce reduce",
    "pycu2c.devices.tensor_maps": "TensorMap",
    "pycu2c.devices.textures": "Surface Texture surface texture",
    "pycu2c.types": "none void",
}
# submodules of ``cuda``, by name; some have functions for kernels, such as ``random``
MODULES = {
    "barrier": "pycu2c.cuda.barrier",
    "block": "pycu2c.cuda.block",
    "cudadrv": "pycu2c.cuda.cudadrv",
    "devicearray": "pycu2c.cuda.cudadrv.devicearray",
    "devices": "pycu2c.cuda.cudadrv.devices",
    "driver": "pycu2c.cuda.cudadrv.driver",
    "griddepcontrol": "pycu2c.cuda.griddepcontrol",
    "mma": "pycu2c.cuda.mma",
    "pipeline": "pycu2c.cuda.pipeline",
    "random": "pycu2c.cuda.random",
    "tcgen05": "pycu2c.cuda.tcgen05",
    "tma": "pycu2c.cuda.tma",
    "types": "pycu2c.types",
    "warp": "pycu2c.cuda.warp",
    "wgmma": "pycu2c.cuda.wgmma",
    "wmma": "pycu2c.cuda.wmma",
}
HOST_NAMES = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names.split()}

HOST_ONLY_HINT = "this function is for the host: call it before the launch, and pass its result"
