"""The tests of other packages that run with pycu2c, and why some of them fail."""

from __future__ import annotations

from pathlib import Path

from support.peer_suites import Suite

_SCRIPTS = Path(__file__).resolve().parents[1] / "peers"

CUPY = Suite(
    script=_SCRIPTS / "cupy.py",
    variable="PYCU2C_CUPY_SUITE",
    root="tests",
    files=(
        "cupy_tests/core_tests/test_userkernel.py",
        "cupy_tests/core_tests/test_reduction.py",
        "cupy_tests/core_tests/test_carray.py",
        "cupy_tests/core_tests/test_raw.py",
        *(
            f"cupy_tests/core_tests/fusion_tests/test_{name}.py"
            for name in (
                "array",
                "indexing",
                "kernel_cache",
                "misc",
                "optimization",
                "reduction",
                "routines",
                "ufunc",
            )
        ),
        *(
            f"cupyx_tests/jit_tests/test_{name}.py"
            for name in ("raw", "device_function", "cooperative_groups", "cub", "thrust")
        ),
    ),
    arguments=("-m", "not slow"),  # gigabytes, and Jitify, which CuPy no longer supports
    explained={
        "*::*cached_code": "reads CuPy's own cache",
        "test_raw.py::TestCachePayload::*": "reads CuPy's own cache",
        "test_raw.py::TestRawNameExpressionCache::*": "reads CuPy's own cache",
        "test_raw.py::*test_load_cubin*": "runs nvcc",
        "test_raw.py::*test_load_ptx*": "runs nvcc",
        "test_raw.py::*test_context_switch_RawModule[34]*": "runs nvcc",
        "test_raw.py::*test_kernel_attributes*": "registers exist only on a GPU",
        "test_raw.py::*test_dynamical_parallelism[[]*": "launches from kernels: not on the CPU",
        "test_raw.py::*test_cu*Complex*": "compares all bits with numpy's quotient, without FMA",
        "test_raw.py::*test_template_failure[[]NVCC*": "pycu2c compiles it: nvcc means NVRTC",
        "test_reduction.py::TestArgumentTypes::*": "the arrays are in host memory",
        "test_kernel_cache.py::*": "counts the calls of CuPy's tracer",
        "test_optimization.py::*_inplace_same_*": "docs/cupy.md: overlapping arrays",
        "test_misc.py::TestFusionInvalid::test_branch": "docs/cupy.md: `if` is compiled",
        "test_misc.py::TestFusionGetArrayModule::*": "traced arrays are of no package",
        "test_misc.py::TestOldFusionExplicit::*": "calls CuPy's former tracer",
        "test_raw.py::TestRaw::test_range*": "reads the generated text of CuPy",
        "test_raw.py::TestRaw::test_error_msg": "CompileError, not NameError",
        "test_raw.py::TestRaw::test_raw_grid_invalid*": "CompileError, not ValueError",
        "test_device_function.py::*_recursive": "CompileError, not ValueError",
        "test_raw.py::TestRaw::test_raw_0dim_array": "docs/cupy.md: arrays without axes",
        "test_device_function.py::*_duplicated_names": "docs/cupy.md: maker(10)(x)",
        "test_device_function.py::*_template_recursion": "docs/cupy.md: maker(10)(x)",
        "test_cub.py::*": "docs/cupy.md: jit.cub",
        "test_thrust.py::*": "docs/cupy.md: jit.thrust",
    },
)

PYCUDA = Suite(
    script=_SCRIPTS / "pycuda.py",
    variable="PYCU2C_PYCUDA_SUITE",
    root="test",
    files=("test_cumath.py", "test_driver.py", "test_gpuarray.py"),
    arguments=("-k", "not 8gb and not 16gb and not big_array"),
    explained={
        "test_cumath.py::test_sin": "sinf has CUDA's bound, 2 ulp; the test's is tighter",
        "test_cumath.py::test_cos": "cosf has CUDA's bound, 2 ulp; the test's is tighter",
        "test_gpuarray.py::*test_complex_bits": "imports pytools",
        "test_driver.py::*test_gpuarray_cai": "the arrays are in host memory",
        "test_driver.py::*test_recursive_launch": "launches from kernels: not on the CPU",
        "test_driver.py::*test_jit_link_module": "launches from kernels: not on the CPU",
    },
)
