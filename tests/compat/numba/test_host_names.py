"""Modules, classes, errors and PTX compilation under numba's names."""

from __future__ import annotations

import importlib
import subprocess
import sys

import numpy as np
import pytest

import pycu2c
from pycu2c import cuda, types
from pycu2c.cuda_driver import driver
from pycu2c.ops.names.numba_names import HINTS

# of the device side, or numba's own machinery
BESIDES = """
alias config_default_cc HAS_NUMBA implementation numba_cuda_default_ptx_cc
prepare_shape_strides_dtype shfl_sync_intrinsic test vote_sync_intrinsic
"""


def test_names_of_numba_exist_or_state_a_replacement() -> None:
    numba = pytest.importorskip("numba.cuda")
    modules = type(numba)
    for name, result in vars(numba).items():
        if name.startswith("_") or isinstance(result, modules) or name in BESIDES.split():
            continue
        assert hasattr(cuda, name) or name in HINTS, name


NAMES_OF_TYPES = """
int8 int16 int32 int64 uint8 uint16 uint32 uint64 intp uintp intc uintc ssize_t size_t boolean
float32 float64 complex64 complex128 bool_ byte char uchar short ushort int_ uint long_ ulong
longlong ulonglong double void none b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16 bfloat16
"""


@pytest.mark.parametrize("name", NAMES_OF_TYPES.split())
def test_cuda_has_types_as_newer_versions_have_them(name: str) -> None:
    assert getattr(cuda, name) is getattr(types, name)


def test_kernels_know_types_by_cuda(target: str) -> None:
    @cuda.jit(cuda.void(cuda.f4[:], cuda.int32), backend=target)
    def k(out, n):  # type: ignore[no-untyped-def]
        tile = cuda.shared.array(4, cuda.float32)
        i = cuda.grid(1)
        tile[i] = cuda.uint8(n)
        out[i] = tile[i] + cuda.float64(0.5)

    out = np.zeros(4, np.float32)
    k[1, 4](out, 257)
    assert out.tolist() == [1.5] * 4


def test_ufuncs_by_cuda() -> None:
    add = cuda.vectorize(["f4(f4, f4)"])(lambda a, b: a + b)
    assert add(np.float32([1, 2]), np.float32([3, 4])).tolist() == [4, 6]

    @cuda.guvectorize(["void(f4[:], f4[:])"], "(n)->(n)")
    def doubled(a, out):  # type: ignore[no-untyped-def]
        for i in range(len(a)):
            out[i] = a[i] * 2

    assert doubled(np.float32([1, 2])).tolist() == [2, 4]


def test_a_loop_over_a_tuple_that_numba_would_not_unroll(target: str) -> None:
    @cuda.jit(backend=target)
    def k(out):  # type: ignore[no-untyped-def]
        for x in pycu2c.literal_unroll((1, 2.5, out[0])):
            out[0] += x

    out = np.ones(1)
    k[1, 1](out)
    assert out.tolist() == [5.5]
    assert cuda.literal_unroll((1, 2)) == (1, 2)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("devicearray", "DeviceNDArray is_cuda_ndarray"),
        ("driver", "Context CudaAPIError Device Event MemoryInfo Stream"),
        ("devices", "get_context gpus reset require_context"),
        ("error", "CudaDriverError CudaRuntimeError CudaSupportError NvvmError"),
        ("runtime", "runtime Runtime"),
    ],
)
def test_modules_of_the_driver(path: str, names: str) -> None:
    module = importlib.import_module(f"pycu2c.cuda.cudadrv.{path}")
    assert getattr(cuda.cudadrv, path) is module
    for name in names.split():
        assert hasattr(module, name), name


def test_classes_are_those_of_what_is_made() -> None:
    array = cuda.to_device(np.zeros(3))
    assert isinstance(array, cuda.devicearray.DeviceNDArray)
    assert cuda.devicearray.is_cuda_ndarray(array)
    assert not cuda.devicearray.is_cuda_ndarray(np.zeros(3))
    assert isinstance(cuda.stream(), cuda.driver.Stream)
    assert isinstance(cuda.event(), cuda.cudadrv.driver.Event)
    assert isinstance(cuda.current_context(), cuda.driver.Context)
    assert isinstance(cuda.current_context().get_memory_info(), cuda.MemoryInfo)


def test_modules_of_the_driver_are_imported_with_their_package() -> None:
    program = "from pycu2c import cuda; cuda.cudadrv.error.CudaSupportError, cuda.cudadrv.driver"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.skipif(driver.available(), reason="needs a machine without a GPU")
def test_errors_are_those_that_are_raised() -> None:
    with pytest.raises(cuda.cudadrv.error.CudaSupportError):
        cuda.select_device(1)
    with pytest.raises(cuda.cudadrv.driver.CudaAPIError):
        cuda.compile_ptx_for_current_device(fill, "void(f4[:], f4)")
    with pytest.raises(pycu2c.CudaError):
        cuda.compile_for_current_device(fill, "void(f4[:], f4)", device=False)


@pycu2c.njit
def half(x):  # type: ignore[no-untyped-def]
    return x / 2


@pycu2c.jit("f8(f8)", nopython=True, cache=True)
def twice(x):  # type: ignore[no-untyped-def]
    return x * 2


@pycu2c.njit(parallel=True)
def with_a_dict(x):  # type: ignore[no-untyped-def]
    found = {}
    for i in pycu2c.prange(3):
        found[i] = x
    return found


def test_functions_of_the_host_are_device_functions_too(target: str) -> None:
    @cuda.jit(backend=target)
    def k(out):  # type: ignore[no-untyped-def]
        out[cuda.grid(1)] = half(3) + twice(cuda.grid(1))

    out = np.zeros(2)
    k[1, 2](out)
    assert out.tolist() == [1.5, 3.5]
    assert half.py_func(3) == half(3) == 1.5
    assert with_a_dict(1) == {0: 1, 1: 1, 2: 1}

    @cuda.jit(backend=target)
    def wrong(out):  # type: ignore[no-untyped-def]
        out[0] = with_a_dict(1)

    with pytest.raises(pycu2c.CompileError, match=r"found = \{\}"):
        wrong[1, 1](out)


def test_errors_and_settings_by_numbas_paths() -> None:
    errors = importlib.import_module("pycu2c.core.errors")
    assert issubclass(errors.NumbaPerformanceWarning, Warning)
    assert errors.TypingError is pycu2c.CompileError
    core = importlib.import_module("pycu2c.core.types")
    assert core.float32 is pycu2c.types.float32
    assert importlib.import_module("pycu2c.core.config").DISABLE_JIT is False
    support = importlib.import_module("pycu2c.np.numpy_support")
    assert support.as_dtype(support.from_dtype(np.float32)) == np.float32
    with pytest.raises(NotImplementedError, match="NumPy dtype"):
        support.as_dtype(pycu2c.float32[:])
    assert pycu2c.NumbaPerformanceWarning is errors.NumbaPerformanceWarning
    assert pycu2c.config.ENABLE_CUDASIM in (True, False)
    pycu2c.config.CUDA_LOW_OCCUPANCY_WARNINGS = False


def test_hints_of_arguments() -> None:
    kernel = cuda.jit(shared_memory_carveout=50)(fill)
    out = np.zeros(4, np.float32)
    kernel[1, 4](cuda.Out(value=out), 2)
    kernel[1, 4](cuda.InOut(value=out), 3)
    assert out.tolist() == [3] * 4
    assert cuda.In(value=out).copy_to_host().tolist() == [3] * 4


def fill(out, value):  # type: ignore[no-untyped-def]
    out[cuda.grid(1)] = value


def test_ptx_without_a_launch() -> None:
    text, result = cuda.compile_ptx(fill, "void(f4[:], f4)", cc=(8, 0))
    assert ".target sm_80" in text
    assert ".entry fill" in text
    assert result is types.void
    again, _ = cuda.compile(cuda.jit(fill), (types.f4[:], types.f4), device=False, cc=(8, 0))
    assert again == text
    fast, _ = cuda.compile_ptx(third, "void(f4[:])", fastmath=True)
    assert "div.approx" in fast
    settings = {"launch_bounds": (128, 2), "forceinline": True}
    bounded, _ = cuda.compile(fill, "void(f4[:], f4)", device=False, cc=(8, 0), **settings)
    assert ".maxntid 128" in bounded
    assert ".minnctapersm 2" in bounded


def third(out):  # type: ignore[no-untyped-def]
    out[0] = 3 / out[0]


def scaled(x, n):  # type: ignore[no-untyped-def]
    return half(x) * n


def ones(a):  # type: ignore[no-untyped-def]
    for i in range(len(a)):
        a[i] = 1


def test_ptx_of_a_function_for_others() -> None:
    text, result = cuda.compile(scaled, "float64(float32, int32)", cc=(8, 0))
    assert result == types.float64
    assert ".target sm_80" in text
    assert ".visible .func  (.param .b64 func_retval0) scaled(" in text
    assert ".entry" not in text
    text, result = cuda.compile(scaled, (types.f4, types.i4), abi_info={"abi_name": "half"})
    assert result == types.float64
    assert ".visible .func  (.param .b64 func_retval0) half(" in text
    text, result = cuda.compile_ptx(ones, (types.f4[::1],), device=True)
    assert result is types.void
    assert ".visible .func ones(" in text
    fast, _ = cuda.compile(lambda x: 3 / x, "f4(f4)", fastmath=True)
    assert "div.approx" in fast


def test_functions_that_are_not_compiled() -> None:
    with pytest.raises(NotImplementedError, match="a function for C must return one number"):
        cuda.compile(lambda x: (x, x), (types.f4,))
    with pytest.raises(NotImplementedError, match="prints"):
        cuda.compile(lambda x: print(x), (types.f4,))
    with pytest.raises(NotImplementedError, match="kernels are compiled to PTX, not to 'ltoir'"):
        cuda.compile(fill, "void(f4[:], f4)", device=False, output="ltoir")
    with pytest.raises(NotImplementedError, match="PTX and LTO-IR, not to 'cubin'"):
        cuda.compile(scaled, "float64(float32, int32)", output="cubin")
