// The maximum; NaN if an argument is NaN.
__device__ __forceinline__ float maximum_f32(float a, float b) {
    return a >= b || a != a ? a : b;
}

// The minimum; NaN if an argument is NaN.
__device__ __forceinline__ float minimum_f32(float a, float b) {
    return a <= b || a != a ? a : b;
}

// -1, 0 or 1; NaN for NaN.
__device__ __forceinline__ float sign_f32(float x) {
    return x != x ? x : (float)((x > 0) - (x < 0));
}

// x rounded to decimal digits, ties to even, as numpy computes it.
__device__ __forceinline__ float round_digits_f32(float x, long long digits) {
    const long long count = digits < -400 ? 400 : digits < 0 ? -digits : digits;
    double power = 1;
    for (long long i = 0; i < count && i < 400; i++) power *= 10;
    const float scale = (float)power;
    return digits < 0 ? rintf(x / scale) * scale : rintf(x * scale) / scale;
}

extern "C" __global__ void activations(const float *x, int x_len, float *out, int out_shape1) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < x_len) {
        float value = x[i];
        out[i] = maximum_f32(value, 0.0f);
        out[out_shape1 + i] = value > 0.0f ? value : value * 2.0f;
        out[2 * out_shape1 + i] = minimum_f32(maximum_f32(value, -1.0f), 1.0f);
        out[3 * out_shape1 + i] = sign_f32(value);
        float value_1 = value + 1.0f;
        out[4 * out_shape1 + i] = value_1 * value_1;
        out[5 * out_shape1 + i] = (long long)floorf(value);
        out[6 * out_shape1 + i] = round_digits_f32(value, -1);
    }
}
