"""Why some tests of numba-cuda fail: patterns of "file::class.test", and the reasons."""

from __future__ import annotations

# documented differences of pycu2c
_EXPLAINED = {
    "test_array.py::*.test_gpu_array_interleaved": "arrays with gaps are accepted",
    "test_array.py::*.test_gpu_array_strided": "launching.md: arrays that are not aligned",
    "test_atomics.py::*.test_atomic_sub3": "numba.md: arguments are checked, uint32 for int32",
    "test_const_string.py::*": "kernels have no arrays of strings",
    "test_cuda_array_slicing.py::*.test_incompatible_*": "the error has another text",
    "test_cuda_memory.py::*": "device memory is an array: there is no Context.memalloc",
    "test_cuda_ndarray.py::*.test_bug6697": "numba.md: device arrays in numpy functions",
    "test_cuda_ndarray.py::*.test_np_array*": "numba.md: device arrays in numpy functions",
    "test_cuda_ndarray.py::*_contiguous_*": "copies between arrays with gaps are accepted",
    "test_enums.py::EnumTest.test_compare": "semantics.md: members of IntEnum are ints",
    "test_enums.py::EnumTest.test_return_from_device_func": "members are compile-time constants",
    "test_errors.py::*": "the error has another text",
    "test_exception.py::*.test_zero_division_error_in_debug": "numba.md: debugging",
    "test_forall.py::*.test_forall_negative_work": "the error has another text",
    "test_host_alloc.py::*": "host memory is an array: there is no Context.memhostalloc",
    "test_intrinsics.py::*_i4*": "numba.md: arguments are checked, 0xffffffff for int32",
    "test_intrinsics.py::*.test_round_to_f4_halfway": "semantics.md: round is NumPy's",
    "test_print.py::*.test_dim3": "cuda.threadIdx is no value",
    "test_ssa.py::TestSSA.test_unhandled_undefined": "errors.md: a name without a value",
    "test_vector_type.py::*_alias": "float4 and float32x4 are equal types, not one object",
    "test_userexc.py::*": "the exception names the thread in other words",
}

# reasons that are no properties of pycu2c
_OUTSIDE = {
    "test_array_alignment.py::TestCudasimUnsupported*": "expects an error of the simulator",
    "test_bfloat16.py::*": "numba's simulator has no bfloat16",
    "test_bfloat16_bindings.py::*": "numba's simulator has no bfloat16",
    "test_libdevice.py::import": "reads numba's table of libdevice",
    "test_reset_device.py::*": "calls numba's driver",
    "test_stream_api.py::*_simulator_unavailable": "expects an error of the simulator",
    "test_tracing.py::*": "tests numba's own tracing",
    "test_typeinfer.py::*": "tests numba's own type inference",
}

REASONS = {"explained": _EXPLAINED, "outside": _OUTSIDE}
