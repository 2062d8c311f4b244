"""The tests of other packages that run with pycu2c, and the reasons of those that do not pass."""

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
        "cupyx_tests/jit_tests/test_raw.py",
        "cupyx_tests/jit_tests/test_device_function.py",
        "cupyx_tests/jit_tests/test_cooperative_groups.py",
    ),
    arguments=("-m", "not slow"),  # gigabytes, and Jitify, which CuPy no longer supports
    uncounted={
        "core_tests/test_userkernel.py::*::test_cached_code": "reads CuPy's own cache",
        "core_tests/test_reduction.py::TestReductionKernelCachedCode::*": "reads CuPy's own cache",
        "core_tests/test_raw.py::TestCachePayload::*": "reads CuPy's own cache",
        "core_tests/test_raw.py::TestRawNameExpressionCache::*": "reads CuPy's own cache",
        "core_tests/test_raw.py::*::test_load_cubin*": "runs nvcc",
        "core_tests/test_raw.py::*::test_load_ptx*": "runs nvcc",
        "core_tests/test_raw.py::*::test_context_switch_RawModule[34]*": "runs nvcc",
        "core_tests/test_raw.py::*::test_kernel_attributes*": "counts registers of a GPU",
        "core_tests/test_reduction.py::TestArgumentTypes::*": "rejects arrays in host memory",
    },
    known_failures={
        "core_tests/test_raw.py::*::test_template_failure[[]NVCC*": "compiles: nvcc means NVRTC",
        "core_tests/test_raw.py::*::test_dynamical_parallelism*": "cuda_text.md: launches",
        "jit_tests/test_raw.py::TestRaw::test_range[[]*": "cupy.md: unroll has no effect",
        "jit_tests/test_raw.py::TestRaw::test_error_msg": "another text of the error",
        "jit_tests/test_cooperative_groups.py::*_memcpy_async_*": "cupy.md: jit.cg",
    },
)
