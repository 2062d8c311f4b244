"""The documented examples of @kernel, as written there, on every target."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import LaunchError, cuda, float32, int32, kernel
from pycu2c.kernels.kernel import Kernel

grid, block = 4, 128


def on(k: Kernel, target: str) -> Kernel:
    """The same kernel on another backend."""
    return Kernel(
        k.python,
        grid=k.grid,
        block=k.block,
        shared_memory=k.shared_memory,
        signature=k.signature,
        backend=target,
    )


@kernel(grid=(256,), block=(128,))
def vector_add(a, b, out):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = a[i] + b[i]


def test_vector_add(target):
    a, b = np.arange(300, dtype=np.float32), np.ones(300, np.float32)
    out = np.zeros_like(a)
    on(vector_add, target)[3, 128](a, b, out)
    np.testing.assert_array_equal(out, a + b)


def test_vector_add_as_configured():
    a, b = np.arange(32768, dtype=np.float32), np.ones(32768, np.float32)
    out = np.zeros_like(a)
    vector_add(a, b, out)
    np.testing.assert_array_equal(out, a + b)


@kernel
def add_one(arr, out):
    i = cuda.grid(1)
    if i < len(arr):
        out[i] = arr[i] + 1


def test_add_one(target):
    input_arr = np.arange(500, dtype=np.int16)
    output_arr = np.zeros_like(input_arr)
    on(add_one, target)[grid, block](input_arr, output_arr)
    np.testing.assert_array_equal(output_arr, input_arr + 1)


@kernel(grid=(100,), block=(256,))
def process(data, result):
    i = cuda.grid(1)
    if i < len(data):
        result[i] = data[i] ** 2


def test_process(target):
    data = np.linspace(-3, 3, 700, dtype=np.float32)
    result = np.zeros_like(data)
    k = on(process, target)
    if target == "python":
        k[3, 256](data, result)
    else:
        k(data, result)
    np.testing.assert_allclose(result, data**2, rtol=1e-6)


@kernel(block=(256,))
def flexible_kernel(data, out):
    i = cuda.grid(1)
    if i < len(data):
        out[i] = data[i] * 2


def test_flexible(target):
    data = np.arange(1000.0)
    out = np.zeros_like(data)
    k = on(flexible_kernel, target)
    # Grid calculated automatically based on data size
    n = len(data)
    grid = (n + 255) // 256
    k[grid, (256,)](data, out)
    np.testing.assert_array_equal(out, data * 2)
    again = np.zeros_like(data)
    k(data, again)
    np.testing.assert_array_equal(again, out)


@kernel(block=(16, 16))
def matrix_add(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        c[i, j] = a[i, j] + b[i, j]


def test_matrix_add(target):
    height, width = 20, 37
    a = np.arange(height * width, dtype=np.float32).reshape(height, width)
    b = np.ones_like(a)
    c = np.zeros_like(a)
    k = on(matrix_add, target)
    # Calculate 2D grid
    grid_x = (height + 15) // 16
    grid_y = (width + 15) // 16
    k[(grid_x, grid_y), (16, 16)](a, b, c)
    np.testing.assert_array_equal(c, a + b)
    again = np.zeros_like(a)
    k(a, b, again)
    np.testing.assert_array_equal(again, c)


@kernel(block=(256,), shared_memory=256 * 4)  # 256 floats
def reduce_sum(data, out):
    shared = cuda.shared.array(256, dtype=float32)

    i = cuda.grid(1)
    tid = cuda.threadIdx.x

    # Load to shared memory
    if i < len(data):
        shared[tid] = data[i]
    else:
        shared[tid] = 0

    cuda.syncthreads()

    # Reduction in shared memory
    s = 128
    while s > 0:
        if tid < s:
            shared[tid] += shared[tid + s]
        cuda.syncthreads()
        s //= 2

    if tid == 0:
        out[cuda.blockIdx.x] = shared[0]


def test_reduce_sum(target):
    data = np.random.default_rng(1).random(1000, dtype=np.float32)
    out = np.zeros(4, np.float32)
    on(reduce_sum, target)(data, out)
    parts = [data[k : k + 256].sum(dtype=np.float64) for k in range(0, 1000, 256)]
    np.testing.assert_allclose(out, parts, rtol=1e-5)


@kernel(signature=(float32[:], float32[:], int32))
def scale(arr, out, factor):
    i = cuda.grid(1)
    if i < len(arr):
        out[i] = arr[i] * factor


def test_scale(target):
    arr = np.arange(100, dtype=np.float32)
    out = np.zeros(100, np.float32)
    k = on(scale, target)
    k[1, 128](arr, out, 3)
    np.testing.assert_array_equal(out, arr * 3)
    with pytest.raises(LaunchError, match=r"factor.*int32.*1099511627776"):
        k[1, 128](arr, out, 2**40)
    with pytest.raises(LaunchError, match=r"factor.*int32.*2\.5"):
        k[1, 128](arr, out, 2.5)
    with pytest.raises(LaunchError, match="arr"):
        k[1, 128](arr.astype(np.float64), out, 3)


@kernel(backend="cpu")
def cpu_kernel(a, b, out):
    for i in range(len(out)):
        out[i] = a[i] + b[i]


def test_cpu_kernel():
    a, b = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    out = np.zeros_like(a)
    cpu_kernel(a, b, out)
    np.testing.assert_array_equal(out, a + b)


@kernel
def three(out):
    i, j, k = cuda.grid(3)  # Global (x, y, z) index
    if i < out.shape[0] and j < out.shape[1] and k < out.shape[2]:
        out[i, j, k] = i * 100 + j * 10 + k


def test_three_axes(target):
    out = np.zeros((3, 5, 7), np.int32)
    on(three, target)[(2, 3, 4), (2, 2, 2)](out)
    i, j, k = np.indices(out.shape)
    np.testing.assert_array_equal(out, i * 100 + j * 10 + k)


@kernel
def by_hand(out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = i - j


def test_manual_calculation(target):
    out = np.zeros((9, 6), np.int64)
    on(by_hand, target)[(3, 2), (4, 4)](out)
    np.testing.assert_array_equal(out, np.subtract.outer(np.arange(9), np.arange(6)))
