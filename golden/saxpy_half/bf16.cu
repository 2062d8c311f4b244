#include <cuda_bf16.h>

// a * b, rounded once
__device__ __forceinline__ __nv_bfloat16 mul_bf16(__nv_bfloat16 a, __nv_bfloat16 b) {
#if __CUDA_ARCH__ >= 800
    return __hmul_rn(a, b);
#else
    return __float2bfloat16_rn(__bfloat162float(a) * __bfloat162float(b));
#endif
}

// a / b, rounded once
__device__ __forceinline__ __nv_bfloat16 div_bf16(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __float2bfloat16_rn(__bfloat162float(a) / __bfloat162float(b));
}

// a + b, rounded once
__device__ __forceinline__ __nv_bfloat16 add_bf16(__nv_bfloat16 a, __nv_bfloat16 b) {
#if __CUDA_ARCH__ >= 800
    return __hadd_rn(a, b);
#else
    return __float2bfloat16_rn(__bfloat162float(a) + __bfloat162float(b));
#endif
}

// -a
__device__ __forceinline__ __nv_bfloat16 neg_bf16(__nv_bfloat16 a) {
#if __CUDA_ARCH__ >= 800
    return __hneg(a);
#else
    return __float2bfloat16_rn(-__bfloat162float(a));
#endif
}

extern "C" __global__ void saxpy_half(__nv_bfloat16 a, const __nv_bfloat16 *x, int x_len,
                                      const __nv_bfloat16 *y, __nv_bfloat16 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < x_len) {
        __nv_bfloat16 value = add_bf16(mul_bf16(a, x[i]), div_bf16(y[i], __float2bfloat16_rn(3.0f)));
        out[i] = __bfloat162float(value) < 0.0f ? neg_bf16(value) : value;
    }
}
