// a // b: the quotient rounded down, as numpy computes it.
__device__ __forceinline__ float floordiv_f32(float a, float b) {
    if (b == 0) return a / b;
    const float remainder = fmodf(a, b);
    float quotient = (a - remainder) / b;
    if (remainder != 0 && (remainder < 0) != (b < 0)) quotient -= 1;
    if (quotient == 0) return copysignf(0.0f, a / b);
    const float whole = floorf(quotient);
    return quotient - whole > 0.5f ? whole + 1 : whole;
}

// a % b: has the sign of b.
__device__ __forceinline__ float mod_f32(float a, float b) {
    const float remainder = fmodf(a, b);
    if (b == 0) return remainder;
    if (remainder == 0) return copysignf(0.0f, b);
    return (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

extern "C" __global__ void floor_division(const float *a, int a_len, const float *b,
                                          float *quotient, float *remainder_) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a_len) {
        quotient[i] = floordiv_f32(a[i], b[i]) + i % 3;
        remainder_[i] = mod_f32(a[i], b[i]);
    }
}
