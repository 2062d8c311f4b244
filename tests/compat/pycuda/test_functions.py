"""Kernels by PyCUDA's names: calls, prepared calls, attributes. On the GPU, or the CPU where there
is none."""

from __future__ import annotations

import numpy as np
import pytest

import pycu2c.pycuda.driver as drv
from pycu2c import cuda
from pycu2c.cuda_driver import driver as our_driver
from pycu2c.pycuda import gpuarray
from pycu2c.pycuda.compiler import SourceModule

RNG = np.random.default_rng(5)
MODULE = SourceModule("""
struct pair { int first; double second; };

__global__ void multiply_them(float *dest, float *a, float *b)
{
  const int i = threadIdx.x * blockDim.y + threadIdx.y;
  dest[i] = a[i] * b[i];
}

__global__ void scaled(float *x, float factor, int n)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

__global__ void set_them(float3 *dest, float3 x) { dest[threadIdx.x] = x; }

__global__ void second(double *out, pair p) { *out = p.second + p.first; }

__global__ void reversed(int *x)
{
  extern __shared__ int room[];
  room[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

__global__ void where(int *out)
{
  out[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = blockIdx.y;
}

__constant__ float const_array[32];
__device__ int counted;

__global__ void copy_constant(float *out)
{
  out[threadIdx.x] = const_array[threadIdx.x];
  if (threadIdx.x == 0) counted = 7;
}
""")
multiply_them, scaled = MODULE.get_function("multiply_them"), MODULE.get_function("scaled")


@pytest.fixture
def pair() -> tuple[np.ndarray, np.ndarray]:
    a, b = (RNG.standard_normal(400).astype(np.float32) for _ in range(2))
    return a, b


# ---- calls -------------------------------------------------------------------------------------


def test_arrays_of_the_host(pair: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = pair
    dest = np.zeros_like(a)
    multiply_them(drv.Out(dest), drv.In(a), drv.In(b), block=(400, 1, 1))
    assert (dest == a * b).all()
    before = a.copy()
    scaled(drv.InOut(a), np.float32(2), np.int32(400), block=(256, 1, 1), grid=(2, 1))
    assert (a == 2 * before).all()
    scaled(drv.In(a), np.float32(2), np.int32(400), block=(256, 1, 1), grid=(2, 1))
    assert (a == 2 * before).all()


def test_memory_of_the_device(pair: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = pair
    a_gpu, b_gpu, dest = drv.to_device(a), gpuarray.to_gpu(b), np.zeros_like(a)
    multiply_them(drv.Out(dest), a_gpu, b_gpu, block=(400, 1, 1))
    assert (dest == a * b).all()
    dest[:] = 0
    multiply_them(drv.Out(dest), np.intp(a_gpu) + a.itemsize, b_gpu, block=(399, 1, 1))
    assert (dest[:-1] == a[1:] * b[:-1]).all()


def test_arrays_of_this_package(pair: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = pair
    there = cuda.to_device(a)
    dest = np.zeros_like(a)
    multiply_them(drv.Out(dest), there, drv.In(b), block=(400, 1, 1))
    assert (dest == a * b).all()


def test_managed_memory_is_passed_as_it_is() -> None:
    a = drv.managed_zeros(10, np.float32)
    a[:] = 3
    scaled(a, np.float32(2), np.int32(10), block=(32, 1, 1))
    drv.Context.synchronize()
    assert (a == 6).all()


def test_vectors_and_records_are_passed_by_value() -> None:
    set_them = MODULE.get_function("set_them")
    a = gpuarray.vec.make_float3(1, 2, 3)
    dest = np.empty(400, gpuarray.vec.float3)
    set_them(drv.Out(dest), a, block=(400, 1, 1))
    assert (dest == a).all()
    record = np.dtype([("first", np.int32), ("second", np.float64)], align=True)
    out = np.zeros(1)
    arguments = np.array((3, 1.5), record)
    for each in (arguments, arguments[()]):
        MODULE.get_function("second")(drv.Out(out), each, block=(1, 1, 1))
        assert out[0] == 4.5


def test_streams(pair: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = (drv.pagelocked_empty((32, 8), np.float32) for _ in range(2))
    a[:], b[:] = RNG.random((32, 8)), RNG.random((32, 8))
    a_gpu, b_gpu, stream = drv.mem_alloc(a.nbytes), drv.mem_alloc(b.nbytes), drv.Stream()
    drv.memcpy_htod_async(a_gpu, a, stream)
    drv.memcpy_htod_async(b_gpu, b, stream)
    dest = drv.pagelocked_empty(a.shape, a.dtype)
    multiply_them(drv.Out(dest), a_gpu, b_gpu, block=(32, 8, 1), stream=stream)
    assert (dest == a * b).all()


def test_grids_have_two_axes_and_three() -> None:
    out = np.zeros((3, 2, 4), np.int32)
    MODULE.get_function("where")(drv.Out(out), grid=(2, 3), block=(4, 1, 1))
    assert (out == np.arange(3)[:, None, None]).all()
    MODULE.get_function("where")(drv.Out(out), grid=(np.int64(2), 3, 1), block=(4,))
    assert (out == np.arange(3)[:, None, None]).all()


def test_shared_memory_of_the_launch() -> None:
    x = np.arange(64, dtype=np.int32)
    MODULE.get_function("reversed")(drv.InOut(x), block=(64, 1, 1), shared=256)
    assert x.tolist() == [*range(63, -1, -1)]


def test_the_time_of_a_kernel() -> None:
    x = gpuarray.zeros(1000, np.float32)
    taken = scaled(x, np.float32(2), np.int32(1000), block=(1000, 1, 1), time_kernel=True)
    assert taken is not None
    assert 0 < taken < 10


# ---- what is refused ---------------------------------------------------------------------------


def test_python_numbers_have_the_types_of_their_parameters() -> None:
    x = np.ones(10, np.float32)  # a host array is also copied back without InOut
    scaled(x, 2.5, 9, block=(10, 1, 1))
    assert x.tolist() == [2.5] * 9 + [1]


def test_arguments_that_do_not_fit() -> None:
    x = gpuarray.zeros(10, np.float32)
    with pytest.raises(drv.LaunchError, match=r"takes 3 arguments \(x, factor, n\), 2 given"):
        scaled(x, np.float32(2), block=(10, 1, 1))
    with pytest.raises(drv.LaunchError, match=r"\(n\) is a str"):
        scaled(x, np.float32(1), "n", block=(10, 1, 1))
    with pytest.raises(drv.LaunchError, match="factor"):
        scaled(x, np.float64(2), np.int32(10), block=(10, 1, 1))


def test_launches_that_cannot_be() -> None:
    x = gpuarray.zeros(10, np.float32)
    arguments = x, np.float32(2), np.int32(10)
    with pytest.raises(ValueError, match="must specify block size"):
        drv.Function(scaled.kernel)(*arguments)
    with pytest.raises(drv.LaunchError, match="at most 1024 threads"):
        scaled(*arguments, block=(64, 64, 1))
    with pytest.raises(drv.LaunchError, match="at least 1"):
        scaled(*arguments, block=(64, 1, 1), grid=(0, 1))


def test_block_counts_are_integers() -> None:
    x = gpuarray.zeros(4, np.float32)
    for extents in ({"block": (4, 1, 1), "grid": (4 / 3, 1)}, {"block": (4.0, 1, 1)}):
        with pytest.raises(drv.LaunchError, match="takes integers"):
            scaled(x, np.float32(2), np.int32(4), **extents)
    with pytest.raises(TypeError, match="block must be a tuple"):
        scaled(x, np.float32(2), np.int32(4), block=4)
    scaled(x, np.float32(2), np.int32(4), block=(np.int32(4), 1, 1), grid=[np.uint8(1)])


def test_missing_names() -> None:
    with pytest.raises(drv.LogicError, match="did you mean scaled"):
        MODULE.get_function("scale")
    with pytest.raises(drv.LogicError, match="cuModuleGetGlobal"):
        MODULE.get_global("nothing")


# ---- variables ---------------------------------------------------------------------------------


def test_variables_of_a_module() -> None:
    address, size = MODULE.get_global("const_array")
    assert size == 128
    host = RNG.random(32).astype(np.float32)
    drv.memcpy_htod(address, host)
    out = drv.mem_alloc_like(host)
    MODULE.get_function("copy_constant")(out, grid=(1, 1), block=(32, 1, 1))
    assert (drv.from_device_like(out, host) == host).all()
    counted = drv.from_device(MODULE.get_global("counted")[0], (), np.int32)
    assert counted == 7
    drv.memcpy_htod(int(address) + 4, host[:1])
    assert drv.from_device(address, 2, np.float32)[1] == host[0]


# ---- prepared calls ----------------------------------------------------------------------------


def test_prepared_calls_with_and_without_a_block() -> None:
    a = RNG.random((4, 4)).astype(np.float32)
    memory = drv.to_device(a)
    function = SourceModule(
        "__global__ void doublify(float *a) { a[threadIdx.x + threadIdx.y * blockDim.x] *= 2; }"
    ).get_function("doublify")
    assert function.prepare("P") is function
    function.prepared_call((1, 1), (4, 4, 1), memory, shared_size=20)
    assert (drv.from_device_like(memory, a) == 2 * a).all()
    function.prepare("P", block=(15, 1, 1)).prepared_call((1, 1), int(memory) + a.itemsize)
    assert (drv.from_device_like(memory, a).ravel()[1:] == 4 * a.ravel()[1:]).all()
    assert drv.from_device_like(memory, a).ravel()[0] == 2 * a.ravel()[0]


def test_a_prepared_function_with_a_block_is_called() -> None:
    memory = drv.to_device(np.ones(300, np.float32))
    prepared = scaled.prepare("Pfi", block=(256, 1, 1))
    prepared(memory, 3, 300, grid=(2, 1))
    assert (drv.from_device(memory, 300, np.float32) == 3).all()


def test_prepared_calls_in_streams() -> None:
    a = RNG.random(300).astype(np.float32)
    memory, stream = drv.to_device(a), drv.Stream()
    scaled.prepare(["P", np.float32, np.dtype(np.int32)], block=(256, 1, 1))
    scaled.prepared_async_call((2, 1), (256, 1, 1), stream, memory, 2, 300)
    scaled.prepared_async_call((2, 1), stream, memory, 2, 300)
    scaled.prepared_async_call((2, 1), None, memory, 2, 300)
    stream.synchronize()
    drv.Context.synchronize()
    assert (drv.from_device_like(memory, a) == 8 * a).all()


def test_prepared_calls_pass_vectors() -> None:
    set_them = MODULE.get_function("set_them")
    memory = drv.mem_alloc(12 * 5)
    for types in (["P", gpuarray.vec.float3], "P12s"):
        set_them.prepare(types)
        set_them.prepared_call((1, 1), (5, 1, 1), memory, gpuarray.vec.make_float3(1, 2, 3))
        assert drv.from_device(memory, 15, np.float32).tolist() == [1, 2, 3] * 5


def test_errors_of_prepared_calls() -> None:
    function = SourceModule(VOID).get_function("nothing")
    with pytest.raises(drv.LogicError, match="is not prepared"):
        function.prepared_call((1, 1), (1, 1, 1))
    function.prepare("PPif")
    with pytest.raises(TypeError, match="prepared for 4 arguments, and is called with 1"):
        function.prepared_call((1, 1), (1, 1, 1), 0)
    with pytest.raises(drv.LogicError, match="not a list of types"):
        function.prepare("P*")
    with pytest.raises(TypeError, match="block must be a tuple"):
        function.prepare("P", block=256)


VOID = "__global__ void nothing() {}"


# ---- attributes --------------------------------------------------------------------------------


def test_attributes() -> None:
    function = MODULE.get_function("reversed")
    assert function.max_threads_per_block == 1024 or our_driver.available()
    names = ("num_regs", "shared_size_bytes", "const_size_bytes", "local_size_bytes")
    for name in names:
        raised = getattr(function, name)
        assert raised == function.get_attribute(drv.function_attribute[name.upper()]) >= 0
    if our_driver.available():
        assert function.num_regs > 0
    which = drv.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
    function.set_attribute(which, 4096)
    assert function.get_attribute(which) == 4096
    function.set_cache_config(drv.func_cache.PREFER_SHARED)


def test_the_text_can_be_inspected() -> None:
    assert "out[threadIdx.x] = const_array" in scaled.inspect()
    assert "scaled" in scaled.inspect("ptx")
    assert MODULE.inspect() == scaled.inspect()
    assert "pycu2c" in MODULE.inspect("c")
