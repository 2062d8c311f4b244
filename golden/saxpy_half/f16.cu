#include <cuda_fp16.h>

// a / b, rounded once
__device__ __forceinline__ __half div_f16(__half a, __half b) {
    return __float2half_rn(__half2float(a) / __half2float(b));
}

extern "C" __global__ void saxpy_half(__half a, const __half *x, int x_len, const __half *y,
                                      __half *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < x_len) {
        __half value = __hadd_rn(__hmul_rn(a, x[i]), div_f16(y[i], __float2half_rn(3.0f)));
        out[i] = __half2float(value) < 0.0f ? __hneg(value) : value;
    }
}
