"""Programs for PyCUDA: structures with pointers, shared counters, complex numbers, constants,
threads.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import pycu2c.pycuda.autoinit
import pycu2c.pycuda.driver as cuda
from pycu2c.cuda import graph
from pycu2c.pycuda import gpuarray
from pycu2c.pycuda.compiler import SourceModule
from pycu2c.pycuda.elementwise import ElementwiseKernel

RNG = np.random.default_rng(11)


def test_structures_with_pointers() -> None:
    module = SourceModule("""
struct Row { int length, unused; float *numbers; };
__global__ void halve(Row *rows)
{
    Row *row = rows + blockIdx.x;
    for (int i = threadIdx.x; i < row->length; i += blockDim.x) row->numbers[i] /= 2;
}""")
    halve = module.get_function("halve")
    texts = [np.float32([2, 4, 6]), np.float32([8])]
    there = [cuda.to_device(text) for text in texts]
    size = 8 + np.intp(0).nbytes
    rows = cuda.mem_alloc(2 * size)
    for k, (text, memory) in enumerate(zip(texts, there)):
        cuda.memcpy_htod(int(rows) + k * size, np.int32([text.size, 0]))
        cuda.memcpy_htod(int(rows) + k * size + 8, np.intp([int(memory)]))

    def found() -> list[list[float]]:
        return [cuda.from_device(m, t.shape, t.dtype).tolist() for m, t in zip(there, texts)]

    halve(rows, block=(32, 1, 1), grid=(2, 1))
    assert found() == [[1, 2, 3], [4]]
    halve(np.intp(int(rows) + size), block=(32, 1, 1), grid=(1, 1))
    assert found() == [[1, 2, 3], [2]]
    halve.prepare("P").prepared_call((1, 1), (32, 1, 1), int(rows))
    assert found() == [[0.5, 1, 1.5], [2]]


def test_counters_in_shared_memory() -> None:
    text = """
__global__ void select(const float *a, int *places, float limit, int *count)
{
    __shared__ int mine[BLOCK], found;
    __shared__ int *counter;
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (threadIdx.x == 1) { counter = &found; found = 0; }
    __syncthreads();
    if (a[i] >= limit) mine[atomicAdd(counter, 1)] = i;
    __syncthreads();
    __shared__ int before;
    if (threadIdx.x == 0) before = atomicAdd(count, found);
    __syncthreads();
    if (threadIdx.x < found) places[before + threadIdx.x] = mine[threadIdx.x];
}"""
    module = SourceModule(text, options=["-DBLOCK=128"])
    a = RNG.random(128 * 20).astype(np.float32)
    there, places = gpuarray.to_gpu(a), gpuarray.to_gpu(np.full(a.size, -1, np.int32))
    count = cuda.mem_alloc(4)
    cuda.memset_d32(count, 0, 1)
    select = module.get_function("select").prepare("PPfP", block=(128, 1, 1))
    start, stop = cuda.Event(), cuda.Event()
    start.record()
    select.prepared_call((20, 1), there.gpudata, places.gpudata, 0.9, count)
    stop.record()
    stop.synchronize()
    result = places.get()
    assert sorted(result[result >= 0]) == np.flatnonzero(a >= np.float32(0.9)).tolist()
    assert stop.time_since(start) >= 0


def test_complex_numbers_that_are_iterated() -> None:
    steps = ElementwiseKernel(
        "pycuda::complex<float> *z, pycuda::complex<float> *q, int *left, int most",
        "for (int n = 0; n < most; n++) { z[i] = z[i] * z[i] + q[i]; if (abs(z[i]) > 2.0f) {"
        " left[i] = n; z[i] = pycuda::complex<float>(); q[i] = pycuda::complex<float>(); } }",
        "iterated",
        preamble="#include <pycuda-complex.hpp>",
    )
    q = (np.linspace(-2, 1, 60)[:, None] + 1j * np.linspace(-1, 1, 40)).astype(np.complex64)
    z, left = gpuarray.zeros(q.shape, np.complex64), gpuarray.zeros(q.shape, np.int32)
    steps(z, gpuarray.to_gpu(q), left, 20)
    by_arrays, points, expected = np.zeros_like(q), q.copy(), np.zeros(q.shape, np.int32)
    for n in range(20):
        by_arrays = by_arrays * by_arrays + points
        gone = abs(by_arrays) > 2
        expected[gone], by_arrays[gone], points[gone] = n, 0, 0
    assert (left.get() != expected).mean() < 0.01  # of points at the edge


def test_choices_by_comparisons() -> None:
    z = RNG.random(50) + 1j * RNG.random(50)
    there, zeros = gpuarray.to_gpu(z), gpuarray.zeros(50, np.complex128)
    large = abs(there).real > gpuarray.to_gpu(np.full(50, 0.5))
    chosen = gpuarray.if_positive(large, zeros, there)
    np.testing.assert_allclose(chosen.get(), np.where(abs(z) > 0.5, 0, z))


def test_pictures_of_bytes() -> None:
    module = SourceModule("""
extern __shared__ unsigned char row[];
__global__ void edges(unsigned char *out, cudaTextureObject_t picture, int width)
{
    const int x = threadIdx.x, y = blockIdx.x;
    row[x] = tex2D<unsigned char>(picture, x, y);
    __syncthreads();
    const int next = row[x + 1 < width ? x + 1 : x];
    out[y * width + x] = abs(next - row[x]);
}""")
    picture = RNG.integers(0, 255, (6, 20)).astype(np.uint8)
    texture = pycu2c.cuda.texture(picture)
    extents = {"block": (20, 1, 1), "grid": (6, 1)}
    out, edges = np.zeros_like(picture), module.get_function("edges")
    edges(cuda.Out(out), texture, np.int32(20), shared=20, **extents)
    wide = np.pad(picture.astype(int), ((0, 0), (0, 1)), "edge")
    assert (out == abs(np.diff(wide, axis=1))).all()
    there = gpuarray.zeros(out.shape, np.uint8)
    edges.prepare("PPi", extents["block"], shared=20)
    edges.prepared_call(extents["grid"], there.gpudata, texture, 20)
    assert (there.get() == out).all()


def test_constants_and_deprecated_names() -> None:
    module = SourceModule("""
#define TIMES(a, b) __mul24(a, b)
__device__ __constant__ float weights[3];
__global__ void smooth(float *out, const float *in, int n)
{
    const int i = TIMES(blockIdx.x, blockDim.x) + threadIdx.x;
    if (i < 1 || i >= n - 1) return;
    out[i] = in[i - 1] * weights[0] + in[i] * weights[1] + in[i + 1] * weights[2];
}""")
    address, size = module.get_global("weights")
    assert size == 12
    cuda.memcpy_htod(address, np.float32([0.25, 0.5, 0.25]))
    x = RNG.random(100).astype(np.float32)
    there, out = cuda.mem_alloc_like(x), np.zeros_like(x)
    cuda.memcpy_htod(there, x)
    module.get_function("smooth")(
        cuda.InOut(out), there, np.int32(100), block=(32, 1, 1), grid=(4, 1)
    )
    np.testing.assert_allclose(out[1:-1], np.convolve(x, [0.25, 0.5, 0.25], "valid"), rtol=1e-6)


def test_templates_behind_kernels() -> None:
    module = SourceModule(
        """template <class T> __device__ T more(T x) { return x + 1; }
extern "C" { __global__ void each(float *a, int n) {
    if (threadIdx.x < n) a[threadIdx.x] = more(a[threadIdx.x]);
} }""",
        no_extern_c=1,
    )
    x = gpuarray.zeros(5, np.float32)
    module.get_function("each")(x.gpudata, np.uint32(5), block=(8, 1, 1))
    assert x.get().tolist() == [1] * 5


def test_streams_and_threads() -> None:
    module = SourceModule("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }")
    twice = module.get_function("twice")
    data = [RNG.random(400).astype(np.float32) for _ in range(3)]
    memory, streams = [cuda.to_device(d) for d in data], [cuda.Stream() for _ in data]
    events = [(cuda.Event(), cuda.Event()) for _ in data]
    for _ in range(4):
        for place, stream, (begin, end) in zip(memory, streams, events):
            begin.record(stream)
            twice(place, block=(400, 1, 1), stream=stream)
            end.record(stream)
    cuda.Context.synchronize()
    for place, d, (begin, end) in zip(memory, data, events):
        assert (cuda.from_device_like(place, d) == 16 * d).all()
        assert begin.time_till(end) >= 0

    result: dict[int, Any] = {}

    def run(k: int) -> None:
        context = cuda.Device(0).make_context()
        there = cuda.to_device(data[k])
        twice_here = SourceModule("__global__ void f(float *x) { x[threadIdx.x] *= 2; }")
        twice_here.get_function("f")(there, block=(400, 1, 1))
        result[k] = cuda.from_device_like(there, data[k])
        context.pop()

    threads = [threading.Thread(target=run, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(3):
        assert (result[k] == 2 * data[k]).all()


def test_attributes_of_devices() -> None:
    assert cuda.Device.count() >= 1
    device = cuda.Device(0)
    assert device.name()
    assert len(device.compute_capability()) == 2
    assert device.total_memory() > 1 << 20
    raised = {str(attribute): value for attribute, value in device.get_attributes().items()}
    assert raised["MAX_THREADS_PER_BLOCK"] >= 1024
    free, total = cuda.mem_get_info()
    assert 0 < free <= total


@pytest.mark.parametrize("count", [1, 1000])
def test_arrays_of_nothing_that_is_a_number(count: int) -> None:
    there = gpuarray.empty(count, np.float32)
    there.fill(float("nan"))
    assert np.isnan(there.get()).all()
    same = np.isnan((there * gpuarray.ones(count, np.float32)).get())
    assert same.all()


def test_graphs_of_calls() -> None:
    module = SourceModule("__global__ void more(float *x) { x[blockIdx.x * 256 + threadIdx.x]++; }")
    more, n = module.get_function("more"), 1 << 18
    double = ElementwiseKernel("float *x, float *y", "y[i] = 2 * x[i]", "twice")
    x, y, start = gpuarray.zeros(n, np.float32), gpuarray.zeros(n, np.float32), np.float32([7])
    with graph() as captured:
        more(x, block=(256, 1, 1), grid=(n // 256, 1))
        double(x, y)
        total = gpuarray.sum(y)
        cuda.memset_d32(x[:1], int(start.view(np.int32)[0]), 1)
    for k in range(1, 4):  # with memory that nobody else has meanwhile
        captured.launch()
        junk = [gpuarray.zeros(5000, np.float32) for _ in range(50)]
        cuda.Context.synchronize()
        first = 8 if k > 1 else 1
        assert total.get() == 2 * (first + k * (n - 1))
        assert x.get()[:2].tolist() == [7, k]
        assert not any(each.get().any() for each in junk)
    with pytest.raises(cuda.LaunchError, match="pinned_array"), graph():
        cuda.memcpy_htod(x, np.zeros(n, np.float32))
