// -1, 0 or 1.
__device__ __forceinline__ int sign_i32(int x) {
    return (int)((x > 0) - (x < 0));
}

// x rounded to decimal digits, ties to even.
__device__ __forceinline__ int round_digits_i32(int x, long long digits) {
    if (digits >= 0) return x;
    if (digits < -19) return 0;
    unsigned long long scale = 1, size = x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x;
    for (; digits < 0; digits++) scale *= 10;
    const unsigned long long rest = size % scale, more = scale - rest;
    size -= rest;
    if (rest > more || (rest == more && (size / scale & 1))) size += scale;
    return (int)(x < 0 ? 0 - size : size);
}

extern "C" __global__ void activations(const int *x, int x_len, int *out, int out_shape1) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < x_len) {
        int value = x[i];
        out[i] = max(value, 0);
        out[out_shape1 + i] = value > 0 ? value : (int)((unsigned int)value * 2);
        out[2 * out_shape1 + i] = min(max(value, -1), 1);
        out[3 * out_shape1 + i] = sign_i32(value);
        int value_1 = (unsigned int)value + 1;
        out[4 * out_shape1 + i] = (unsigned int)value_1 * value_1;
        out[5 * out_shape1 + i] = value;
        out[6 * out_shape1 + i] = round_digits_i32(value, -1);
    }
}
