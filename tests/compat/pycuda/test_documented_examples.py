"""Every code block of the two pages on PyCUDA, with the imports changed. They run on the GPU, or on
the CPU where there is none."""

from __future__ import annotations

from string import Template

import numpy as np
import pytest

import pycu2c.pycuda.autoinit
import pycu2c.pycuda.driver as cuda
from pycu2c.pycuda.compiler import SourceModule

RNG = np.random.default_rng(7)

# ---- "How can Python functions be used within PyCUDA kernels?" ---------------------------------

ADD = """
__global__ void add(float *x, float *y, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = x[i] + y[i];
  }
}
"""
MULTIPLY = """
__global__ void multiply(float *A, float *B, float *C, int widthA, int widthB) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;

  if (row < widthA && col < widthB) {
    float sum = 0;
    for (int k = 0; k < widthA; ++k) {
      sum += A[row * widthA + k] * B[k * widthB + col];
    }
    C[row * widthB + col] = sum;
  }
}
"""
ADD_SHARED = """
__global__ void add_shared(float *x, float *y, float *out, int n) {
  __shared__ float sx[256];
  __shared__ float sy[256];

  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    sx[threadIdx.x] = x[i];
    sy[threadIdx.x] = y[i];
  }
  __syncthreads();

  if (i < n) {
    out[i] = sx[threadIdx.x] + sy[threadIdx.x];
  }
}
"""


def on_device(*arrays: np.ndarray) -> list[cuda.DeviceAllocation]:
    """Memory of the device with copies of arrays."""
    result = [cuda.mem_alloc(array.nbytes) for array in arrays]
    for memory, array in zip(result, arrays):
        cuda.memcpy_htod(memory, array)
    return result


def test_vector_addition() -> None:
    add = SourceModule(ADD).get_function("add")
    n = 1024
    x, y = (RNG.random(n).astype(np.float32) for _ in range(2))
    out = np.zeros(n).astype(np.float32)
    x_gpu, y_gpu, out_gpu = on_device(x, y, out)
    block_size = 256
    grid_size = (n + block_size - 1) // block_size
    add(x_gpu, y_gpu, out_gpu, np.int32(n), block=(block_size, 1, 1), grid=(grid_size, 1))
    cuda.memcpy_dtoh(out, out_gpu)
    assert (out == x + y).all()


def test_matrix_multiplication() -> None:
    multiply = SourceModule(MULTIPLY).get_function("multiply")
    width = 256
    a, b = (RNG.random((width, width)).astype(np.float32) for _ in range(2))
    c = np.zeros((width, width)).astype(np.float32)
    a_gpu, b_gpu, c_gpu = on_device(a, b, c)
    block_size = (16, 16, 1)
    grid_size = ((width + 15) // 16, (width + 15) // 16, 1)
    sizes = np.int32(width), np.int32(width)
    multiply(a_gpu, b_gpu, c_gpu, *sizes, block=block_size, grid=grid_size)
    cuda.memcpy_dtoh(c, c_gpu)
    assert np.allclose(c, a @ b, rtol=1e-4)


def test_shared_memory() -> None:
    add_shared = SourceModule(ADD_SHARED).get_function("add_shared")
    n = 1000
    x, y = (RNG.random(n).astype(np.float32) for _ in range(2))
    out = np.zeros_like(x)
    x_gpu, y_gpu, out_gpu = on_device(x, y, out)
    grid = ((n + 255) // 256, 1)
    add_shared(x_gpu, y_gpu, out_gpu, np.int32(n), block=(256, 1, 1), grid=grid)
    cuda.memcpy_dtoh(out, out_gpu)
    assert (out == x + y).all()


# ---- "Kernel Compilation" ----------------------------------------------------------------------

VECTOR_ADD = """
__global__ void vector_add(float *a, float *b, float *c, int n) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < n) {
        c[idx] = a[idx] + b[idx];
    }
}
"""


@pytest.fixture
def vectors() -> tuple[np.ndarray, ...]:
    a, b = (RNG.random(1000).astype(np.float32) for _ in range(2))
    return a, b, np.zeros_like(a)


def test_basic_kernel_compilation(vectors: tuple[np.ndarray, ...]) -> None:
    a, b, c = vectors
    gpu_a, gpu_b, gpu_c = on_device(*vectors)
    n = a.size
    mod = SourceModule(VECTOR_ADD)
    vector_add = mod.get_function("vector_add")
    grid = ((n + 255) // 256, 1)
    vector_add(gpu_a, gpu_b, gpu_c, np.int32(n), block=(256, 1, 1), grid=grid)
    assert (cuda.from_device_like(gpu_c, c) == a + b).all()


def test_prepared_function(vectors: tuple[np.ndarray, ...]) -> None:
    """The page names no block: there are 256 threads then."""
    a, b, c = vectors
    gpu_a, gpu_b, gpu_c = on_device(*vectors)
    n, grid_size = a.size, (a.size + 255) // 256
    vector_add = SourceModule(VECTOR_ADD).get_function("vector_add")
    prepared_add = vector_add.prepare(["P", "P", "P", "i"])
    for _ in range(100):
        prepared_add.prepared_call((grid_size, 1), gpu_a, gpu_b, gpu_c, np.int32(n))
    assert (cuda.from_device_like(gpu_c, c) == a + b).all()


TEMPLATE = """
#define BLOCK_SIZE ${block_size}
__global__ void process_data(float *data, int n) {
    __shared__ float cache[BLOCK_SIZE];
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < n) {
        cache[threadIdx.x] = data[idx];
        __syncthreads();
        // Process data...
        data[idx] = cache[threadIdx.x] * 2.0f;
    }
}
"""


def test_template(vectors: tuple[np.ndarray, ...]) -> None:
    a, *_ = vectors
    (data,) = on_device(a)
    source = Template(TEMPLATE).substitute(block_size=256)
    process = SourceModule(source).get_function("process_data")
    process(data, np.int32(a.size), block=(256, 1, 1), grid=(4, 1))
    assert (cuda.from_device_like(data, a) == 2 * a).all()


def test_autoinit_has_a_device() -> None:
    assert pycu2c.pycuda.autoinit.device == cuda.Context.get_device()
    assert pycu2c.pycuda.autoinit.context.get_device().name()
