"""The examples of CuPy's page on RawKernel and RawModule, with the import changed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda
from pycu2c import cupy as cp
from support.cuda_text import BACKENDS
from support.paths import ROOT

KINDS = {"numpy": np.asarray, "device": cuda.to_device}
RNG = np.random.default_rng(7)

MATRIX_MULTIPLY = r"""
extern "C" __global__
void matrix_multiply(const float* A, const float* B, float* C,
int M, int N, int K) {
int row = blockIdx.y * blockDim.y + threadIdx.y;
int col = blockIdx.x * blockDim.x + threadIdx.x;
if (row < M && col < N) {
float sum = 0.0f;
for (int k = 0; k < K; k++) {
sum += A[row * K + k] * B[k * N + col];
}
C[row * N + col] = sum;
}
}
"""

ACTIVATIONS = r"""
extern "C" {
__device__ float activation_relu(float x) {
return fmaxf(0.0f, x);
}
__device__ float activation_sigmoid(float x) {
return 1.0f / (1.0f + expf(-x));
}
__global__ void apply_activation(const float* input, float* output,
int size, int activation_type) {
int idx = blockIdx.x * blockDim.x + threadIdx.x;
if (idx < size) {
float x = input[idx];
if (activation_type == 0) {
output[idx] = activation_relu(x);
} else if (activation_type == 1) {
output[idx] = activation_sigmoid(x);
}
}
}
__global__ void vector_add(const float* a, const float* b,
float* c, int size) {
int idx = blockIdx.x * blockDim.x + threadIdx.x;
if (idx < size) {
c[idx] = a[idx] + b[idx];
}
}
}
"""

REDUCTION = r"""
extern "C" __global__
void optimized_reduction(const float* input, float* output, int size) {
extern __shared__ float sdata[];
int tid = threadIdx.x;
int i = blockIdx.x * blockDim.x + threadIdx.x;
// Load data into shared memory
sdata[tid] = (i < size) ? input[i] : 0;
__syncthreads();
// Perform reduction in shared memory
for (int s = blockDim.x / 2; s > 0; s >>= 1) {
if (tid < s) {
sdata[tid] += sdata[tid + s];
}
__syncthreads();
}
// Write result for this block to global memory
if (tid == 0) output[blockIdx.x] = sdata[0];
}
"""


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    if request.param == "cpu":
        request.getfixturevalue("without_gpus")
    return str(request.param)


@pytest.fixture(params=KINDS)
def array(request: pytest.FixtureRequest) -> Any:
    return KINDS[request.param]


def numbers(result: Any) -> Any:
    return result if isinstance(result, np.ndarray) else result.copy_to_host()


def test_matrix_multiply(backend: str, array: Any) -> None:
    kernel = cp.RawKernel(MATRIX_MULTIPLY, "matrix_multiply", backend=backend)
    M, N, K = 128, 96, 64
    A, B = RNG.random((M, K), np.float32), RNG.random((K, N), np.float32)
    C = array(np.zeros((M, N), np.float32))
    block_size = (16, 16)
    grid_size = (
        (N + block_size[0] - 1) // block_size[0],
        (M + block_size[1] - 1) // block_size[1],
    )
    kernel(grid_size, block_size, (array(A), array(B), C, M, N, K))
    assert np.allclose(numbers(C), A @ B)


def test_a_module_with_several_kernels(backend: str, array: Any) -> None:
    module = cp.RawModule(code=ACTIVATIONS, backend=backend)
    activation_kernel = module.get_function("apply_activation")
    add_kernel = module.get_function("vector_add")
    data = array(np.array([-2, -1, 0, 1, 2], np.float32))
    output = array(np.zeros(5, np.float32))
    block_size = 256
    grid_size = (len(data) + block_size - 1) // block_size
    activation_kernel((grid_size,), (block_size,), (data, output, data.size, 0))
    assert numbers(output).tolist() == [0, 0, 0, 1, 2]
    activation_kernel((grid_size,), (block_size,), (data, output, data.size, 1))
    assert np.allclose(numbers(output), 1 / (1 + np.exp(-numbers(data))))
    add_kernel((grid_size,), (block_size,), (data, data, output, data.size))
    assert np.array_equal(numbers(output), 2 * numbers(data))


def test_shared_memory(backend: str, array: Any) -> None:
    kernel = cp.RawKernel(REDUCTION, "optimized_reduction", backend=backend)
    source = RNG.random(100_000, np.float32)
    data = array(source)
    block_size = 256
    grid_size = (data.size + block_size - 1) // block_size
    output = array(np.zeros(grid_size, np.float32))
    for _ in range(5):
        kernel((grid_size,), (block_size,), (data, output, data.size), shared_mem=block_size * 4)
    assert np.allclose(numbers(output).sum(), source.sum())


# ---- the table of the page's names ------------------------------------------------------------

ROW = re.compile(r"^\| `([\w.]+)` \| (supported[^|]*) \| (test_\w+\.py) \|$", re.M)


def rows() -> list[tuple[str, str, str]]:
    text = (ROOT / "docs" / "guide" / "cuda_text.md").read_text()
    return ROW.findall(text[text.index("## The names of CuPy's page") :])


def test_the_table_has_every_name() -> None:
    text = (ROOT / "docs" / "guide" / "cuda_text.md").read_text()
    table = text[text.index("## The names of CuPy's page") :]
    assert len(rows()) == table.count("\n| `")
    names = {name for name, _, _ in rows()}
    assert names >= {
        *("ElementwiseKernel", "ReductionKernel", "RawKernel", "RawKernel.__call__", "RawModule"),
        *("RawModule.get_function", "RawModule.get_global_var", "memoize", "clear_memo"),
        *("compile_with_cache", "jit.rawkernel"),
    }


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_a_name_exists_and_is_tested(row: tuple[str, str, str]) -> None:
    name, _, test = row
    result: Any = cp
    for part in name.split("."):
        result = getattr(result, part)
    assert result is not None
    last = name.removesuffix(".__call__").rpartition(".")[2]
    assert last in Path(__file__).with_name(test).read_text()
