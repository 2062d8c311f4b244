"""The kernels of the tests of libraries from CUDA C: texts, elementwise kernels, reductions."""

from __future__ import annotations

from pycu2c import cupy
from pycu2c.pycuda.compiler import SourceModule

saxpy = cupy.RawKernel(
    r"""
__device__ float scaled(float x, float a) { return a * x; }
extern "C" __global__ void saxpy(const float *x, float *y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += scaled(x[i], a);
}""",
    "saxpy",
)

# its function `scaled` is not that of saxpy; block_sums is split at barriers, scan has fibers
module = cupy.RawModule(
    code=r"""
#ifdef OFFSET
template <typename T> __device__ T scaled(T x, T a) { return a * x + OFFSET; }
#endif
template <typename T, int N>
__global__ void polynomial(const T *__restrict__ x, REAL *y, T a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T value = 0;
    for (int k = 0; k < N; k++) value = scaled(value, x[i]) + a;
    y[i] = value;
}
extern "C" __global__ void block_sums(const double *x, double *sums, long long n) {
    extern __shared__ double s[];
    int t = threadIdx.x;
    long long i = blockIdx.x * (long long)blockDim.x + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}
extern "C" __global__ void scan(int *x, bool fails) {
    volatile int value = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int k = 1; k < 32; k *= 2) {
        int other = __shfl_up_sync(0xffffffff, value, k);
        if (threadIdx.x % 32 >= k) value += other;
    }
    assert(!fails);
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
""",
    options=("-DOFFSET=1", "-DREAL=float"),
    name_expressions=("polynomial<float, 3>",),
)

vectors = SourceModule(
    """
__constant__ float scaled[2] = {2, 3};
__device__ float4 operator/(float4 a, float b) {
    return make_float4(a.x / b, a.y / b, a.z / b, a.w / b);
}
struct alignas(2 * sizeof(float)) Signs {
    __device__ unsigned char operator()(float4 a) const { return a.x < 0; }
};
__global__ void normalize(float4 *v, unsigned char *signs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 a = v[i];
    float length = sqrtf(a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w) * scaled[0];
    v[i] = a / length;
    signs[i] = Signs()(a);
}
"""
)

blend = cupy.ElementwiseKernel(
    "float32 x, float32 y, raw float32 table",
    "float32 z",
    "z = scaled(x, y) + table[i % table.size()]",
    "blend",
    preamble="__device__ float scaled(float x, float a) { return x * a - 1; }",
)
power = cupy.ElementwiseKernel("T x, T a", "T y", "y = pow(x, a)", "power")
norm = cupy.ReductionKernel(
    "float32 x, float32 y", "float32 out", "x * y", "a + b", "out = sqrt(a)", "0", "norm"
)
largest = cupy.ReductionKernel("T x", "T out", "x", "max(a, b)", name="largest")
SIGNATURES = ("power=float64[:], float64, float64[:]", "largest=int32[:], int32[:]")
